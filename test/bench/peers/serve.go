package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// serve returns the ports by kind of probe. HTTPS offers HTTP/1.1 alone, and closes each connection.
func serve() (map[string]int, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	overTLS, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	secured := tls.NewListener(overTLS, &tls.Config{Certificates: []tls.Certificate{certificate}})
	server := &http.Server{Handler: http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		_, _ = response.Write([]byte("ok"))
	})}
	server.SetKeepAlivesEnabled(false)
	go func() { _ = server.Serve(secured) }()
	overGrpc, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	healthServer := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(healthServer, health.NewServer())
	go func() { _ = healthServer.Serve(overGrpc) }()
	return map[string]int{"https": portOf(overTLS), "grpc": portOf(overGrpc)}, nil
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
