package plots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tailrace/results"
)

// The page holds whole chapters, trends before effects before points, up to a size; so much is kept in memory.
func TestAlbumKeepsWhatThePageHolds(t *testing.T) {
	const most = mostInline
	for _, test := range []struct {
		trends, effects, points int // bytes of each of four charts
		want                    [3]bool
	}{
		{most / 16, most / 16, most / 16, [3]bool{true, true, true}},
		{most / 4, most / 4, 0, [3]bool{true, false, true}},
		{most / 8, most/8 + 1, most / 8, [3]bool{true, false, true}},
		{most/4 + 1, most / 16, most / 8, [3]bool{false, true, true}},
		{most / 16, most / 16, most, [3]bool{true, true, false}},
		{most, most, most, [3]bool{false, false, false}},
	} {
		var a album
		for range 4 {
			for kind, size := range map[ChartKind]int{KindTrend: test.trends, KindEffects: test.effects, KindTime: test.points} {
				a.add(Chart{Kind: kind, SVG: make([]byte, size)})
			}
			kept := [3]int{}
			for _, c := range a.charts {
				kept[chapterOf(c.Kind)] += len(c.SVG)
			}
			if slices.Max(kept[:]) > most {
				t.Fatalf("%+v: %d bytes are kept of a chapter", test, slices.Max(kept[:]))
			}
		}
		got := [3]int{}
		for _, c := range a.fitting(most) {
			if c.SVG != nil {
				got[chapterOf(c.Kind)]++
			}
		}
		for chapter, whole := range test.want {
			if want := map[bool]int{true: 4, false: 0}[whole]; got[chapter] != want {
				t.Errorf("%+v: %d charts of chapter %d are in the page, want %d", test, got[chapter], chapter, want)
			}
		}
	}
}

// Charts that the page has no room for are links to their files, and the page says so.
func TestPageLinksToChartsItHasNoRoomFor(t *testing.T) {
	t.Parallel()
	s, charts := pointsSweep(t, 2)
	for i := range charts {
		charts[i].Name, charts[i].Title = fmt.Sprintf("mix-%d", i), fmt.Sprintf("mix (workers 1): number %d", i)
		if charts[i].Kind != KindEffects {
			charts[i].SVG = nil
		}
	}
	page := writeCharts(t, s, charts)
	var links []string
	drawn := 0
	elements(t, page, func(name string, attributes map[string]string) {
		if name == "svg" {
			drawn++
		}
		if href := attributes["href"]; strings.HasPrefix(href, "charts/") {
			links = append(links, href)
		}
	})
	if drawn != 1 || len(links) != len(charts)-1 || links[0] != "charts/mix-0.svg" {
		t.Errorf("%d charts in the page and links %q, want 1 chart and %d links", drawn, links, len(charts)-1)
	}
	seen := readable(t, page)
	for _, want := range []string{"The charts of points are too many for one page: it links to them in charts/, beside it.", "Charts: number 0 · number 1"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Of very many points the page has the first table each.
func TestPageOfVeryManyPointsIsBrief(t *testing.T) {
	t.Parallel()
	const rows = 100
	table := func(title string) results.Table {
		texts := slices.Repeat([]string{"1"}, rows)
		return results.Table{Title: title, Labels: texts, Columns: []results.Column{{Head: "op/s", Cells: texts}}}
	}
	const most = mostTableCells / (2 * rows)
	for _, points := range []int{most, most + 1} {
		summary := &results.Summary{}
		for workers := range points {
			summary.Sections = append(summary.Sections, results.Section{
				Workload: results.Workload{Name: "mix"}, Point: results.Cell{Workers: workers}, Tables: []results.Table{table(""), table("produce")},
			})
		}
		brief, said := points > most, elsewhere(summary, nil)
		if want := fmt.Sprintf("The sweep has %d points: ", points); brief != (len(said) == 1 && strings.HasPrefix(said[0], want)) {
			t.Errorf("%d points: the page says %q", points, said)
		}
		for _, p := range reportWorkloads(summary, nil)[0].Points {
			if len(p.Comparison) != 1 || brief != (len(p.Roles) == 0) {
				t.Fatalf("of %d points, one has %d and %d tables", points, len(p.Comparison), len(p.Roles))
			}
		}
	}
}

// Of many points, charts of points are not drawn as images, and no older image stays beside a new chart.
func TestManyPointsHaveNoImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, points := range []int{mostImages, mostImages + 1} {
		s := &results.Sweep{Meta: fixtureMeta()}
		for workers := range points {
			run, _ := fixtureRun(workers, 0, "mutex", "", 1)
			run.Cell.Workers = 1 + workers
			s.Runs = append(s.Runs, *run)
		}
		chart, err := throughputChart(&panels(s)[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := chart.write(dir); err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(dir, chart.Name+".png"))
		if missing := errors.Is(err, fs.ErrNotExist); missing != (points > mostImages) || missing != (chart.PNG == nil) {
			t.Errorf("%d points: there is no image: %v (%d bytes were drawn)", points, missing, len(chart.PNG))
		}
	}
}
