package workload

// checkBacklog holds a sustained run to what it needs: somebody who writes, and somebody who follows, so
// that what was read can be trimmed.
func (w *Workload) checkBacklog() *FieldError {
	backlog := FormatSize(w.Backlog)
	switch least := float64(BatchBytes(w)) * float64(w.Producers); {
	case w.Backlog < 0:
		return fieldError("--backlog", backlog, "less than 0 bytes")
	case w.Backlog == 0:
		return nil
	case w.Producers == 0 || w.Consumers == 0:
		return fieldError("--backlog", backlog, "a sustained run needs who appends and who reads it all; give --producers and --consumers")
	case w.Pattern != Tail:
		return fieldError("--backlog", backlog, "what is read is trimmed, and --pattern %s would read it again; give --pattern %s", w.Pattern, Tail)
	case float64(w.Backlog) < least:
		return fieldError("--backlog", backlog, "has no room for a batch of each producer, %s bytes; raise it", formatNumber(least))
	}
	return nil
}

// checkDrain holds a run that drains a backlog to what it needs.
func (w *Workload) checkDrain() *FieldError {
	share := formatNumber(w.DrainRatio)
	switch {
	case !(w.DrainRatio >= 0 && w.DrainRatio <= 1): // NaN too
		return fieldError("--drain", share, "outside 0 to 1; it is the share of the backlog that is to be read")
	case w.DrainRatio == 0:
		return nil
	case w.Consumers == 0:
		return fieldError("--drain", share, "nobody reads the backlog; give --consumers")
	case w.Pattern != Tail:
		return fieldError("--drain", share, "who drains a backlog reads it once, to the end; give --pattern %s", Tail)
	case w.Prefill == 0:
		return fieldError("--drain", share, "there is no backlog; give --prefill, which is what is drained")
	case w.Backlog > 0:
		return fieldError("--drain", share, "excludes --backlog %s, which holds producers while so much is unread; give either", FormatSize(w.Backlog))
	case w.Search:
		return fieldError("--drain", share, "excludes --find-max-rate; give either")
	case w.DrainRatio*float64(w.Prefill) < float64(BatchBytes(w))*float64(w.Partitions):
		return fieldError("--drain", share, "less than one batch of each log in a backlog of %s; raise it, or --prefill", FormatSize(w.Prefill))
	}
	return nil
}

// checkSearch holds a search for the highest rate to what it needs.
func (w *Workload) checkSearch() *FieldError {
	flag, value := "--find-max-rate", "true"
	if len(w.Objectives) > 0 {
		flag, value = "--slo", w.Objectives[0].String()
	}
	switch {
	case !w.Search:
		return nil
	case w.Producers == 0:
		return fieldError(flag, value, "it is the rate of the producers that is sought; give --producers")
	case w.ProduceRate > 0:
		return fieldError(flag, value, "--produce-rate %s/s is a rate already; leave out either", formatNumber(w.ProduceRate))
	}
	return nil
}

func (w *Workload) checkObjectives() *FieldError {
	for _, o := range w.Objectives {
		text := o.String()
		parsed, err := ParseObjective(text)
		switch {
		case err != nil || parsed != o:
			return fieldError("--slo", text, "not an objective; give one as in produce p99 < 2ms")
		case !w.Search:
			return fieldError("--slo", text, "only a search for the highest rate is held to it; give --find-max-rate")
		case o.Kind == KindConsume && w.Consumers == 0:
			return fieldError("--slo", text, "nobody reads; give --consumers")
		case o.Kind == KindEndToEnd && (w.Consumers == 0 || w.Pattern != Tail):
			return fieldError("--slo", text, "end to end is measured by consumers that follow the end; give --consumers, and --pattern %s", Tail)
		}
	}
	return nil
}

// checkReads holds buffers and prefill to what readers need.
func (w *Workload) checkReads() *FieldError {
	fetch := FormatSize(int64(w.FetchBytes))
	needed := float64(BatchBytes(w)) * float64(w.Partitions)
	switch {
	case w.FetchBytes < 1:
		return fieldError("--fetch-bytes", fetch, "a reader needs a buffer")
	case w.FetchBytes > MaxSegmentSize:
		return fieldError("--fetch-bytes", fetch, "more than the %d bytes of the largest segment, of which a read returns a piece", MaxSegmentSize)
	case w.readers() == 0:
		return nil
	case w.FetchBytes < BatchBytes(w):
		return fieldError("--fetch-bytes", fetch, "too small for one batch of %d bytes; raise it, or lower --record-size or --batch-records",
			BatchBytes(w))
	case w.Pattern != Tail && float64(w.Prefill) < needed:
		return fieldError("--prefill", FormatSize(w.Prefill),
			"--pattern %s reads what was written before the run; give at least one batch a partition, %s bytes", w.Pattern, formatNumber(needed))
	case w.DrainRatio > 0 && w.Prefill > 0 && float64(w.Prefill) < needed:
		return fieldError("--prefill", FormatSize(w.Prefill),
			"is the backlog to be drained; give at least one batch a partition, %s bytes", formatNumber(needed))
	}
	return nil
}

func (w *Workload) checkBytes() *FieldError {
	prefill := FormatSize(w.Prefill)
	switch appends := float64(BatchBytes(w)) * float64(w.appenders()); {
	case w.Prefill < 0:
		return fieldError("--prefill", prefill, "less than 0 bytes")
	case w.MaxBytes < 1:
		return fieldError("--max-bytes", FormatSize(w.MaxBytes), "a run needs a bound on what it may write")
	case w.Prefill > w.MaxBytes:
		return fieldError("--prefill", prefill, "more than the %s that a run may write; lower it, or raise --max-bytes", FormatSize(w.MaxBytes))
	case appends > float64(w.MaxBytes-w.Prefill) && w.Prefill == 0:
		return fieldError("--max-bytes", FormatSize(w.MaxBytes), "less than one batch for each producer, %s bytes; raise it, or lower --producers or --record-size", formatNumber(appends))
	case appends > float64(w.MaxBytes-w.Prefill):
		return fieldError("--prefill", prefill, "leaves less than one batch for each producer of the %s that a run may write; lower it, or raise --max-bytes", FormatSize(w.MaxBytes))
	}
	return nil
}
