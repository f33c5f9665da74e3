package recorder

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type grpcServer struct {
	Kind          string
	Statuses      map[string]string
	DelayMs       int64
	CodeNumber    *uint32
	Message       string
	AcceptDelayMs int64
}

type grpcRequest struct {
	Method   string      `json:"method"`
	Service  string      `json:"service"`
	Metadata [][2]string `json:"metadata"`
}

// A healthService answers as its vector says, and keeps what it was asked.
type healthService struct {
	grpc_health_v1.UnimplementedHealthServer
	given grpcServer
	mu    sync.Mutex
	seen  []grpcRequest
}

// recordWireGRPC plays a gRPC health probe against a real server.
func recordWireGRPC(_ *testing.T, v *vector) error {
	var given struct {
		Server      grpcServer
		Service     string
		TimeoutMs   int64
		ExpectAnyOf []any
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	health := &healthService{given: given.Server, seen: []grpcRequest{}}
	running := health.start()
	defer running.close()
	result, output, err := probeGRPC(loopback, given.Service, running.port, time.Duration(given.TimeoutMs)*time.Millisecond)
	health.mu.Lock()
	defer health.mu.Unlock()
	blank := func(text string) string { return strings.ReplaceAll(text, ":"+portText(running.port), ":{PORT}") }
	for i := range health.seen {
		for j := range health.seen[i].Metadata {
			health.seen[i].Metadata[j][1] = blank(health.seen[i].Metadata[j][1])
		}
	}
	v.recorded["expectAnyOf"] = anyOf(given.ExpectAnyOf, map[string]any{
		"result": result, "output": blank(output), "error": errorText(err), "requests": health.seen,
	})
	return nil
}

func (h *healthService) start() *server {
	switch h.given.Kind {
	case "grpc-health", "grpc-health-late-accept":
		return h.serve(grpc.NewServer(), true)
	case "grpc-health-tls":
		config := &tls.Config{Certificates: []tls.Certificate{certificate("self-signed")}}
		return h.serve(grpc.NewServer(grpc.Creds(credentials.NewTLS(config))), true)
	case "grpc-no-health-service":
		return h.serve(grpc.NewServer(), false)
	case "http1":
		return http1Server()
	default:
		return tcpServer(h.given.Kind, loopback)
	}
}

func (h *healthService) serve(serving *grpc.Server, hasHealth bool) *server {
	if hasHealth {
		grpc_health_v1.RegisterHealthServer(serving, h)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	must(err)
	delay := time.Duration(h.given.AcceptDelayMs) * time.Millisecond
	go serving.Serve(lateListener{listener, delay})
	s := &server{port: listener.Addr().(*net.TCPAddr).Port}
	s.onClose(serving.Stop)
	return s
}

// A lateListener accepts each connection after a delay.
type lateListener struct {
	net.Listener
	delay time.Duration
}

func (l lateListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	time.Sleep(l.delay)
	return connection, err
}

func http1Server() *server {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	must(err)
	// Without HTTP/2 with prior knowledge, which Go offers only on request.
	serving := &http.Server{Handler: http.NotFoundHandler()}
	go serving.Serve(listener)
	s := &server{port: listener.Addr().(*net.TCPAddr).Port}
	s.onClose(func() { serving.Close() })
	return s
}

func (h *healthService) Check(ctx context.Context, request *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	h.see(ctx, request.Service)
	select {
	case <-time.After(time.Duration(h.given.DelayMs) * time.Millisecond):
	case <-ctx.Done():
	}
	if h.given.CodeNumber != nil {
		return nil, status.Error(codes.Code(*h.given.CodeNumber), h.given.Message)
	}
	name, found := h.given.Statuses[request.Service]
	if !found {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	number, known := grpc_health_v1.HealthCheckResponse_ServingStatus_value[name]
	if !known {
		parsed, err := strconv.ParseInt(name, 10, 32)
		must(err)
		number = int32(parsed)
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_ServingStatus(number)}, nil
}

func (h *healthService) see(ctx context.Context, service string) {
	method, _ := grpc.Method(ctx)
	seen := grpcRequest{Method: method, Service: service, Metadata: [][2]string{}}
	fields, _ := metadata.FromIncomingContext(ctx)
	// Which compressors are offered depends on what else is linked.
	delete(fields, "grpc-accept-encoding")
	for name, values := range fields {
		for _, value := range values {
			seen.Metadata = append(seen.Metadata, [2]string{name, value})
		}
	}
	sort.SliceStable(seen.Metadata, func(i, j int) bool { return seen.Metadata[i][0] < seen.Metadata[j][0] })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, seen)
}
