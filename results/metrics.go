package results

import "strings"

// MetricDescription is what a metric is, for people.
type MetricDescription struct {
	Name    string
	Unit    string
	Better  string // "more" or "less"
	Meaning string
}

// DescribeMetrics describes all metrics, in the order of MetricNames.
func DescribeMetrics() []MetricDescription {
	var all []MetricDescription
	for _, name := range MetricNames() {
		d := MetricDescription{Name: name, Better: "more"}
		if LowerIsBetter(name) {
			d.Better = "less"
		}
		d.Unit, d.Meaning = describeMetric(name)
		all = append(all, d)
	}
	return all
}

func describeMetric(name string) (unit, meaning string) {
	switch name {
	case MetricOps:
		return "per second", "operations: appends and reads together"
	case MetricProduceOps:
		return "per second", "appends"
	case MetricConsumeOps:
		return "per second", "reads"
	case MetricProduceRecords:
		return "per second", "records that are appended"
	case MetricConsumeRecords:
		return "per second", "records that are read"
	case MetricProduceBytes:
		return "bytes per second", "bytes that are appended"
	case MetricConsumeBytes:
		return "bytes per second", "bytes that are read"
	case MetricCPU:
		return "seconds", "processor time of the process for an operation"
	case MetricSwitches:
		return "per operation", "context switches of the process"
	case MetricAllocs:
		return "per operation", "allocations of the process"
	case MetricAllocBytes:
		return "bytes per operation", "memory that the process allocates"
	case MetricDrain:
		return "seconds", "time until the consumers have read a backlog"
	}
	kind, statistic, _ := latencyParts(name)
	return "seconds", statisticWords(statistic) + " of " + latencyWords(kind)
}

func statisticWords(statistic string) string {
	switch statistic {
	case "max":
		return "the longest"
	case "mean":
		return "the mean"
	case "p50":
		return "the median"
	case "p999":
		return "p99.9"
	}
	return statistic
}

// latencyWords says of a kind of latency from when to when it is.
func latencyWords(kind string) string {
	call := "appends"
	if strings.HasPrefix(kind, KindConsume) {
		call = "reads"
	}
	switch kind {
	case KindEndToEnd:
		return "the ways of records, from when they were to be sent until a read returned them"
	case KindProduceService, KindConsumeService:
		return "the times of " + call + " at a rate, from when they began"
	case KindProduceLateness, KindConsumeLateness:
		return "how late the load itself began " + call + " at a rate"
	}
	return "the times of " + call + ", from when they were due, or without a rate from when they began"
}
