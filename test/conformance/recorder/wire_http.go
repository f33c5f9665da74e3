package recorder

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	khttp "k8s.io/kubernetes/pkg/probe/http"
)

type wireAction struct {
	Send, SendBase64 string
	Repeat           int
	SleepMs          int64
	Reset, Hold      bool
}

type wireServer struct {
	Kind, TLS string
	Routes    map[string][]wireAction
	// Peer is a server that peers.ts starts.
	Peer json.RawMessage
}

type seenRequest struct {
	Server  int         `json:"server"`
	Line    string      `json:"line"`
	Headers [][2]string `json:"headers"`
}

type httpVector struct {
	Servers []wireServer
	Probe   struct {
		Scheme, Host, Path string
		Headers            [][2]string
		TimeoutMs          int64
	}
	AnyMessage  bool
	ExpectAnyOf []any
}

// An httpPlayer keeps what the servers of one vector see.
type httpPlayer struct {
	httpVector
	running []*server
	mu      sync.Mutex
	seen    []seenRequest
}

// recordWireHTTP plays an HTTP probe against real sockets.
func recordWireHTTP(_ *testing.T, v *vector) error {
	player := &httpPlayer{seen: []seenRequest{}}
	if err := v.decode(&player.httpVector); err != nil {
		return err
	}
	for i := range player.Servers {
		running := player.start(i)
		defer running.close()
		player.running = append(player.running, running)
	}
	outcome, err := player.probe()
	if err != nil {
		return err
	}
	v.recorded["expectAnyOf"] = anyOf(player.ExpectAnyOf, outcome)
	return nil
}

// anyOf keeps the stored alternatives if the outcome is one of them.
func anyOf(stored []any, outcome any) []any {
	for _, each := range stored {
		if bytes.Equal(canonical(masked(each)), canonical(masked(outcome))) {
			return stored
		}
	}
	return []any{outcome}
}

// libraryVersion is the gRPC library's in a user agent.
var libraryVersion = regexp.MustCompile(`grpc-go/[0-9.]+`)

// masked hides what the vectors say is not compared: the order of a request's
// fields and the version of the gRPC library.
func masked(value any) any {
	tree, err := parseTree(libraryVersion.ReplaceAll(canonical(value), []byte("grpc-go/*")))
	must(err)
	requests, _ := tree["requests"].([]any)
	for _, request := range requests {
		fields, _ := request.(map[string]any)["headers"].([]any)
		sort.SliceStable(fields, func(i, j int) bool {
			return fields[i].([]any)[0].(string) < fields[j].([]any)[0].(string)
		})
	}
	return tree
}

func (p *httpPlayer) start(i int) *server {
	given := p.Servers[i]
	switch given.Kind {
	case "raw", "speak-first":
		return listen(loopback, func(connection *net.TCPConn) { p.serve(i, connection) })
	case "http2":
		return p.http2Server(i)
	case "peer":
		return peers.start(given.Peer)
	default:
		return tcpServer(given.Kind, loopback)
	}
}

const loopback = "127.0.0.1"

func (p *httpPlayer) http2Server(i int) *server {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	must(err)
	serving := &http.Server{
		TLSConfig: tlsConfig("self-signed"),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen := seenRequest{Server: i, Line: r.Method + " " + r.RequestURI + " " + r.Proto, Headers: [][2]string{{":authority", r.Host}}}
			for name, values := range r.Header {
				seen.Headers = append(seen.Headers, [2]string{strings.ToLower(name), strings.Join(values, ", ")})
			}
			sort.Slice(seen.Headers, func(i, j int) bool { return seen.Headers[i][0] < seen.Headers[j][0] })
			p.see(seen)
			io.WriteString(w, "h2 ok")
		}),
	}
	go serving.ServeTLS(listener, "", "")
	s := &server{port: listener.Addr().(*net.TCPAddr).Port}
	s.onClose(func() { serving.Close() })
	return s
}

func (p *httpPlayer) see(request seenRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, request)
}

func (p *httpPlayer) serve(i int, plain *net.TCPConn) {
	given := p.Servers[i]
	connection := net.Conn(plain)
	if given.TLS != "" {
		connection = tls.Server(plain, tlsConfig(given.TLS))
	}
	actions := given.Routes["*"]
	if given.Kind == "raw" {
		head, err := readHead(connection)
		if err != nil {
			plain.Close()
			return
		}
		request := parseHead(head)
		request.Server = i
		p.see(request)
		if fields := strings.Split(request.Line, " "); len(fields) > 1 {
			if route, found := given.Routes[fields[1]]; found {
				actions = route
			}
		}
	}
	left := make(chan struct{})
	go func() {
		io.Copy(io.Discard, connection)
		close(left)
	}()
	p.perform(actions, connection, plain, left)
}

