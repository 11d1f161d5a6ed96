// Command dgm-train trains a model on flight logs.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.Main(command()) }
