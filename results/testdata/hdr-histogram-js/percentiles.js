// Reads a histogram log with hdr-histogram-js and prints, as JSON, what it finds: the tags, each line, and the sum of
// the lines of each tag.
//
//	node percentiles.js LOG PERCENTILE...
const fs = require("fs");
const hdr = require("hdr-histogram-js");

const [path, ...percentiles] = process.argv.slice(2);
const log = fs.readFileSync(path, "utf8");
// Counts of 64 bits (53 of a double): those of 32 bits, the default, could overflow in a sum. No WebAssembly.
const reader = new hdr.HistogramLogReader(log, 64, false);

const found = (histogram) => ({
	tag: histogram.tag,
	count: histogram.totalCount,
	values: percentiles.map((p) => histogram.getValueAtPercentile(Number(p))),
});
const lines = [];
const totals = new Map();
for (let h = reader.nextIntervalHistogram(); h; h = reader.nextIntervalHistogram()) {
	lines.push({ ...found(h), start: h.startTimeStampMsec, end: h.endTimeStampMsec });
	if (totals.has(h.tag)) {
		totals.get(h.tag).add(h);
	} else {
		totals.set(h.tag, h);
	}
}
console.log(JSON.stringify({ tags: hdr.listTags(log), lines, totals: [...totals.values()].map(found) }));
