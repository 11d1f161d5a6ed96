package foxglove

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The kinds of frames (RFC 6455, 5.2).
const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA
)

// maxMessage is the longest message that a client may send, bytes: a list of
// subscriptions.
const maxMessage = 1 << 20

// accept returns the answer to a key of the handshake (RFC 6455, 4.2.2).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// protocols are those of Foxglove that are spoken here, by their names in the
// handshake.
var protocols = []string{"foxglove.websocket.v1", "foxglove.sdk.v1"}

// handshake checks a request and returns the key and the protocol to agree on.
func handshake(r *http.Request) (key, protocol string, err error) {
	has := func(name, token string) bool {
		for _, v := range r.Header.Values(name) {
			for part := range strings.SplitSeq(v, ",") {
				if strings.EqualFold(strings.TrimSpace(part), token) {
					return true
				}
			}
		}
		return false
	}
	key = r.Header.Get("Sec-WebSocket-Key")
	raw, errKey := base64.StdEncoding.DecodeString(key)
	switch {
	case r.Method != http.MethodGet || !has("Connection", "upgrade") || !has("Upgrade", "websocket"):
		return "", "", errors.New("this is a WebSocket for Foxglove: open a connection to it there")
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return "", "", errors.New("only version 13 of the WebSocket protocol is spoken")
	case errKey != nil || len(raw) != 16:
		return "", "", errors.New("the key of the handshake has not 16 bytes")
	}
	for _, p := range protocols {
		if has("Sec-WebSocket-Protocol", p) {
			return key, p, nil
		}
	}
	return "", "", fmt.Errorf("only %s is spoken", strings.Join(protocols, ", "))
}

// appendFrame appends a whole message as a server sends it: in one piece, without a
// mask.
func appendFrame(dst []byte, op byte, payload ...[]byte) []byte {
	n := 0
	for _, p := range payload {
		n += len(p)
	}
	dst = append(dst, 0x80|op)
	switch {
	case n < 126:
		dst = append(dst, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 127), uint64(n))
	}
	for _, p := range payload {
		dst = append(dst, p...)
	}
	return dst
}

// errProtocol says that a client does not keep to the protocol.
var errProtocol = errors.New("not as RFC 6455 has it")

// readFrame reads one frame of a client into buf.
func readFrame(r *bufio.Reader, buf []byte) (op byte, last bool, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, false, nil, err
	}
	op, last = head[0]&0x0F, head[0]&0x80 != 0
	n := uint64(head[1] & 0x7F)
	if head[0]&0x70 != 0 || head[1]&0x80 == 0 { // extensions; a client must mask
		return 0, false, nil, errProtocol
	}
	if op >= opClose && (!last || n > 125) {
		return 0, false, nil, errProtocol
	}
	var long [8]byte
	switch n {
	case 126:
		if _, err := io.ReadFull(r, long[:2]); err != nil {
			return 0, false, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(long[:]))
	case 127:
		if _, err := io.ReadFull(r, long[:]); err != nil {
			return 0, false, nil, err
		}
		n = binary.BigEndian.Uint64(long[:])
	}
	if n > maxMessage {
		return 0, false, nil, fmt.Errorf("a message of %d bytes, the limit is %d", n, maxMessage)
	}
	var mask [4]byte
	if _, err := io.ReadFull(r, mask[:]); err != nil {
		return 0, false, nil, err
	}
	// In steps, so that a length that lies takes no memory for what does not come.
	payload = buf[:0]
	for uint64(len(payload)) < n {
		at := len(payload)
		payload = append(payload, make([]byte, min(n-uint64(at), 4096))...)
		if _, err := io.ReadFull(r, payload[at:]); err != nil {
			return 0, false, nil, err
		}
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return op, last, payload, nil
}
