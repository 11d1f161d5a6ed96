package window

// Fold parts flights for cross-validation: a model made from Train is judged on
// Held.
type Fold struct {
	Train, Held []Flight
}

// Folds parts the flights k times, so that every sample is held out once: whole
// flights where there are at least 2k, else blocks of time of at least four
// horizons. A fold without anything on one side is left out.
func Folds(flights []Flight, H float64, k int) []Fold {
	blocks := flights
	if len(flights) < 2*k {
		blocks = nil
		for i := range flights {
			f := &flights[i]
			parts := min(2*k, max(1, int(f.Duration()/(4*H))))
			for j := range parts {
				if b := f.Slice(j*f.N()/parts, (j+1)*f.N()/parts); b.N() >= 2 {
					blocks = append(blocks, b)
				}
			}
		}
	}
	var out []Fold
	for n := range k {
		var fold Fold
		for i, b := range blocks {
			if i%k == n {
				fold.Held = append(fold.Held, b)
			} else {
				fold.Train = append(fold.Train, b)
			}
		}
		if len(Cut(fold.Held, H, H)) > 0 && len(Cut(fold.Train, H, H)) > 0 {
			out = append(out, fold)
		}
	}
	return out
}
