package torture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

func describe(in input, out output) string {
	var what string
	switch in.kind {
	case storing:
		what = fmt.Sprintf("append batch %d", in.batch)
		if out.base < 0 {
			return what + " → not told"
		}
		return fmt.Sprintf("%s → %d", what, out.base)
	case replicated:
		return fmt.Sprintf("acknowledge up to %d for all", in.offset+1)
	case reading:
		what = fmt.Sprintf("read at %d", in.offset)
	case fetching:
		what = fmt.Sprintf("follower %d reads at %d", in.replica, in.offset)
	case noting:
		return fmt.Sprintf("follower %d has all below %d", in.replica, in.offset)
	case seeking:
		return fmt.Sprintf("first offset from time %d on → %d", in.time, out.base)
	case looking:
		o := out.offsets
		return fmt.Sprintf("offsets → start %d, high watermark %d, log end %d", o.Start, o.HighWatermark, o.LogEnd)
	case trimming:
		return fmt.Sprintf("trim below %d", in.offset)
	case retaining:
		return fmt.Sprintf("retain %d bytes", in.bytes)
	case waiting:
		return fmt.Sprintf("wait for %d", in.offset)
	default:
		return fmt.Sprintf("wait for %d at the log end", in.offset)
	}
	switch {
	case out.outOfRange:
		return what + " → out of range"
	case out.need > 0:
		return fmt.Sprintf("%s in %d bytes → needs %d", what, in.buffer, out.need)
	default:
		return fmt.Sprintf("%s → batches %v", what, out.batches)
	}
}

// listing is a history in the order of its calls.
func (m *partitionModel) listing(history []porcupine.Operation) []byte {
	var text strings.Builder
	fmt.Fprintln(&text, "Calls and returns are numbered in the order in which they happened.")
	for i, b := range m.batches {
		fmt.Fprintf(&text, "batch %d: %d records, %d bytes, timestamps %v, acks %d\n", i, b.count, b.size, b.times, b.acks)
	}
	sorted := slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	for _, o := range sorted {
		end := fmt.Sprint(o.Return)
		if o.Return == never {
			end = "?"
		}
		fmt.Fprintf(&text, "client %d\t%4d–%-4s\t%s\n", o.ClientId, o.Call, end, describe(o.Input.(input), o.Output.(output)))
	}
	return []byte(text.String())
}
