package segment

// ReferenceIndexes is referenceIndexes for the tests outside the package.
var ReferenceIndexes = referenceIndexes
