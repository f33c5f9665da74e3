package recorder

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	khttp "k8s.io/kubernetes/pkg/probe/http"
)

type h2Vector struct {
	Kind, Then    string
	Hello, Reply  []wireAction
	NoSettingsAck bool
	Probe         struct {
		Service, Path string
		TimeoutMs     int64
	}
}

// An h2Connection plays frames on one connection.
type h2Connection struct {
	*h2Vector
	net.Conn
	plain       *net.TCPConn
	writing     sync.Mutex
	isRequested *atomic.Bool
}

// recordWireH2 plays a probe against HTTP/2 frames, byte by byte.
func recordWireH2(_ *testing.T, v *vector) error {
	given := &h2Vector{}
	if err := v.decode(given); err != nil {
		return err
	}
	var isRequested atomic.Bool
	served := make(chan struct{}, 1)
	running := listen(loopback, func(plain *net.TCPConn) {
		c := &h2Connection{h2Vector: given, Conn: plain, plain: plain, isRequested: &isRequested}
		if given.Kind == "https-h2" {
			config := tlsConfig("self-signed")
			config.NextProtos = []string{"h2"}
			c.Conn = tls.Server(plain, config)
		}
		c.serve()
		select {
		case served <- struct{}{}:
		default:
		}
	})
	defer running.close()
	result, output, err := given.probe(running.port)
	select {
	case <-served:
	case <-time.After(servedMax):
	}
	expect := map[string]any{"result": result, "erred": err != nil, "requested": isRequested.Load()}
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
		c.frame(header[3], header[4]&flagSet != 0, payload)
	}
}

func (c *h2Connection) frame(kind byte, isFlagged bool, payload []byte) {
	switch {
	case kind == frameSettings && !isFlagged && !c.NoSettingsAck:
		c.write([]byte{0, 0, 0, frameSettings, flagSet, 0, 0, 0, 0})
	case kind == framePing && !isFlagged:
		c.write(append([]byte{0, 0, byte(len(payload)), framePing, flagSet, 0, 0, 0, 0}, payload...))
	case (kind == frameData || kind == frameHeaders) && isFlagged && c.isRequested.CompareAndSwap(false, true):
		go c.reply()
	}
}

func (c *h2Connection) reply() {
	c.play(c.Reply)
	time.Sleep(beforeClose)
	switch c.Then {
	case "close":
		if encrypted, ok := c.Conn.(*tls.Conn); ok {
			encrypted.CloseWrite()
		}
		c.plain.CloseWrite()
	case "reset":
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
