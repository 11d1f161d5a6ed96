// Command dgm-eval evaluates a model on a flight log, with the onboard predictor.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.Main(command()) }
