package plant

import (
	"math"
	"testing"
)

// Hovering is an equilibrium; a payload makes it fall and more thrust makes up for it; a
// constant pitch command ends at α3/−α1 times the command.
func TestPlanarQuadrotorStandsStill(t *testing.T) {
	p := PlanarQuadrotor()
	dst, prm := make([]float64, 6), p.Values()
	if p.F(dst, p.X0, p.U0, prm); largest(dst) > 1e-12 {
		t.Errorf("hovering moves by %v", dst)
	}
	prm[5] *= 1.25
	if p.F(dst, p.X0, p.U0, prm); math.Abs(dst[3]+9.8/5) > 1e-12 {
		t.Errorf("with a quarter more mass it accelerates by %v m/s²", dst[3])
	}
	lift := (1.25*9.8 - prm[1]) / prm[0]
	if p.F(dst, p.X0, []float64{lift, 0}, prm); math.Abs(dst[3]) > 1e-12 {
		t.Errorf("with the thrust for its mass it accelerates by %v m/s²", dst[3])
	}
	leaning := []float64{0, 0, 1, 0, -prm[4] / prm[2] * 0.3, 0}
	if p.F(dst, leaning, []float64{lift, 0.3}, prm); math.Abs(dst[5]) > 1e-12 || !(dst[1] > 0) {
		t.Errorf("leaning at its command it moves by %v", dst)
	}
}
