package harness

import (
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"tailrace/workload"
)

// falseSharing is the size of the blocks of memory that processors hand to each other: two cache lines, since
// one is fetched along with the other.
const falseSharing = 128

// written collects the blocks that one worker writes for every operation, and what lies in them.
type written map[uintptr]string

func (w written) add(what string, at unsafe.Pointer, size uintptr) {
	if size == 0 {
		return
	}
	for block := uintptr(at) / falseSharing; block <= (uintptr(at)+size-1)/falseSharing; block++ {
		w[block] = what
	}
}

// addStruct adds the fields of what v points to, except its padding.
func (w written) addStruct(what string, v any) {
	pointer := reflect.ValueOf(v)
	if pointer.IsNil() {
		return
	}
	at, kind := pointer.UnsafePointer(), pointer.Type().Elem()
	for i := range kind.NumField() {
		if field := kind.Field(i); field.Name != "_" {
			w.add(what+"."+field.Name, unsafe.Add(at, field.Offset), field.Type.Size())
		}
	}
}

// addSlice adds what a slice holds; capacity beyond that is padding.
func addSlice[T any](w written, what string, s []T) {
	w.add(what, unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(*new(T)))
}

// blocksOf are what a worker writes in its loop, without what belongs to the strategy.
func blocksOf(worker *worker) written {
	w := written{}
	w.addStruct("worker", worker)
	w.addStruct("draw", worker.draw)
	addSlice(w, "buffer", worker.buf)
	addSlice(w, "batch", worker.build(worker.clients[0], 0, 0))
	for _, c := range worker.clients {
		w.addStruct("client", c)
		if c.checker != nil {
			w.addStruct("checker", c.checker)
			addSlice(w, "sequences", c.checker.sequences)
		}
		if c.consumed != nil {
			w.add("consumed", unsafe.Pointer(&c.consumed.Int64), unsafe.Sizeof(c.consumed.Int64))
		}
	}
	w.addStruct("part", worker.part)
	for kind, t := range worker.part.tallies() {
		if t != nil {
			w.addStruct(kind, t)
			addSlice(w, kind+" counts", t.counts)
		}
	}
	return w
}

// TestWorkersShareNoCacheLine lays out what the workers of a run write for every operation, with the parts that
// they begin with and with those that they go on with.
func TestWorkersShareNoCacheLine(t *testing.T) {
	mix := tinyMix()
	mix.Workers = 5
	many := tinyTail()
	many.Producers, many.Partitions, many.ProduceRate = 20, 3, 4000
	many.Consumers = 6
	sustainedLoad := sustained()
	sustainedLoad.Producers = 3
	replicatedLoad := replicated(3, 2, workload.AcksAll, workload.Tail)
	for name, load := range map[string]workload.Workload{
		"mix": mix, "roles": shapes()[4], "many": many, "sustained": sustainedLoad, "replicated": replicatedLoad,
	} {
		t.Run(name, func(t *testing.T) {
			load.Duration = time.Second
			r, workers := collecting(t, load)
			r.placeReaders(workers)
			for turn := range 3 {
				owner := map[uintptr]int{}
				inBlock := map[uintptr]string{}
				told := map[string]bool{}
				for i, worker := range workers {
					for block, what := range blocksOf(worker) {
						other, taken := owner[block]
						if pair := fmt.Sprint(inBlock[block], what); taken && other != i && !told[pair] {
							told[pair] = true
							t.Errorf("turn %d: worker %d writes %s beside %s of worker %d", turn, i, what, inBlock[block], other)
						}
						owner[block], inBlock[block] = i, what
					}
				}
				for _, worker := range workers[:load.Workers+load.Producers+r.consumers] { // followers have no parts
					worker.part.consume.empty++
					worker.handOver()
				}
			}
		})
	}
}
