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
	since  int64 // ns, unix
}

// OfferShadow lets the model in the bytes of a file predict beside the one in use, in place of another shadow,
// until the model in use is swapped. What it would have predicted is not published; the status has
// how both compare with what is measured. The file must be signed as for Offer.
func (n *Node) OfferShadow(file []byte) (id string, err error) {
	s := &n.models
	s.making.Lock()
	defer s.making.Unlock()
	defer func() {
		if err != nil {
			n.Refuse(fmt.Errorf("shadow: %w", err))
		}
	}()
	m, statement, err := model.DecodeSigned(file, s.accept.Key)
	if err == nil {
		err = s.accept.Check(statement)
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
	r, err := prediction.NewShadow(s.settings, m, s.current, s.times, s.period.Load())
	if err != nil {
		return id, err
	}
	unix, _ := s.clock()
	s.shadow.Store(&shadowOf{r, s.current.ID, unix})
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

// reportModels writes the model in use and its shadow to the status.
func (n *Node) reportModels(s *wire.Status) {
	flown := wire.LoadedModel{Model: s.Model, Role: wire.RoleFlown, Since: n.models.since.Load()}
	s.Models = append(s.Models[:0], flown)
	if r := n.models.shadow.Load(); r != nil {
		shadow := wire.LoadedModel{Role: wire.RoleShadow, Since: r.since}
		r.shadow.Report(&shadow)
		s.Models = append(s.Models, shadow)
	}
}
