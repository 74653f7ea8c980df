package plots

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browser is a Chromium without a window, driven over a pipe in the DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol/): JSON messages, each ended by a zero byte.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	last    int
	session string
	events  []message // that came so far, since the page was opened
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// startBrowser starts a Chromium, or skips the test where there is none.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium, chromium-browser or google-chrome in PATH: the page is not tried in a browser")
	}
	commandRead, commandWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	replyRead, replyWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // t.Context ends before cleanup
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--host-resolver-rules=MAP * ~NOTFOUND", // the browser itself would ask its maker's servers
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{commandRead, replyWrite} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	commandRead.Close()
	replyWrite.Close()
	b := &browser{t: t, in: commandWrite, out: bufio.NewReader(replyRead)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil)
		io.Copy(io.Discard, b.out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser ended with %v", err)
		}
		cancel()
		commandWrite.Close()
		replyRead.Close()
	})
	return b
}

// call sends a command and waits for its reply, which it decodes into result unless that is nil.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.last++
	encoded, err := json.Marshal(struct {
		ID        int    `json:"id"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
		SessionID string `json:"sessionId,omitempty"`
	}{b.last, method, params, b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(encoded, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.receive()
		if m.ID != b.last {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// receive reads the next message, and keeps it if it is an event.
func (b *browser) receive() message {
	b.t.Helper()
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var m message
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.events = append(b.events, m)
	}
	return m
}

type params map[string]any

// open shows a file in a new tab of a width in pixels, in a colour scheme, and returns its address.
func (b *browser) open(path string, width int, scheme string) string {
	b.t.Helper()
	b.session, b.events = "", nil
	var target struct{ TargetID string }
	b.call("Target.createTarget", params{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setDeviceMetricsOverride", params{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	address := "file://" + path
	b.call("Page.navigate", params{"url": address}, nil)
	for !b.has("Page.loadEventFired") {
		b.receive()
	}
	return address
}

func (b *browser) has(method string) bool {
	for _, e := range b.events {
		if e.Method == method {
			return true
		}
	}
	return false
}

// evaluate decodes the value of a JavaScript expression into result; of a promise, what it is resolved with.
func (b *browser) evaluate(expression string, result any) {
	b.t.Helper()
	var reply struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", params{"expression": expression, "returnByValue": true, "awaitPromise": true}, &reply)
	if e := reply.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if result != nil {
		if err := json.Unmarshal(reply.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %v of %s", expression, err, reply.Result.Value)
		}
	}
}

// press presses and releases a key, as a keyboard does.
func (b *browser) press(key string) {
	b.t.Helper()
	text, code := "", map[string]int{"Tab": 9, "Enter": 13, " ": 32}[key]
	switch key {
	case "Enter":
		text = "\r"
	case " ":
		text = " "
	}
	b.call("Input.dispatchKeyEvent", params{"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code}, nil)
	b.call("Input.dispatchKeyEvent", params{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}, nil)
}

// print prints the page as a PDF document.
func (b *browser) print() []byte {
	b.t.Helper()
	var printed struct{ Data string }
	b.call("Page.printToPDF", params{"preferCSSPageSize": true, "printBackground": true}, &printed)
	document, err := base64.StdEncoding.DecodeString(printed.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return document
}

// complaints are what the page wrote to the console, the exceptions that nobody caught, and what the browser
// blocked or could not load.
func (b *browser) complaints() []string {
	var found []string
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed":
			found = append(found, e.Method+" "+string(e.Params))
		}
	}
	return found
}

// requests are the addresses that the page asked for.
func (b *browser) requests() []string {
	b.t.Helper()
	var addresses []string
	for _, e := range b.events {
		if e.Method != "Network.requestWillBeSent" {
			continue
		}
		var sent struct{ Request struct{ URL string } }
		if err := json.Unmarshal(e.Params, &sent); err != nil {
			b.t.Fatal(err)
		}
		addresses = append(addresses, sent.Request.URL)
	}
	return addresses
}
