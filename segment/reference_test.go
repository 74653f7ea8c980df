package segment

import (
	"encoding/binary"
	"math"
)

// The plain implementations that the package is compared with. They use nothing of it.

// referenceCRC is CRC-32C bit by bit (RFC 3720, appendix B.4).
func referenceCRC(p []byte) uint32 {
	crc := ^uint32(0)
	for _, x := range p {
		crc ^= uint32(x)
		for range 8 {
			crc = crc>>1 ^ 0x82F63B78&-(crc&1)
		}
	}
	return ^crc
}

// referenceIndexes derives both index files from the bytes of a log: for every multiple of interval,
// it walks the log from the start to the batch that contains this byte.
func referenceIndexes(log []byte, interval int64) (index, times []byte) {
	for wanted := interval; wanted < int64(len(log)); wanted += interval {
		largest := int64(math.MinInt64)
		for position := int64(0); ; {
			base := int64(binary.BigEndian.Uint64(log[position:]))
			end := position + 12 + int64(binary.BigEndian.Uint32(log[position+8:]))
			largest = max(largest, int64(binary.BigEndian.Uint64(log[position+35:])))
			if wanted < end {
				index = binary.BigEndian.AppendUint64(index, uint64(base))
				index = binary.BigEndian.AppendUint64(index, uint64(position))
				times = binary.BigEndian.AppendUint64(times, uint64(largest))
				times = binary.BigEndian.AppendUint64(times, uint64(base))
				break
			}
			position = end
		}
	}
	return index, times
}
