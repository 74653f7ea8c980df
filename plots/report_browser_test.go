package plots

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
	"tailrace/results/resultstest"
)

// pointsSweep is a sweep of one workload at many points, with every sign that a table may have, and with
// charts of every kind, which are drawn for the sections alone.
func pointsSweep(t *testing.T, points int) (*results.Sweep, []Chart) {
	t.Helper()
	s := &results.Sweep{Meta: fixtureMeta()}
	s.Meta.Command = []string{"tailrace", "run", "--workers", "1,2,4", "--mix", "produce=25", "--strategies", "core"}
	for point := range points {
		for block := range fixtureBlocks {
			for _, f := range fixtureSpeeds {
				run, _ := fixtureRun(len(s.Runs), block, f.strategy, f.arm, f.speed*float64(1+point))
				run.Cell.Workers = 1 + point
				if f.strategy == "atomics" {
					delete(run.Metrics, results.LatencyMetric(results.KindConsume, "p99"))
				}
				s.Runs = append(s.Runs, *run)
			}
		}
	}
	var charts []Chart
	add := func(kind ChartKind, point results.Cell) {
		const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="453" viewBox="0 0 600 340" role="img" aria-label="lines"><path d="M0,0L600,340" style="stroke:#00457A"/></svg>`
		charts = append(charts, Chart{Title: string(kind), Caption: "Caption of " + string(kind) + ".", Workload: point.Workload, Point: point, Kind: kind, SVG: []byte(svg)})
	}
	for _, section := range s.Sections() {
		for _, kind := range []ChartKind{KindMetric, KindFront, KindSteps, KindLatency, KindHistogram, KindTime} {
			add(kind, section.Point)
		}
	}
	add(KindEffects, results.Cell{})
	return s, charts
}

func writePage(t *testing.T, s *results.Sweep, charts []Chart) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := WriteReport(s, charts, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBrowserShowsTheReport(t *testing.T) {
	long(t)
	t.Parallel()
	b := startBrowser(t)
	few, fewCharts := pointsSweep(t, 1)
	many, manyCharts := pointsSweep(t, 13)
	single, folded := writePage(t, few, fewCharts), writePage(t, many, manyCharts)
	few.Dir = claimsDir(t)
	tried := writePage(t, few, fewCharts)
	// in runs a part with what it opens reported as its own.
	in := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			before := b.t
			b.t = t
			defer func() { b.t = before }()
			test(t)
			for _, complaint := range b.complaints() {
				t.Error(complaint)
			}
		})
	}
	in("loads nothing", func(t *testing.T) {
		address := b.open(single, 1280, "light")
		if got := b.requests(); !slices.Equal(got, []string{address}) {
			t.Errorf("the page asked for %q", got)
		}
		var buttons int
		b.evaluate(`document.querySelectorAll("th .sort").length`, &buttons)
		if buttons == 0 {
			t.Error("the script of the page did not run")
		}
	})
	in("sorts", func(t *testing.T) { b.open(single, 1280, "light"); testSorting(t, b) })
	in("keyboard", func(t *testing.T) { b.open(single, 360, "light"); testKeyboard(t, b) })
	in("copies", func(t *testing.T) { b.open(single, 1280, "light"); testCopying(t, b) })
	in("links open", func(t *testing.T) { b.open(folded, 1280, "light"); testLinks(t, b) })
	for _, width := range []int{360, 1280} {
		for name, page := range map[string]string{"one point": single, "many points": folded, "claims": tried} {
			in(fmt.Sprintf("fits %s into %d", name, width), func(t *testing.T) { b.open(page, width, "light"); testWidth(t, b, width) })
		}
	}
	in("opens claims", func(t *testing.T) { b.open(tried, 1280, "light"); testClaims(t, b) })
	in("schemes", func(t *testing.T) { testSchemes(t, b, single) })
	in("prints", func(t *testing.T) { b.open(folded, 1280, "dark"); testPrinting(t, b) })
	in("fits onto paper", func(t *testing.T) { b.open(widePage(t), paperWidth, "light"); testPaper(t, b) })
	// The control: a page that does ask for something, and that complains, has to be noticed.
	b.open(meddled(t, single), 1280, "light")
	var got struct {
		Images int
		Title  string
	}
	b.evaluate(`new Promise((done) => setTimeout(() => done({images: document.images.length, title: document.title}), 100))`, &got)
	if got.Images != 1 || got.Title == "taken" || len(b.complaints()) < 2 {
		t.Errorf("a page that does what it may not: %+v, complaints %q", got, b.complaints())
	}
}

// meddled is the page with an image from elsewhere, and with a script that is not its own.
func meddled(t *testing.T, page string) string {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.Replace(content, []byte("</body>"), []byte(`<img src="http://example.invalid/x.png" alt=""/><script>document.title = "taken"</script></body>`), 1)
	path := filepath.Join(t.TempDir(), "meddled.html")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The table with the most signs: consume latencies, of which one strategy has no p99.
const consumeTable = `const table = Array.from(document.querySelectorAll("table")).find((t) => t.caption.textContent.startsWith("consume"));
const column = (head) => Array.from(table.tHead.rows[0].cells).findIndex((c) => c.textContent === head);
const shown = (head) => Array.from(table.tBodies[0].rows, (r) => r.cells[column(head)].textContent);
const state = (head) => table.tHead.rows[0].cells[column(head)].getAttribute("aria-sort") || "none";
const button = (head) => table.tHead.rows[0].cells[column(head)].querySelector("button");
`

func testSorting(t *testing.T, b *browser) {
	b.evaluate(consumeTable+`globalThis.look = (head) => ({state: state(head), other: state("strategy"), cells: shown(head), labels: shown("strategy")}); globalThis.button = button; 0`, nil)
	type view struct {
		State, Other  string
		Cells, Labels []string
	}
	var first, now view
	b.evaluate(`look("p99")`, &first)
	values := func(cells []string) (sorted []float64, absent int) {
		for i, text := range cells {
			value, ok := sortValue(text)
			if !ok {
				if absent++; i != len(cells)-1 {
					t.Errorf("%q stands before numbers in %q", text, cells)
				}
				continue
			}
			sorted = append(sorted, value)
		}
		return sorted, absent
	}
	for _, step := range []struct{ key, state string }{{"Enter", "ascending"}, {" ", "descending"}, {"Enter", "none"}} {
		b.evaluate(`button("p99").focus()`, nil)
		b.press(step.key)
		b.evaluate(`look("p99")`, &now)
		if now.State != step.state {
			t.Fatalf("after %q the column is %q, want %q", step.key, now.State, step.state)
		}
		if step.state == "none" {
			if !slices.Equal(now.Labels, first.Labels) {
				t.Errorf("in the end %q, at first %q", now.Labels, first.Labels)
			}
			continue
		}
		numbers, absent := values(now.Cells)
		if step.state == "descending" {
			slices.Reverse(numbers)
		}
		if absent != 1 || !slices.IsSorted(numbers) {
			t.Errorf("%s: %q", step.state, now.Cells)
		}
	}
	b.evaluate(`button("p99").click()`, nil)
	b.evaluate(`button("strategy").click()`, nil)
	b.evaluate(`look("p99")`, &now)
	if now.State != "none" || now.Other != "ascending" || now.Labels[0] != "A/A" || !slices.IsSorted(now.Labels[1:]) {
		t.Errorf("sorted by strategy: %+v", now)
	}
}

// By Tab alone one reaches the skip link, then every link, button and region that scrolls, each with a visible
// focus.
func testKeyboard(t *testing.T, b *browser) {
	type focus struct {
		What, Style string
		Same        bool
	}
	reached := make(map[string]int)
	b.evaluate(`globalThis.before = null; document.activeElement.blur()`, nil)
	for range 400 {
		b.press("Tab")
		var at focus
		b.evaluate(`(() => { const e = document.activeElement; const same = e === document.body; return {what: e.matches("a.skip") ? "skip" : e.matches(".scroll, .sheet") ? "region" : e.tagName, style: getComputedStyle(e).outlineStyle, same}; })()`, &at)
		if at.Same {
			break
		}
		if at.Style == "none" {
			t.Errorf("no visible focus on a %s", at.What)
		}
		if len(reached) == 0 && at.What != "skip" {
			t.Errorf("the first stop is a %s, not the skip link", at.What)
		}
		reached[at.What]++
	}
	for _, what := range []string{"skip", "A", "BUTTON", "SUMMARY", "region"} {
		if reached[what] == 0 {
			t.Errorf("no %s was reached by Tab: %v", what, reached)
		}
	}
	b.evaluate(`document.querySelector("details.more > summary").focus()`, nil)
	b.press("Enter")
	var opened bool
	b.evaluate(`document.querySelector("details.more").open`, &opened)
	if !opened {
		t.Error("Enter does not open what is closed")
	}
	var unreachable []string
	b.evaluate(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(
		Array.from(document.querySelectorAll(".scroll, .sheet")).filter((e) => e.checkVisibility() && (e.scrollWidth > e.clientWidth) !== (e.tabIndex === 0)).map((e) => e.getAttribute("aria-label"))), 0)))`, &unreachable)
	if len(unreachable) > 0 {
		t.Errorf("regions that scroll and can't be focused, or the other way round: %q", unreachable)
	}
}

