package claims

import "testing"

// long leaves a test that takes long to make long, which has the tests in full.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long, see make long")
	}
}
