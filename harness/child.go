package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Child is a process that is asked one thing: it reads what as JSON from its standard input, which stays open until it
// is over, and writes an answer to its standard output. A child that sees its input end knows that its parent has
// died (InputEnded).
type Child struct {
	Name    string   // what it is the process of, for errors
	Command []string // to start, with arguments
	Env     []string // beside the environment of this process
	Files   []*os.File
	// Started is called with the process ID before the child is asked anything; an error ends it. It may be nil, and
	// may change what the request points to.
	Started func(process int) error
}

// FailedChild is the error of a child that failed.
type FailedChild struct {
	Name  string
	Cause error  // how it ended
	Said  string // on its standard error: the stacks of a panic, say; at most maxSaid bytes
}

// Error has the first words of what the child said.
func (f *FailedChild) Error() string {
	return fmt.Sprintf("process of %s: %v%s", f.Name, f.Cause, detail(f.Said))
}

// Unwrap returns how the child ended.
func (f *FailedChild) Unwrap() error { return f.Cause }

// maxSaid bounds what is kept of what a child says. The first is what tells why it ended.
const maxSaid = 64 << 10

// beginning keeps the first maxSaid bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxSaid-len(*b))]...)
	return len(p), nil
}

// Ask starts the child and returns its answer. When the context ends, the child and its process group are killed. The
// errors are those of starting it, of Started, and a *FailedChild.
func (c *Child) Ask(ctx context.Context, request any) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	child := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	child.Args[0] = "tailrace" // however the binary was found
	child.Env = append(os.Environ(), c.Env...)
	child.ExtraFiles = c.Files
	// A group of its own keeps the terminal's Ctrl-C away: the parent decides, and kills all of it.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }
	child.WaitDelay = time.Second
	var stdout bytes.Buffer
	var stderr beginning
	child.Stdout, child.Stderr = &stdout, &stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("process of %s: %w", c.Name, err)
	}
	defer stdin.Close() // open until the child is over, which watches it
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("process of %s: %w", c.Name, err)
	}
	if c.Started != nil {
		if err := c.Started(child.Process.Pid); err != nil {
			cancel()
			_ = child.Wait() // it was killed
			return nil, err
		}
	}
	writeErr := json.NewEncoder(stdin).Encode(request)
	if err := cmp.Or(child.Wait(), writeErr); err != nil {
		return nil, &FailedChild{Name: c.Name, Cause: err, Said: string(stderr)}
	}
	return stdout.Bytes(), nil
}

// maxDetail bounds a line of it that stands behind how it ended, in bytes.
const maxDetail = 300

// detail is the first line of what a process said, to stand behind how it ended: the first with a letter, if there is
// one, for the race detector begins with a ruler.
func detail(stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	for l := range strings.Lines(stderr) {
		if strings.ContainsFunc(l, unicode.IsLetter) {
			line = l
			break
		}
	}
	switch line = strings.TrimSpace(line); {
	case line == "":
		return ", without a word"
	case len(line) > maxDetail:
		return ": " + strings.ToValidUTF8(line[:maxDetail], "") + " …"
	}
	return ": " + line
}

// InputEnded returns a channel that is closed when the input ends: for a child, when its parent has died.
func InputEnded(input io.Reader) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, input)
		close(ended)
	}()
	return ended
}