func testCopying(t *testing.T, b *browser) {
	const command = "tailrace run --workers 1,2,4 --mix produce=25 --strategies core"
	const click = `document.querySelector(".copy").click(); new Promise((done) => setTimeout(() => done({buttons: document.querySelectorAll(".copy").length,
		label: document.querySelector(".copy").textContent, selected: String(getSelection()), copied: globalThis.copied || ""}), 0))`
	type outcome struct {
		Buttons                 int
		Label, Selected, Copied string
	}
	var without, with outcome
	b.evaluate(`Object.defineProperty(navigator, "clipboard", {value: undefined, configurable: true}); `+click, &without)
	if without.Buttons != 2 || !strings.HasPrefix(without.Label, "Selected") || without.Selected != command {
		t.Errorf("without a clipboard: %+v", without)
	}
	b.evaluate(`Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { globalThis.copied = text; }}}); `+click, &with)
	if with.Label != "Copied" || with.Copied != command {
		t.Errorf("with a clipboard: %+v", with)
	}
}

func testLinks(t *testing.T, b *browser) {
	var got struct{ WasClosed, Open, Seen bool }
	b.evaluate(`(() => { const d = document.getElementById("workload-1-point-7"); globalThis.wasClosed = !d.open; document.querySelector("nav a[href='#workload-1-point-7']").click(); })()`, nil)
	b.evaluate(`new Promise((done) => setTimeout(() => { const d = document.getElementById("workload-1-point-7"); const top = d.getBoundingClientRect().top;
		done({wasClosed, open: d.open, seen: top >= -1 && top < innerHeight}); }, 50))`, &got)
	if !got.WasClosed || !got.Open || !got.Seen {
		t.Errorf("a link to a closed point: %+v", got)
	}
}

