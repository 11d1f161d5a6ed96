package cli

import "strings"

// nearest returns the name that is most like a word that was typed, "" where none is: it
// differs by a third of its letters or fewer, or one of the two begins with the other.
func nearest(word string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		d := distance(strings.ToLower(word), name)
		if prefix := strings.HasPrefix(name, word) || strings.HasPrefix(word, name); prefix && len(word) > 1 {
			d = min(d, 1)
		}
		if 3*d <= max(len(name), 3) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// didYouMean is a question behind a message, "" where no name is near.
func didYouMean(word, dashes string, names []string) string {
	if name := nearest(word, names); name != "" {
		return "; did you mean " + dashes + name + "?"
	}
	return ""
}

// distance returns how many letters must be inserted, removed, replaced, or exchanged with
// their neighbour to make b of a.
func distance(a, b string) int {
	two, one, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range now {
		now[j] = j
	}
	for i := range len(a) {
		two, one, now = one, now, two
		now[0] = i + 1
		for j := range len(b) {
			now[j+1] = min(one[j+1], now[j]) + 1
			if a[i] == b[j] {
				now[j+1] = min(now[j+1], one[j])
			} else {
				now[j+1] = min(now[j+1], one[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], two[j-1]+1)
			}
		}
	}
	return now[len(b)]
}
