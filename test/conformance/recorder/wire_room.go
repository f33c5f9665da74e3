package recorder

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	khttp "k8s.io/kubernetes/pkg/probe/http"
	"k8s.io/kubernetes/pkg/probe/tcp"
)

// A room is a network of its own in which one probe is played: what its name
// resolves to, which addresses there are, and who listens on them.
type room struct {
	Network, Hosts []string
	DNS            *struct {
		A, AAAA     []string
		AAAADelayMs int64
	}
	Servers []roomServer
	Later   []struct {
		Ms int64
		IP string
	}
	Probe struct {
		Kind, Scheme, Host string
		TimeoutMs          int64
	}
	// Timed says that the time is part of the outcome.
	Timed       bool
	ExpectAnyOf []any
}

type roomServer struct {
	Kind, Address string
	Status        int
}

// roomPort is the port of every server in a room.
const roomPort = 8080

// roomVector names the file of the vector that this process plays inside.
const roomVector = "RECORDER_ROOM_VECTOR"

// recordInRoom plays the vector in a process of its own, inside.
func recordInRoom(_ *testing.T, v *vector) error {
	var given room
	if err := v.decode(&given); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "room-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	lines := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	for name, content := range map[string][]byte{
		"hosts": lines(given.Hosts...), "network": lines(given.Network...), "vector": v.line,
		"resolv.conf": lines("nameserver 127.0.0.1"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	args := []string{"--net", "--mount", "sh", "room.sh", folder, os.Args[0]}
	if os.Getuid() != 0 {
		args = append([]string{"--map-root-user"}, args...)
	}
	inside := exec.Command("unshare", args...)
	// kubelet resolves without the C library, unless the machine's configuration asks for it.
	inside.Env = append(os.Environ(), roomVector+"="+filepath.Join(folder, "vector"), "GODEBUG=netdns=go")
	printed, err := inside.Output()
	if err != nil {
		return fmt.Errorf("no network of its own: %w: %s", err, stderrOf(err))
	}
	var outcome map[string]any
	if err := json.Unmarshal(printed, &outcome); err != nil {
		return err
	}
	v.recorded["expectAnyOf"] = anyOf(given.ExpectAnyOf, outcome)
	return nil
}

func stderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return string(exit.Stderr)
	}
	return ""
}

// playInRoom prints what kubelet's prober says.
func playInRoom(path string) {
	quiet()
	line, err := os.ReadFile(path)
	must(err)
	var given room
	must(json.Unmarshal(line, &given))
	seen := &connections{}
	for _, each := range given.Servers {
		each.start(seen)
	}
	if given.DNS != nil {
		given.serveDNS()
	}
	for _, each := range given.Later {
		time.AfterFunc(time.Duration(each.Ms)*time.Millisecond, func() {
			must(exec.Command("ip", strings.Fields(each.IP)...).Run())
		})
	}
	began := time.Now()
	result, output, err := given.probe()
	// A timer may be a little early.
	seconds := int((time.Since(began) + 100*time.Millisecond).Seconds())
	// A connection that was made may not be accepted yet.
	time.Sleep(50 * time.Millisecond)
	outcome := map[string]any{"result": result, "output": output, "error": errorText(err), "connected": seen.addresses()}
	if given.Timed {
		outcome["seconds"] = seconds
	}
	os.Stdout.Write(canonical(outcome))
}

func (r *room) probe() (probe.Result, string, error) {
	host, timeout := r.Probe.Host, time.Duration(r.Probe.TimeoutMs)*time.Millisecond
	switch r.Probe.Kind {
	case "tcp":
		return tcp.New().Probe(host, roomPort, timeout)
	case "grpc":
		return probeGRPC(host, "", roomPort, timeout)
	default:
		action := &v1.HTTPGetAction{Scheme: v1.URIScheme(r.Probe.Scheme), Path: "/", Port: intstr.FromInt(roomPort)}
		request, err := khttp.NewRequestForHTTPGetAction(action, &v1.Container{}, host, "probe")
		must(err)
		return khttp.New(false).Probe(request, timeout)
	}
}

// connections are the addresses at which a connection was accepted.
type connections struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (c *connections) add(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[address] = true
}

func (c *connections) addresses() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := []string{}
	for address := range c.seen {
		found = append(found, address)
	}
	sort.Strings(found)
	return found
}

// A seenListener takes down where connections were accepted.
type seenListener struct {
	net.Listener
	address string
	seen    *connections
}

func (l seenListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err == nil {
		l.seen.add(l.address)
	}
	return connection, err
}

func (s roomServer) start(seen *connections) {
	plain, err := net.Listen("tcp", net.JoinHostPort(s.Address, portText(roomPort)))
	must(err)
	listener := seenListener{plain, s.Address, seen}
	if s.Kind == "grpc" {
		serving, answers := grpc.NewServer(), health.NewServer()
		if s.Status != 200 {
			answers.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
		}
		grpc_health_v1.RegisterHealthServer(serving, answers)
		go serving.Serve(listener)
		return
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go s.answer(connection)
		}
	}()
}

// answer answers one request: from which address, or what the client named.
func (s roomServer) answer(connection net.Conn) {
	body := "from " + s.Address
	if s.Kind == "silent" {
		io.Copy(io.Discard, connection)
		return
	}
	var secured *tls.Conn
	if s.Kind == "tls" {
		secured = tls.Server(connection, tlsConfig("self-signed"))
		connection = secured
	}
	head, err := readHead(connection)
	if err != nil {
		connection.Close()
		return
	}
	if secured != nil {
		host := ""
		for _, field := range parseHead(head).Headers {
			if field[0] == "Host" {
				host = field[1]
			}
		}
		body = fmt.Sprintf("server name %q, host %q", secured.ConnectionState().ServerName, host)
	}
	fmt.Fprintf(connection, "HTTP/1.1 %d Room\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", s.Status, len(body), body)
	connection.Close()
}

// serveDNS answers every question with the vector's addresses.
func (r *room) serveDNS() {
	socket, err := net.ListenPacket("udp", "127.0.0.1:53")
	must(err)
	go func() {
		buffer := make([]byte, 512)
		for {
			n, peer, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			var asked dnsmessage.Message
			if asked.Unpack(buffer[:n]) != nil {
				continue
			}
			reply, delayMs := r.reply(&asked)
			time.AfterFunc(time.Duration(delayMs)*time.Millisecond, func() { socket.WriteTo(reply, peer) })
		}
	}()
}

func (r *room) reply(asked *dnsmessage.Message) ([]byte, int64) {
	question := asked.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: asked.ID, Response: true, RecursionDesired: true, RecursionAvailable: true},
		Questions: asked.Questions[:1],
	}
	add := func(body dnsmessage.ResourceBody) {
		header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: body})
	}
	delayMs := int64(0)
	switch question.Type {
	case dnsmessage.TypeA:
		for _, address := range r.DNS.A {
			add(&dnsmessage.AResource{A: [4]byte(net.ParseIP(address).To4())})
		}
	case dnsmessage.TypeAAAA:
		delayMs = r.DNS.AAAADelayMs
		for _, address := range r.DNS.AAAA {
			add(&dnsmessage.AAAAResource{AAAA: [16]byte(net.ParseIP(address).To16())})
		}
	}
	packed, err := reply.Pack()
	must(err)
	return packed, delayMs
}
