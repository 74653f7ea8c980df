// Package plots draws the results of a sweep: charts as SVG and PNG, and one self-contained HTML
// report.
//
// It computes no statistics and formats no numbers of its own; both come from package results. Every
// strategy has one colour, marker and dash pattern in every chart (StyleOf). Equal sweeps give
// byte-identical charts.
//
// No input makes a chart panic or hang: values that an axis cannot carry (NaN, infinities, zero and
// below on a logarithmic axis) are left out before drawing, and a chart that nothing remains for
// says so in words.
//
// All functions may be called concurrently as long as nobody changes the sweep.
package plots
