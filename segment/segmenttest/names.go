package segmenttest

// rename is one pending change of the directory: a file gets its first name (from is empty), another
// name, or loses its name (to is empty).
type rename struct {
	from, to string
	file     *file
	replaced *file // what had the new name, or nil
	sequence uint64
}

// apply makes the change where the names still stand for the files that they stood for. A new name that
// stands for nothing is free as well.
func (c rename) apply(names map[string]*file) {
	if c.from != "" && names[c.from] != c.file {
		return
	}
	if c.to != "" && names[c.to] != nil && names[c.to] != c.replaced {
		return
	}
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.file
	}
}
