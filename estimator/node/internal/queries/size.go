package queries

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// size is how large an answer is.
type size struct {
	questions, times, channels int
	samples                    int  // trajectories of each question
	vectors                    int  // of times×channels for each question, beside them
	single                     int  // numbers of each question alone
	matrix                     int  // columns of the widest matrix of a time: of covariances and Jacobians
	derivatives                bool // two of the channels alone
	float                      int  // bytes of a number
	names                      int  // bytes
}

// envelope are the bytes of an answer beside its vectors and names, at most.
const envelope = 1024

func sizeOf(q *wire.Query, b *batch, names []string, times int) size {
	s := size{questions: b.n, times: times, channels: len(names), float: 8, derivatives: b.wants.dynamics}
	if q.Dtype == "f4" {
		s.float = 4
	}
	if b.wants.mean {
		s.vectors++
	}
	if b.wants.std {
		s.vectors += 2
	}
	inputs := max(b.Plans.Size, b.U.Size)
	if b.wants.cov {
		s.vectors, s.matrix = s.vectors+s.channels, s.channels
	}
	if b.wants.jacobian {
		s.vectors, s.matrix = s.vectors+s.channels+inputs, max(s.channels, inputs)
	}
	s.single = 1
	if b.wants.adjoint {
		s.single += s.channels + inputs
	}
	if b.wants.tube {
		s.single += len(model.TubeLevels)
	}
	if b.wants.violation {
		l := estimator.Limits{HalfSpaces: q.HalfSpaces, Boxes: q.Boxes}
		s.single += l.Count(s.channels)*times + 1
	}
	if b.wants.samples {
		s.samples = max(int(q.Samples), 1)
	}
	if s.derivatives {
		s.times = 0
	}
	for _, name := range names {
		s.names += len(name) + 5
	}
	return s
}

// question returns the bytes of one question.
func (s *size) question() int {
	if s.derivatives {
		return s.float * 2 * s.channels
	}
	return s.float * ((s.vectors+s.samples)*s.times*s.channels + s.single)
}

// fit returns how many questions fit into so many bytes.
func (s *size) fit(bytes int64) int {
	return max(0, int(bytes-int64(envelope+s.names+s.float*s.times))/s.question())
}

// share returns how many of n times or samples of one question fit into so many bytes.
func (s *size) share(n int, bytes int64) int64 {
	return int64(n) * (bytes - envelope) / int64(s.question()+s.names)
}

// perPart returns how many questions a message holds, most bytes being what the server
// takes, or a refusal with what would fit. parts is true where an answer may have several.
func (s *size) perPart(most int64, parts bool) (int, error) {
	widest := max(s.samples, s.matrix, 1) // of times×channels in one vector, for a question
	if numbers := wire.MaxNumbers / max(s.times*s.channels, 1); s.questions*widest > numbers {
		return 0, &refusal{codeLarge, s.key(numbers / widest), fmt.Sprintf("the answer would have more than %d numbers in one vector: ask for less", wire.MaxNumbers)}
	}
	fit := s.fit(most)
	if most <= 0 || fit >= s.questions {
		return s.questions, nil
	}
	if parts && fit > 0 {
		return fit, nil
	}
	single := *s
	single.float = 4
	would := fmt.Sprintf("at most %d questions", fit)
	switch {
	case fit == 0 && s.samples > 1:
		would = fmt.Sprintf("at most %d samples", s.share(s.samples, most))
	case fit == 0:
		would = fmt.Sprintf("at most %d times", s.share(s.times, most))
	}
	if s.float == 8 && fit > 0 {
		would += fmt.Sprintf(", or dtype f4 for %d", single.fit(most))
	}
	if !parts && fit > 0 {
		would += ", or parts = true"
	}
	return 0, &refusal{codeLarge, s.key(fit), fmt.Sprintf("the answer to %d questions at %d times has %d bytes, and the server takes %d: ask for %s",
		s.questions, s.times, s.questions*s.question()+envelope, most, would)}
}

// key returns the key of a query that is too large, of whose questions so many fit.
func (s *size) key(fit int) string {
	switch {
	case fit > 0:
		return "states"
	case s.samples > 1:
		return "samples"
	}
	return "times"
}
