// Command verify loads a model file as the onboard runtime does and ends with 1 where it is
// refused. The test of broken builds builds it from changed sources.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
)

func main() {
	if err := load(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func load(path string) error {
	m, err := model.ReadFile(path)
	if err != nil {
		return err
	}
	if err := errors.Join(estimator.VerifyBuild(), adapt.VerifyBuild()); err != nil {
		return err
	}
	f, err := estimator.NewFast(m, nil)
	if err != nil {
		return err
	}
	return f.Verify()
}
