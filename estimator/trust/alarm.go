package trust

// alternatives are the miss rates p1 that the test detects.
var alternatives = [...]float64{0.2, 0.4, 0.8}

// alarm is the sequential test of one series.
type alarm struct {
	limit    float64                    // c
	r        [len(alternatives)]float64 // R for each alternative
	on       bool
	evidence float64 // while on: that the intervals cover
}

// add adds a separate check.
func (a *alarm) add(miss bool) {
	if a.on {
		a.evidence = max(a.evidence, 1) * ratio(miss, nominal)
		if a.evidence >= cleared {
			*a = alarm{limit: a.limit}
		}
		return
	}
	mean := 0.
	for i, p1 := range alternatives {
		a.r[i] = (1 + a.r[i]) * ratio(miss, p1)
		mean += a.r[i] / float64(len(alternatives))
	}
	if mean >= a.limit {
		*a = alarm{limit: a.limit, on: true}
	}
}

// ratio is the likelihood ratio of a miss rate p1 against the band.
func ratio(miss bool, p1 float64) float64 {
	if miss {
		return p1 / band
	}
	return (1 - p1) / (1 - band)
}