// A click on a claim in the table opens what its verdict rests on; the table can be sorted by verdict.
func testClaims(t *testing.T, b *browser) {
	var got struct {
		WasClosed, Open, Chart bool
		Verdicts               []string
	}
	b.evaluate(`(() => { const d = document.getElementById("claim-2"); globalThis.wasClosed = !d.open; document.querySelector("#claims table a[href='#claim-2']").click(); })()`, nil)
	b.evaluate(`new Promise((done) => setTimeout(() => { const d = document.getElementById("claim-2"); const table = document.querySelector("#claims table");
		table.tHead.rows[0].cells[1].querySelector("button").click();
		done({wasClosed, open: d.open, chart: d.querySelector("svg").getBoundingClientRect().width > 300, verdicts: Array.from(table.tBodies[0].rows, (r) => r.cells[1].textContent)}); }, 50))`, &got)
	if !got.WasClosed || !got.Open || !got.Chart || len(got.Verdicts) != len(resultstest.Claims().Claims) || !slices.IsSorted(got.Verdicts) {
		t.Errorf("the chapter on claims: %+v", got)
	}
}

func testWidth(t *testing.T, b *browser, width int) {
	var got struct {
		Page, Window int
		Beyond       []string
	}
	b.evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; });
		({page: document.documentElement.scrollWidth, window: innerWidth, beyond: Array.from(document.querySelectorAll("body *")).filter((e) => !e.closest(".scroll *, .sheet *, .skip") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + " " + e.textContent.slice(0, 60))})`, &got)
	if got.Window != width || got.Page > width || len(got.Beyond) > 0 {
		t.Errorf("%d px: the page is %d wide in a window of %d; beyond it %q", width, got.Page, got.Window, got.Beyond)
	}
}

func testSchemes(t *testing.T, b *browser, page string) {
	type look struct{ Paper, Ink, Filter string }
	want := map[string]look{
		"light": {"rgb(251, 251, 249)", "rgb(28, 28, 28)", "none"},
		"dark":  {"rgb(20, 21, 22)", "rgb(232, 230, 225)", "invert(0.9) hue-rotate(180deg) brightness(1.2)"},
	}
	for scheme, want := range want {
		b.open(page, 1280, scheme)
		var got look
		b.evaluate(`(() => { const s = getComputedStyle(document.body); return {paper: s.backgroundColor, ink: s.color, filter: getComputedStyle(document.querySelector(".sheet svg")).filter}; })()`, &got)
		if got != want {
			t.Errorf("%s: %+v, want %+v", scheme, got, want)
		}
	}
}

func testPrinting(t *testing.T, b *browser) {
	b.evaluate(`addEventListener("beforeprint", () => { globalThis.printed = {opened: document.querySelectorAll("#health details[open]").length, points: document.querySelectorAll("details.point[open]").length}; }); 0`, nil)
	document := b.print()
	pages := bytes.Count(document, []byte("/Type /Page\n"))
	if !bytes.HasPrefix(document, []byte("%PDF-")) || pages < 2 || pages > 12 {
		t.Errorf("%d pages in a document of %d bytes", pages, len(document))
	}
	var after int
	b.evaluate(`document.querySelectorAll("main details[open]").length`, &after)
	if after != 0 {
		t.Errorf("%d details are open after printing", after)
	}
	b.call("Emulation.setEmulatedMedia", params{"media": "print"}, nil)
	var got struct{ Nav, Buttons string }
	b.evaluate(`({nav: getComputedStyle(document.querySelector("nav")).display, buttons: getComputedStyle(document.querySelector(".copy")).display})`, &got)
	if got.Nav != "none" || got.Buttons != "none" {
		t.Errorf("on paper: %+v", got)
	}
}

// paperWidth is what is between the margins of A4, in pixels of 1/96 inch.
const paperWidth = 695

// widePage has tables with a column for each of twelve strategies, and one with all that a harness may tell.
func widePage(t *testing.T) string {
	t.Helper()
	s := inMemory(13, func(run *results.Run) {
		run.Metrics[results.MetricProduceOps] = run.Metrics[results.MetricOps] / 10
		run.Verification.SecondsPerRead = 1e-7
		run.Inside = map[string]float64{results.InsideWorker: 0.9}
		run.PerWorkerJain = map[string]float64{results.KindProduce: 0.97, results.KindConsume: 0.98}
		run.Runtime = results.Runtime{VoluntarySwitches: 12_345, InvoluntarySwitches: 345, SchedulerP99: 1e-4, GCCycles: 3, MutexWait: 0.1}
	})
	s.Meta.Planned = nil
	for _, c := range s.Cells() {
		if c.Cell.Arm == "" && c.Cell.Strategy != "mutex" {
			s.Meta.Planned = append(s.Meta.Planned, results.Comparison{Workload: "mix", Strategy: c.Cell.Strategy, Baseline: "mutex", Metric: results.MetricOps})
		}
	}
	return writePage(t, s, nil)
}

// On paper nothing scrolls: every table has to fit.
func testPaper(t *testing.T, b *browser) {
	b.call("Emulation.setEmulatedMedia", params{"media": "print"}, nil)
	var got struct {
		Tables int
		Beyond []string
	}
	b.evaluate(`dispatchEvent(new Event("beforeprint")); const tables = Array.from(document.querySelectorAll("table"));
		({tables: tables.filter((e) => e.checkVisibility()).length, beyond: tables.filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.caption.textContent + " " + e.getBoundingClientRect().right)})`, &got)
	if got.Tables < 6 || len(got.Beyond) > 0 {
		t.Errorf("of %d tables, these are cut off: %q", got.Tables, got.Beyond)
	}
}
