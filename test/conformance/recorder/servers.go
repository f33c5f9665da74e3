package recorder

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A server is what a probe finds at its port. Real sockets on loopback,
// nothing is faked.
type server struct {
	port   int
	closed sync.Once
	mu     sync.Mutex
	ends   []func()
	isOver bool
}

// onClose has end run when the server closes, at once if it has.
func (s *server) onClose(end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		end()
		return
	}
	s.ends = append(s.ends, end)
}

// close ends the listener and every connection.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isOver = true
	for _, end := range s.ends {
		end()
	}
	s.ends = nil
}

// listen serves each connection of a free port.
func listen(host string, serve func(connection *net.TCPConn)) *server {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	must(err)
	s := &server{port: listener.Addr().(*net.TCPAddr).Port}
	s.onClose(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.onClose(func() { connection.Close() })
			go serve(connection.(*net.TCPConn))
		}
	}()
	return s
}

// tcpServer starts a listener that misbehaves below any protocol.
func tcpServer(kind, host string) *server {
	switch kind {
	case "closed":
		return closedPort(host)
	case "accept-silent":
		return listen(host, func(connection *net.TCPConn) { io.Copy(io.Discard, connection) })
	case "accept-close":
		return listen(host, func(connection *net.TCPConn) { connection.Close() })
	case "accept-writes":
		return listen(host, func(connection *net.TCPConn) {
			connection.Write([]byte("hello\r\n"))
			connection.CloseWrite()
		})
	case "never-accept":
		return deafServer(host, roomyBacklog)
	case "backlog-full":
		s := deafServer(host, tightBacklog)
		// The kernel queues one connection more than the backlog.
		for range tightBacklog + 1 {
			s.dial(host)
		}
		return s
	default:
		panic(unplayable("unknown server " + kind))
	}
}

const (
	roomyBacklog = 16
	tightBacklog = 1
)

// closedPort is the client's port of a connection: nothing listens there, and
// while the connection lasts it is given to nothing else.
func closedPort(host string) *server {
	s := listen(host, func(*net.TCPConn) {})
	s.port = s.dial(host)
	return s
}

// dial connects to the server until it closes and returns the client's port.
func (s *server) dial(host string) int {
	connection, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(s.port)))
	must(err)
	s.onClose(func() { connection.Close() })
	return connection.LocalAddr().(*net.TCPAddr).Port
}

// deafServer listens and never accepts.
func deafServer(host string, backlog int) *server {
	family, address := syscall.AF_INET, syscall.Sockaddr(&syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if host == "::1" {
		family, address = syscall.AF_INET6, &syscall.SockaddrInet6{Addr: [16]byte{15: 1}}
	}
	socket, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	must(err)
	s := &server{}
	s.onClose(func() { syscall.Close(socket) })
	must(syscall.Bind(socket, address))
	must(syscall.Listen(socket, backlog))
	bound, err := syscall.Getsockname(socket)
	must(err)
	switch at := bound.(type) {
	case *syscall.SockaddrInet4:
		s.port = at.Port
	case *syscall.SockaddrInet6:
		s.port = at.Port
	}
	return s
}

var certificates sync.Map

// certificate makes a self-signed certificate: self-signed, expired or
// wrong-name.
func certificate(kind string) tls.Certificate {
	if made, found := certificates.Load(kind); found {
		return made.(tls.Certificate)
	}
	name, notAfter := "localhost", time.Now().AddDate(1, 0, 0)
	switch kind {
	case "self-signed":
	case "expired":
		notAfter = time.Now().AddDate(0, 0, -1)
	case "wrong-name":
		name = "elsewhere.test"
	default:
		panic(unplayable("unknown certificate " + kind))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: notAfter.AddDate(-2, 0, 0), NotAfter: notAfter,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	made := tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key}
	certificates.Store(kind, made)
	return made
}

// tlsConfig gives the server's side of the vectors' kinds of TLS.
func tlsConfig(kind string) *tls.Config {
	var version uint16
	switch kind {
	case "tls1.2-only":
		version, kind = tls.VersionTLS12, "self-signed"
	case "tls1.0-only":
		version, kind = tls.VersionTLS10, "self-signed"
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate(kind)}, MinVersion: version, MaxVersion: version}
}

// portText is a port as the vectors' texts contain it.
func portText(port int) string { return fmt.Sprint(port) }
