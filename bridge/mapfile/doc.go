// Package mapfile reads the files in which people say how a recording becomes a
// flight log (map.toml), and says what is wrong with them.
//
// [Parse] fills in the map of one kind of recording, which its own package
// describes and checks. A key that is not known is an error: a name that is spelt
// wrongly must not become a default.
package mapfile
