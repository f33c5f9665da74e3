package recorder

import (
	"encoding/hex"
	"sort"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// sentFrames are the frames of one connection that ask for something: the
// client's settings, its first window, and requests. Acknowledgements and the
// frames by which a client measures or leaves come or go with the timing.
type sentFrames struct {
	mu      sync.Mutex
	frames  []map[string]any
	decoder *hpack.Decoder
	// isAsked tells that a request has begun.
	isAsked bool
}

func newSentFrames() *sentFrames {
	return &sentFrames{frames: []map[string]any{}, decoder: hpack.NewDecoder(4096, nil)}
}

// add takes the next frame of the client.
func (s *sentFrames) add(header http2.FrameHeader, payload []byte) {
	frame := map[string]any{"type": header.Type.String(), "flags": int(header.Flags), "stream": int(header.StreamID)}
	switch header.Type {
	case http2.FrameSettings:
		if header.Flags.Has(http2.FlagSettingsAck) {
			return
		}
		frame["payload"] = hex.EncodeToString(payload)
	case http2.FrameWindowUpdate:
		if s.isAsked {
			return
		}
		frame["payload"] = hex.EncodeToString(payload)
	case http2.FrameHeaders, http2.FrameContinuation:
		s.isAsked = true
		frame["fields"] = s.fields(payload)
	case http2.FrameData:
		frame["payload"] = hex.EncodeToString(payload)
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, frame)
}

// fields decodes the fields of one frame, without what differs from run to
// run: their order, the version of the library, and the time that is left.
func (s *sentFrames) fields(fragment []byte) [][2]string {
	fields := [][2]string{}
	s.decoder.SetEmitFunc(func(field hpack.HeaderField) {
		value := field.Value
		switch field.Name {
		case "grpc-timeout":
			value = "{TIME}"
		case "user-agent":
			value, _, _ = strings.Cut(value, " grpc-go/")
		}
		fields = append(fields, [2]string{field.Name, value})
	})
	_, err := s.decoder.Write(fragment)
	must(err)
	sort.SliceStable(fields, func(i, j int) bool { return fields[i][0] < fields[j][0] })
	return fields
}

// taken gives the frames for the vector, with a placeholder for the port.
func (s *sentFrames) taken(port int) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, frame := range s.frames {
		if fields, ok := frame["fields"].([][2]string); ok {
			for i := range fields {
				fields[i][1] = strings.ReplaceAll(fields[i][1], portText(port), "PORT")
			}
		}
	}
	return s.frames
}