const (
	headBytesMax = 1 << 20
	beforeReset  = 30 * time.Millisecond
	holdMax      = 20 * time.Second
)

// perform ends with a half close, unless an action says otherwise.
func (p *httpPlayer) perform(actions []wireAction, connection net.Conn, plain *net.TCPConn, left <-chan struct{}) {
	for _, action := range actions {
		bytes, err := base64.StdEncoding.DecodeString(action.SendBase64)
		must(err)
		bytes = append(bytes, strings.Repeat(p.fill(action.Send), max(1, action.Repeat))...)
		if _, err := connection.Write(bytes); err != nil {
			return
		}
		wait := time.Duration(action.SleepMs) * time.Millisecond
		if action.Reset {
			time.Sleep(beforeReset)
			plain.SetLinger(0)
			plain.Close()
			return
		}
		if action.Hold {
			wait = holdMax
		}
		if wait > 0 {
			select {
			case <-left:
				return
			case <-time.After(wait):
			}
		}
	}
	if encrypted, ok := connection.(*tls.Conn); ok {
		encrypted.CloseWrite()
	}
	plain.CloseWrite()
}

func readHead(connection net.Conn) (string, error) {
	var read []byte
	chunk := make([]byte, 4096)
	for len(read) < headBytesMax {
		n, err := connection.Read(chunk)
		read = append(read, chunk[:n]...)
		if end := bytes.Index(read, []byte("\r\n\r\n")); end >= 0 {
			return string(read[:end]), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", io.ErrShortBuffer
}

func parseHead(head string) seenRequest {
	lines := strings.Split(head, "\r\n")
	request := seenRequest{Line: lines[0], Headers: [][2]string{}}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		request.Headers = append(request.Headers, [2]string{name, strings.TrimPrefix(value, " ")})
	}
	return request
}

// fill puts the servers' ports in.
func (p *httpPlayer) fill(text string) string {
	for i, running := range p.running {
		text = strings.ReplaceAll(text, portNames[i], portText(running.port))
	}
	return text
}

var portNames = []string{"{PORT}", "{PORT2}"}

// clientPort precedes the server's port in texts of the network stack.
var clientPort = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]):\d+->`)

// blank takes the ports out again.
func (p *httpPlayer) blank(text string) string {
	text = clientPort.ReplaceAllString(text, "$1:{SRC}->")
	for i, running := range p.running {
		text = strings.ReplaceAll(text, ":"+portText(running.port), ":"+portNames[i])
	}
	return text
}

const (
	outputShownMax = 1024
	outputCutTo    = 64
)

func (p *httpPlayer) probe() (map[string]any, error) {
	given := p.Probe
	action := &v1.HTTPGetAction{
		Scheme: v1.URIScheme(given.Scheme), Host: given.Host, Path: given.Path, Port: intstr.FromInt(p.running[0].port),
	}
	for _, header := range given.Headers {
		action.HTTPHeaders = append(action.HTTPHeaders, v1.HTTPHeader{Name: header[0], Value: p.fill(header[1])})
	}
	request, err := khttp.NewRequestForHTTPGetAction(action, &v1.Container{}, given.Host, "probe")
	if err != nil {
		return nil, unplayable("no request: " + err.Error())
	}
	result, output, err := khttp.New(false).Probe(request, time.Duration(given.TimeoutMs)*time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.seen {
		p.seen[i].Line = p.blank(p.seen[i].Line)
		for j := range p.seen[i].Headers {
			p.seen[i].Headers[j][1] = p.blank(p.seen[i].Headers[j][1])
		}
	}
	seen := map[string]any{"result": result, "error": nil, "requests": p.seen}
	if err != nil {
		seen["error"] = p.blank(err.Error())
	}
	p.addOutput(seen, output)
	return seen, nil
}

// addOutput cuts what is long and encodes what is not text.
func (p *httpPlayer) addOutput(seen map[string]any, output string) {
	seen["outputLength"] = len(p.blank(output))
	switch {
	case p.AnyMessage:
		seen["output"], seen["outputLength"] = "*", 0
	case !utf8.ValidString(output):
		seen["outputBase64"] = base64.StdEncoding.EncodeToString([]byte(output))
	case len(output) > outputShownMax:
		seen["output"] = p.blank(output[:outputCutTo])
	default:
		seen["output"] = p.blank(output)
	}
}
