package recorder

import (
	"strings"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/probe/tcp"
)

// recordWireTCP plays a TCP probe against a real socket.
func recordWireTCP(_ *testing.T, v *vector) error {
	var given struct {
		Server, Host string
		Port         int
		TimeoutMs    int64
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	port := given.Port
	if port == 0 {
		running := tcpServer(strings.TrimSuffix(given.Server, "-ipv6"), given.Host)
		defer running.close()
		port = running.port
	}
	result, output, err := tcp.New().Probe(given.Host, port, time.Duration(given.TimeoutMs)*time.Millisecond)
	if given.Port == 0 {
		output = strings.ReplaceAll(output, portText(port), "{PORT}")
	}
	v.recorded["expect"] = map[string]any{"result": result, "output": output, "error": errorText(err)}
	return nil
}

// errorText is null when there is no error.
func errorText(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}
