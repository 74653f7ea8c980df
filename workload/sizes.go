package workload

// Sizes is a distribution of record sizes. The zero value is none: all records have one size.
type Sizes struct {
	Kind SizeKind
	Min  int     // bytes of the smallest; SizesUniform
	Max  int     // bytes of the largest: SizesUniform, SizesLognormal
	Mid  int     // bytes of the median: SizesLognormal
	Sig  float64 // standard deviation of the logarithm: SizesLognormal
}

// SizeKind is the kind of a distribution of sizes.
type SizeKind string

// The kinds of Sizes.
const (
	SizesFixed     SizeKind = ""
	SizesUniform   SizeKind = "uniform"
	SizesLognormal SizeKind = "lognormal"
	// SizesLines are those of the lines of the workload's Payload, each record being one of them.
	SizesLines SizeKind = "lines"
)
