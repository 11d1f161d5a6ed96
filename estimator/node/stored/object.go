package stored

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nats-io/nats.go"
)

// Objects are those of an object store.
type Objects struct {
	NC     *nats.Conn
	Bucket string
}

// Info describes an object, as the client of NATS writes it.
type Info struct {
	Name    string      `json:"name"`
	NUID    string      `json:"nuid"` // of its chunks
	Size    uint64      `json:"size"`
	Chunks  uint32      `json:"chunks"`
	Digest  string      `json:"digest"` // SHA-256=<base64>
	Deleted bool        `json:"deleted"`
	Headers nats.Header `json:"headers"`
	Options *struct {
		Link *json.RawMessage `json:"link"`
	} `json:"options"`
}

// Errors of objects.
var (
	ErrLink    = errors.New("it is a link to another object")
	ErrLarge   = errors.New("it is larger than it may be")
	ErrChanged = errors.New("it was changed while it was read, or is damaged")
)

func (o *Objects) stream() string { return "OBJ_" + o.Bucket }

// Info returns the description of an object, or ErrNone.
func (o *Objects) Info(ctx context.Context, name string) (*Info, error) {
	m, err := Last(ctx, o.NC, o.stream(), "$O."+o.Bucket+".M."+base64.URLEncoding.EncodeToString([]byte(name)))
	if err != nil {
		return nil, err
	}
	info, err := decode(m.Data)
	if err == nil && info.Name != name {
		err = fmt.Errorf("it is that of %.80q", info.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("object %.80q: its description: %w", name, err)
	}
	if info.Deleted {
		return nil, ErrNone
	}
	return info, nil
}

// leastChunk is the least size of a chunk but the last, bytes: each is a request, and who writes a store could let a reader ask for ever.
const leastChunk = 4 << 10

// decode returns a description.
func decode(b []byte) (*Info, error) {
	info := &Info{}
	if err := json.Unmarshal(b, info); err != nil {
		return nil, err
	}
	if strings.ContainsAny(info.NUID, ".*> \t\r\n") || info.NUID == "" && info.Chunks > 0 {
		return nil, fmt.Errorf("%d chunks of %.40q are none of an object", info.Chunks, info.NUID)
	}
	return info, nil
}

// Copy writes an object of at most so many bytes, whatever its description says. It returns an error, with a part written, for a link,
// for a larger one, and for one whose bytes do not have its digest.
func (o *Objects) Copy(ctx context.Context, to io.Writer, info *Info, most int64) error {
	switch {
	case info.Options != nil && info.Options.Link != nil:
		return ErrLink
	case info.Size > uint64(max(most, 0)):
		return ErrLarge
	case uint64(info.Chunks) > info.Size/leastChunk+1:
		return ErrChanged
	}
	sum, from, left := sha256.New(), uint64(1), int64(info.Size)
	for range info.Chunks {
		m, err := next(ctx, o.NC, o.stream(), "$O."+o.Bucket+".C."+info.NUID, from)
		switch {
		case errors.Is(err, ErrNone):
			return ErrChanged
		case err != nil:
			return err
		}
		if left -= int64(len(m.Data)); left < 0 {
			return ErrChanged
		}
		sum.Write(m.Data)
		if _, err := to.Write(m.Data); err != nil {
			return err
		}
		from = m.Sequence + 1
	}
	if left != 0 || info.Digest != "SHA-256="+base64.URLEncoding.EncodeToString(sum.Sum(nil)) {
		return ErrChanged
	}
	return nil
}
