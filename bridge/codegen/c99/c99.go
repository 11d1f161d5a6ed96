package c99

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// Options are how a model is written.
type Options struct {
	Double bool // double instead of float
}

// Names of the files that a Source is written to; the source includes the header by its name.
const (
	HeaderFile = "dgm_model.h"
	BodyFile   = "dgm_model.c"
)

// Source is a model as C.
type Source struct {
	Header, Body []byte
	RAM          int // bytes of the work area
	RAMPredict   int // bytes of it without the Jacobians
	Constants    int // bytes of constants in flash, without code
}

// Names of the inputs and outputs of a document's programs.
const (
	inputX, inputPast, inputPlan = "x", "past", "plan"
	outputMean, outputStd        = "displacement", "std"
	outputOOD                    = "ood"
)

// Write returns the programs of a document as C.
func Write(d *program.Document, o Options) (*Source, error) {
	a, err := aboutOf(d)
	if err != nil {
		return nil, err
	}
	for _, p := range d.Programs {
		if err := check(p.Program, true); err != nil {
			return nil, fmt.Errorf("program %s: %w", p.Name, err)
		}
	}
	u := newUnit(o.Double)
	f := file{unit: u, about: &a}
	for _, p := range d.Programs {
		f.names = append(f.names, p.Name)
		f.predict = max(f.predict, f.value(p.Name, p.Program))
	}
	f.predictDeclared, f.predictCode = u.take()
	for _, p := range d.Programs {
		f.jacobian = max(f.jacobian, f.tangent(p.Name, p.Program))
	}
	f.jacobianDeclared, f.jacobianCode = u.take()
	size := 4
	if o.Double {
		size = 8
	}
	f.work = max(f.predict, f.jacobian, 1)
	return &Source{Header: f.header(), Body: f.body(), RAM: size * f.work, RAMPredict: size * max(f.predict, 1), Constants: u.bytes}, nil
}

// check returns why a program cannot be written.
func check(p *program.Program, outer bool) error {
	if outer {
		if err := p.Check(); err != nil {
			return err
		}
	}
	for i, s := range p.Registers {
		if s.Rows > mostPlaces || s.Cols > mostPlaces {
			return fmt.Errorf("register %d has %d rows and %d columns, more than %d", i, s.Rows, s.Cols, mostPlaces)
		}
	}
	for i, o := range p.Ops {
		switch o := o.(type) {
		case *program.Columns:
			if !outer {
				return fmt.Errorf("operation %d of a body mixes columns", i)
			}
		case *program.Repeat:
			if o.All && !outer {
				return fmt.Errorf("operation %d of a body has columns of its own", i)
			}
			if err := check(o.Body, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostPlaces bounds rows and columns: places are stored in 16 bits.
const mostPlaces = 1<<16 - 1
