package node

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// shadowOf is a shadow and the ID of the model that it is compared with.
type shadowOf struct {
	shadow *prediction.Shadow
	of     string
	since  int64 // ns, steady
}

// OfferShadow lets the model in the bytes of a file predict beside the one in use, in place of another shadow,
// until the model in use is swapped. What it would have predicted is not published; the status has
// how both compare with what is measured. The file must be signed as for Offer.
func (n *Node) OfferShadow(file []byte) (id string, err error) {
	s := &n.models
	defer func() {
		if err != nil {
			n.Refuse(fmt.Errorf("shadow: %w", err))
		}
	}()
	m, statement, err := model.DecodeSigned(file, s.accept.Key)
	if err == nil {
		s.making.Lock()
		err = s.check(s.accept, statement)
		s.making.Unlock()
	}
	if err == nil {
		id, err = m.ID, m.Sealed()
	}
	if err != nil {
		return id, err
	}
	if most, need := s.memory(), prediction.ShadowMemory(m); need > most {
		return id, fmt.Errorf("model %s needs %d MB of memory as a shadow, and this computer has %d MB for it", m.ID, need>>20, most>>20)
	}
	// Making it may take long: a rollback does not wait for that.
	flown, times := s.inUse()
	r, err := prediction.NewShadow(s.settings, m, flown, times, s.period.Load())
	if err != nil {
		return id, err
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.current == flown { // else it is offered again, beside the model that is in use now
		_, steady := s.clock()
		s.shadow.Store(&shadowOf{r, flown.ID, steady})
	}
	return id, nil
}

// EndShadow ends the comparison with the shadow, if there is one.
func (n *Node) EndShadow() { n.models.shadow.Store(nil) }

// scoreWindows scores windows of shadows until stop is closed.
func (n *Node) scoreWindows(stop <-chan struct{}) {
	for {
		select {
		case s := <-n.worker.windows:
			s.Score(n.cfg.Clock)
		case <-stop:
			return
		}
	}
}

// reportModels writes the model in use and its shadow to the status. epoch is the Unix time, ns, at which the steady
// clock showed 0: what is T − Since does not jump with the Unix time.
func (n *Node) reportModels(s *wire.Status, epoch int64) {
	flown := wire.LoadedModel{Model: s.Model, Role: wire.RoleFlown, Since: epoch + n.models.since.Load()}
	if a := n.models.stated.Load(); a != nil && a.Model == s.Model {
		flown.Sequence, flown.Decision = a.Least, a.Decision
	}
	s.Models = append(s.Models[:0], flown)
	if r := n.models.shadow.Load(); r != nil {
		shadow := wire.LoadedModel{Role: wire.RoleShadow, Since: epoch + r.since}
		r.shadow.Report(&shadow)
		s.Models = append(s.Models, shadow)
	}
}
