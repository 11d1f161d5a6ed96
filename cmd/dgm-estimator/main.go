// Command dgm-estimator serves a trained model: for every state of a vehicle that
// comes over NATS it publishes the distribution of the states to come.
package main

import "github.com/dgm-robotics/dgm/cmd/internal/cli"

func main() { cli.MainReload(command()) }
