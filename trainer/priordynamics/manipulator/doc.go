// Package manipulator fits the equation of motion of a planar chain of links
// (priordynamics.Chain). Its parameters are few, so it holds far beyond the motions that it
// was fitted to, and where other joints are driven.
package manipulator
