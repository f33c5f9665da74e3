package recorder

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	khttp "k8s.io/kubernetes/pkg/probe/http"
)

// An h2Script is what a server does on one connection.
type h2Script struct {
	Hello, Reply []wireAction
	// Again answers the second request of the connection.
	Again         []wireAction
	Then          string
	NoSettingsAck bool
}

type h2Vector struct {
	Kind string
	h2Script
	// Connections are the scripts of one connection after the other, the last
	// one for all that follow. Absent: the script of the vector for each.
	Connections []h2Script
	Probe       struct {
		Service, Path string
		TimeoutMs     int64
	}
	// Expect has Connections if the frames of the client are recorded.
	Expect struct {
		Connections *[]any
	}
}

func (h *h2Vector) script(connection int) *h2Script {
	if len(h.Connections) == 0 {
		return &h.h2Script
	}
	return &h.Connections[min(connection, len(h.Connections)-1)]
}

// An h2Connection plays frames on one connection.
type h2Connection struct {
	*h2Script
	net.Conn
	plain    *net.TCPConn
	writing  sync.Mutex
	sent     *sentFrames
	requests int
	// isRead is closed when the client has left.
	isRead      chan struct{}
	isRequested atomic.Bool
}

// h2Connections are those of one vector, in the order of their begin.
type h2Connections struct {
	mu  sync.Mutex
	all []*h2Connection
}

func (c *h2Connections) begin(given *h2Vector, plain *net.TCPConn) *h2Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	begun := &h2Connection{
		h2Script: given.script(len(c.all)), Conn: plain, plain: plain, sent: newSentFrames(), isRead: make(chan struct{}),
	}
	c.all = append(c.all, begun)
	return begun
}

// whenRead waits until all that the client has sent is read, but not forever.
func (c *h2Connections) whenRead() {
	late := time.After(servedMax)
	c.mu.Lock()
	all := slices.Clone(c.all)
	c.mu.Unlock()
	for _, each := range all {
		select {
		case <-each.isRead:
		case <-late:
			return
		}
	}
}

func (c *h2Connections) isRequested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.all, func(each *h2Connection) bool { return each.isRequested.Load() })
}

// frames are what the client sent on each connection.
func (c *h2Connections) frames(port int) [][]map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	frames := [][]map[string]any{}
	for _, each := range c.all {
		frames = append(frames, each.sent.taken(port))
	}
	return frames
}

// recordWireH2 plays a probe against HTTP/2 frames, byte by byte.
func recordWireH2(_ *testing.T, v *vector) error {
	given := &h2Vector{}
	if err := v.decode(given); err != nil {
		return err
	}
	connections := &h2Connections{}
	running := listen(loopback, func(plain *net.TCPConn) {
		c := connections.begin(given, plain)
		defer close(c.isRead)
		if given.Kind == "https-h2" {
			config := tlsConfig("self-signed")
			config.NextProtos = []string{"h2"}
			c.Conn = tls.Server(plain, config)
		}
		c.serve()
	})
	defer running.close()
	result, output, err := given.probe(running.port)
	connections.whenRead()
	expect := map[string]any{"result": result, "erred": err != nil, "requested": connections.isRequested()}
	if given.Expect.Connections != nil {
		expect["connections"] = connections.frames(running.port)
	}
	if err == nil && result != probe.Failure {
		addPlayedOutput(expect, output, running.port)
	}
	v.recorded["expect"] = expect
	return nil
}

func addPlayedOutput(expect map[string]any, output string, port int) {
	if utf8.ValidString(output) {
		expect["output"] = strings.ReplaceAll(output, portText(port), "PORT")
	} else {
		expect["outputBase64"] = base64.StdEncoding.EncodeToString([]byte(output))
	}
}

func (h *h2Vector) probe(port int) (probe.Result, string, error) {
	timeout := time.Duration(h.Probe.TimeoutMs) * time.Millisecond
	if h.Kind == "grpc" {
		return probeGRPC(loopback, h.Probe.Service, port, timeout)
	}
	action := &v1.HTTPGetAction{Scheme: v1.URISchemeHTTPS, Path: h.Probe.Path, Port: intstr.FromInt(port)}
	request, err := khttp.NewRequestForHTTPGetAction(action, &v1.Container{}, loopback, "probe")
	must(err)
	return khttp.New(false).Probe(request, timeout)
}

// servedMax is how long a server has to read what the probe sent before it
// ended.
const servedMax = 500 * time.Millisecond

const (
	prefaceBytes     = 24
	frameHeaderBytes = 9
	frameData        = 0
	frameHeaders     = 1
	frameSettings    = 4
	framePing        = 6
	// flagSet is END_STREAM of a request's frames and ACK of the others.
	flagSet     = 1
	beforeClose = 15 * time.Millisecond
)

func (c *h2Connection) serve() {
	c.play(c.Hello)
	if _, err := io.CopyN(io.Discard, c, prefaceBytes); err != nil {
		return
	}
	for {
		header := make([]byte, frameHeaderBytes)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		payload := make([]byte, binary.BigEndian.Uint32(header)>>8)
		if _, err := io.ReadFull(c, payload); err != nil {
			return
		}
		c.sent.add(http2.FrameHeader{
			Type: http2.FrameType(header[3]), Flags: http2.Flags(header[4]), StreamID: binary.BigEndian.Uint32(header[5:]),
		}, payload)
		c.frame(header[3], header[4]&flagSet != 0, payload)
	}
}

func (c *h2Connection) frame(kind byte, isFlagged bool, payload []byte) {
	switch {
	case kind == frameSettings && !isFlagged && !c.NoSettingsAck:
		c.write([]byte{0, 0, 0, frameSettings, flagSet, 0, 0, 0, 0})
	case kind == framePing && !isFlagged:
		c.write(append([]byte{0, 0, byte(len(payload)), framePing, flagSet, 0, 0, 0, 0}, payload...))
	case (kind == frameData || kind == frameHeaders) && isFlagged:
		c.requests++
		c.isRequested.Store(true)
		switch c.requests {
		case 1:
			go c.reply()
		case 2:
			go c.play(c.Again)
		}
	}
}

func (c *h2Connection) reply() {
	c.play(c.Reply)
	if c.Then == "close" || c.Then == "reset" {
		time.Sleep(beforeClose)
	}
	switch c.Then {
	case "close", "close-at-once":
		if encrypted, ok := c.Conn.(*tls.Conn); ok {
			encrypted.CloseWrite()
		}
		c.plain.CloseWrite()
	case "reset", "reset-at-once":
		c.plain.SetLinger(0)
		c.plain.Close()
	}
}

func (c *h2Connection) play(actions []wireAction) {
	for _, action := range actions {
		time.Sleep(time.Duration(action.SleepMs) * time.Millisecond)
		bytes, err := base64.StdEncoding.DecodeString(action.SendBase64)
		must(err)
		for range max(1, action.Repeat) {
			c.write(bytes)
		}
	}
}

func (c *h2Connection) write(bytes []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	// A client that has left is seen by the reader.
	_, _ = c.Conn.Write(bytes)
}
