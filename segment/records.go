package segment

import "encoding/binary"

// Record is one decoded record. Its slices point into the batch.
type Record struct {
	Offset     int64
	Timestamp  int64 // milliseconds since the epoch; that of the append where the batch says so
	Key        []byte
	Value      []byte
	Headers    int    // number of headers
	RawHeaders []byte // their encoding: key length varint, key, value length varint, value, …
}

// Records steps through the records of a batch without allocating:
//
//	for r := batch.Records(); r.Next(); {
//		use(r.Record)
//	}
//
// It is used by one goroutine at a time.
type Records struct {
	Record Record // the current one, after Next has returned true

	rest  []byte
	batch Batch
	left  int32
	err   error
}

// Records starts at the first record. Errors of the header show in Err. Offsets lie within the batch;
// the checksum is not looked at, see CheckCRC.
func (b Batch) Records() Records {
	r := Records{batch: b}
	switch {
	case b.checkFrame() != nil:
		r.err = b.checkFrame()
	case b.Size() > int64(len(b)):
		r.err = invalid("batch is cut off")
	case b.Compressed():
		r.err = ErrCompressed
	default:
		r.rest, r.left = b[HeaderSize:b.Size()], b.RecordCount()
		if r.left < 0 {
			r.err = invalid("negative record count")
		}
	}
	return r
}

// Err is what ended the iteration before the last record: it wraps ErrInvalid, or is ErrCompressed.
func (r *Records) Err() error { return r.err }

// Next decodes the next record; false after the last one and on an error.
func (r *Records) Next() bool {
	if r.err != nil {
		return false
	}
	if r.left == 0 {
		if len(r.rest) > 0 {
			r.err = invalid("bytes after the last record")
		}
		return false
	}
	r.left--
	if !r.decode() {
		r.err = invalid("record is malformed")
		return false
	}
	return true
}

func (r *Records) decode() bool {
	d := decoder{p: r.rest}
	body := decoder{p: d.bytes(d.varint())}
	body.bytes(1) // attributes: unused by the format
	timestamp, offset := body.varint(), body.varint()
	key, value := body.nullable(), body.nullable()
	headers := body.varint()
	raw := body.p
	for range headers {
		if body.bad {
			break
		}
		body.nullable()
		body.nullable()
	}
	if d.bad || body.bad || headers < 0 || len(body.p) > 0 {
		return false
	}
	if offset < 0 || offset > int64(r.batch.LastOffsetDelta()) {
		return false
	}
	r.rest = d.p
	r.Record = Record{
		Offset:     r.batch.BaseOffset() + offset,
		Timestamp:  r.batch.BaseTimestamp() + timestamp,
		Key:        key,
		Value:      value,
		Headers:    int(headers),
		RawHeaders: raw,
	}
	if r.batch.AppendTime() {
		r.Record.Timestamp = r.batch.MaxTimestamp()
	}
	return true
}

// decoder takes fields off a byte slice; once bad, it stays bad and gives zeros.
type decoder struct {
	p   []byte
	bad bool
}

func (d *decoder) varint() int64 {
	if len(d.p) > 0 && d.p[0] < 0x80 { // most of them have one byte
		v := int64(d.p[0]>>1) ^ -int64(d.p[0]&1)
		d.p = d.p[1:]
		return v
	}
	return d.longVarint()
}

func (d *decoder) longVarint() int64 {
	v, n := binary.Varint(d.p)
	if n <= 0 {
		d.bad, d.p = true, nil
		return 0
	}
	d.p = d.p[n:]
	return v
}

func (d *decoder) bytes(n int64) []byte {
	if n < 0 || n > int64(len(d.p)) {
		d.bad, d.p = true, nil
		return nil
	}
	p := d.p[:n:n]
	d.p = d.p[n:]
	return p
}

// skipRecord takes a record, and gives its deltas; false if it is malformed.
func (d *decoder) skipRecord() (timestamp, offset int64, ok bool) {
	size := d.varint32()
	if d.bad || size < 1 || size > int64(len(d.p)) {
		return 0, 0, false
	}
	body := decoder{p: d.p[1:size]} // behind the attributes, which the format does not use
	d.p = d.p[size:]
	timestamp, offset = body.varint(), body.varint32()
	body.skipNullable(-1)
	body.skipNullable(-1)
	headers := body.varint32()
	if headers < 0 {
		return 0, 0, false
	}
	for ; headers > 0 && !body.bad; headers-- {
		body.skipNullable(0) // the key
		body.skipNullable(-1)
	}
	return timestamp, offset, !body.bad && len(body.p) == 0
}

// skipNullable takes a length of at least least, −1 being null, and so many bytes.
func (d *decoder) skipNullable(least int64) {
	switch n := d.varint32(); {
	case n < least || n > int64(len(d.p)):
		d.bad, d.p = true, nil
	case n > 0:
		d.p = d.p[n:]
	}
}

// varint32 takes a number that Kafka's decoders read into 32 bits, from at most five bytes.
func (d *decoder) varint32() int64 {
	before := len(d.p)
	n := d.varint()
	if before-len(d.p) > binary.MaxVarintLen32 || n != int64(int32(n)) {
		d.bad, d.p = true, nil
		return 0
	}
	return n
}

// nullable takes a length and so many bytes; a length of −1 is null.
func (d *decoder) nullable() []byte {
	n := d.varint()
	if n == -1 {
		return nil
	}
	return d.bytes(n)
}
