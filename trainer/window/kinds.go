package window

import (
	"cmp"
	"math"
	"slices"
)

// fullest is how much longer a group of flights of a kind is than a fold in the mean, at most.
const fullest = 1.5

// mostCompared segments are compared with each other; of more the folds have all kinds anyway.
const mostCompared = 100

// kinds parts segments into groups of motions that are alike, as many as there are folds, or more where these would be too unequal: a model of the next
// manoeuvre is one of which no flight of its kind was trained on. lasts is how long each segment is, s.
func kinds(flights []Flight, segments []int, lasts map[int]float64, folds int, H float64) (groups [][]int) {
	total := 0.0
	for _, s := range segments {
		groups = append(groups, []int{s})
		total += lasts[s]
	}
	if len(groups) <= folds || len(groups) > mostCompared {
		return groups
	}
	of := motions(flights, segments, H)
	for len(groups) > folds {
		from, to, least := -1, -1, math.Inf(1)
		for i := range groups {
			for j := range i {
				if d := apart(groups[i], groups[j], of); d < least && lasting(groups[i], lasts)+lasting(groups[j], lasts) <= fullest*total/float64(folds) {
					from, to, least = i, j, d
				}
			}
		}
		if from < 0 {
			break
		}
		groups[to] = append(groups[to], groups[from]...)
		groups = slices.Delete(groups, from, from+1)
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return cmp.Compare(lasting(b, lasts), lasting(a, lasts)) })
	return groups
}

func lasting(group []int, lasts map[int]float64) (sum float64) {
	for _, s := range group {
		sum += lasts[s]
	}
	return sum
}

// apart returns the mean distance of two groups' motions.
func apart(a, b []int, of map[int][]float64) (mean float64) {
	for _, i := range a {
		for _, j := range b {
			sum := 0.0
			for n, v := range of[i] {
				sum += (v - of[j][n]) * (v - of[j][n])
			}
			mean += math.Sqrt(sum) / float64(len(a)*len(b))
		}
	}
	return mean
}

// motions returns of each segment how strongly every state moves within H and every input within the flight, as logarithms that are standardised over the
// segments.
func motions(flights []Flight, segments []int, H float64) map[int][]float64 {
	out := map[int][]float64{}
	for _, s := range segments {
		parts := partsOf(flights, s)
		K, P := parts[0].K, parts[0].P
		square, n, d := make([]float64, K), make([]float64, K), make([]float64, K)
		for _, w := range Cut(parts, H, H/2) {
			parts[w.Flight].Displacement(d, w.Start, H)
			for k, v := range d {
				if !math.IsNaN(v) {
					square[k] += v * v
					n[k]++
				}
			}
		}
		_, std := InputScale(parts, P)
		for k, v := range square {
			out[s] = append(out[s], math.Log(math.Sqrt(v/math.Max(n[k], 1))+math.SmallestNonzeroFloat32))
		}
		for _, v := range std {
			out[s] = append(out[s], math.Log(v+math.SmallestNonzeroFloat32))
		}
	}
	standardise(out, segments)
	return out
}

// standardise makes mean 0 and standard deviation 1 of each number; one that does not vary stays 0.
func standardise(of map[int][]float64, segments []int) {
	for n := range of[segments[0]] {
		mean, square := 0.0, 0.0
		for _, s := range segments {
			mean += of[s][n] / float64(len(segments))
		}
		for _, s := range segments {
			of[s][n] -= mean
			square += of[s][n] * of[s][n] / float64(len(segments))
		}
		if square > 0 {
			for _, s := range segments {
				of[s][n] /= math.Sqrt(square)
			}
		}
	}
}
