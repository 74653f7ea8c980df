package segment

import (
	"errors"
	"testing"
)

// Where the recovery point is lost, the mark of a close in order still says what was durable: damage there is
// no reason to cut.
func TestLostPointOfClosedLog(t *testing.T) {
	eachStorage(t, func(t *testing.T, s Storage) {
		p := closedLog(t, s, 51, 40)
		files := snapshot(t, s)
		name := Name(p.sealed[0].Base())
		for _, damaged := range []bool{false, true} {
			for file, content := range files {
				replace(t, s, file, content)
			}
			remove(t, s, pointFile)
			if damaged {
				log := append([]byte{}, files[name]...)
				log[len(log)/2] ^= 0x10
				replace(t, s, name, log)
				// The mark alone would have it that nothing need be read.
				index := fileName(p.sealed[0].Base(), indexSuffix)
				replace(t, s, index, nil)
			}
			opened, err := Open(p.config)
			if damaged {
				if corrupt, ok := errors.AsType[*CorruptError](err); !ok || corrupt.File != name {
					t.Fatalf("Open = %v, want damage in %s", err, name)
				}
				continue
			}
			if err != nil || !opened.Recovery.Clean {
				t.Fatalf("Open = %+v, %v", opened, err)
			}
			if err := opened.Checkpoint.Close(opened.Sealed, opened.Active.Publish(), false); err != nil {
				t.Fatal(err)
			}
		}
	})
}
