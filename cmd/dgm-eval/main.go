// Command dgm-eval judges a model on a flight log, with the code that flies.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.Main(command()) }
