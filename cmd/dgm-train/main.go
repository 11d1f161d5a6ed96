// Command dgm-train learns a model from flight logs.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.Main(command()) }
