package segment

import (
	"encoding/binary"
	"testing"
)

// Kafka's decoders read lengths, offset deltas and counts from at most five bytes into 32 bits, and header keys are
// not null: a batch that they refuse is not stored.
func TestCheckRefusesWhatKafkaDoes(t *testing.T) {
	var (
		null     = []byte{1}
		overlong = func(n int64) []byte { // n in six bytes
			p := binary.AppendVarint(nil, n)
			for len(p) < 6 {
				p[len(p)-1] |= 0x80
				p = append(p, 0)
			}
			return p
		}
		short = func(n int64) []byte { return binary.AppendVarint(nil, n) }
	)
	recordOf := func(offset, key, value, headers []byte) Batch {
		body := append([]byte{0, 0}, offset...)
		body = append(append(append(body, key...), value...), headers...)
		records := append(short(int64(len(body))), body...)
		b := append(build(record{timestamp: 1})[:HeaderSize:HeaderSize], records...)
		binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-lengthOverhead))
		binary.BigEndian.PutUint32(b[atCRC:], b.checksum())
		return b
	}
	for _, test := range []struct {
		name  string
		batch Batch
		good  bool
	}{
		{"plain", recordOf(short(0), null, null, short(0)), true},
		{"a header", recordOf(short(0), null, null, append(short(1), 2, 'k', 1)), true},
		{"overlong offset delta", recordOf(overlong(0), null, null, short(0)), false},
		{"overlong key length", recordOf(short(0), overlong(-1), null, short(0)), false},
		{"overlong value length", recordOf(short(0), null, overlong(-1), short(0)), false},
		{"overlong header count", recordOf(short(0), null, null, overlong(0)), false},
		{"null header key", recordOf(short(0), null, null, append(short(1), 1, 1)), false},
		{"length below null", recordOf(short(0), null, short(-2), short(0)), false},
		{"length beyond 32 bits", recordOf(short(0), null, short(1<<32), short(0)), false},
	} {
		if err := test.batch.Check(); (err == nil) != test.good {
			t.Errorf("%s: Check = %v", test.name, err)
		}
	}
}
