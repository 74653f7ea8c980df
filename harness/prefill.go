package harness

import (
	"context"

	"tailrace/segment"
	"tailrace/strategies"
	"tailrace/workload"
)

// prefill writes the log that the run begins with, evenly over the partitions. Its handle is closed,
// so that a log which is private to its handles shows it to others.
func (r *run) prefill() error {
	load := &r.spec.Workload
	if load.Prefill == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx
	for _, p := range r.partitions {
		if err := r.prefillPartition(p, load.Prefill/int64(len(r.partitions))); err != nil {
			return violationf("prefill: %v", err)
		}
		if load.Pattern == workload.Zipfian {
			p.zipf = workload.NewZipf(p.prefilled, load.Skew)
		}
	}
	return nil
}

func (r *run) prefillPartition(p *partition, share int64) error {
	load := &r.spec.Workload
	w := &worker{run: r}
	c := r.client(p, roleProduce, false)
	batch := int64(workload.BatchBytes(load))
	// Before anything that the run appends, however many batches it will be.
	p.firstTime = r.clock.wall(0) - share/segment.HeaderSize - 1
	for bytes := int64(0); bytes+batch <= share; p.batches++ {
		b := w.build(c, p.firstTime+p.batches, workload.NoTime)
		base, err := c.handle.Append(r.ctx, b, strategies.AcksLeader)
		if err != nil {
			return err
		}
		c.ledger.add(base, int64(load.BatchRecords), r.told)
		bytes += int64(len(b))
	}
	p.prefilled = c.ledger.records
	p.ledgers[0] = c.ledger
	return c.handle.Close()
}
