package feature

// Both is both, for the tests from outside.
var Both = both
