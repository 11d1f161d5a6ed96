// Command dgm-demo shows the whole path in under three minutes: a simulated robot
// is recorded, its motion learned from the recording, and predicted live over
// NATS while it flies anew. Everything happens in this one process.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.Main(command()) }
