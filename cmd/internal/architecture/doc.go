// Package architecture holds the rules of the repository, each with its reason,
// and the tests that fail when one is broken. It has no other code.
//
// The rules are tables in rules_test.go: who may import whom, which foreign
// module belongs where, which packages touch the world, what the top of the
// repository holds. A change that needs another rule changes the table and gives
// the reason there; what a test prints is the rule, its reason and the file.
//
// Every Go file is read, whatever its build constraints ask for.
package architecture
