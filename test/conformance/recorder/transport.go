package recorder

import (
	"context"
	"net/http"
	"sort"
	"time"

	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/exec"
)

// An answer is what the transport says to one attempt.
type answer struct {
	result probe.Result
	output string
	err    error
}

// A call is what the prober asked of the transport, in the vectors' words.
type call map[string]any

// A transport answers every attempt of a prober in place of its four probers.
type transport struct {
	// answer gives the answer to the attempt of this number, from 0.
	answer func(attempt int) answer
	calls  []call
	// command is the last call that an exec probe made of the runtime.
	command call
}

// use puts the transport in place of the manager's.
func (t *transport) use(manager prober.Manager) {
	setTransport(manager, "exec", execTransport{t})
	setTransport(manager, "http", httpTransport{t})
	setTransport(manager, "tcp", tcpTransport{t})
	setTransport(manager, "grpc", grpcTransport{t})
}

func (t *transport) ask(asked call) (probe.Result, string, error) {
	t.calls = append(t.calls, asked)
	given := t.answer(len(t.calls) - 1)
	return given.result, given.output, given.err
}

// RunInContainer takes down the command of an exec probe.
func (t *transport) RunInContainer(_ context.Context, _ kubecontainer.ContainerID, command []string, timeout time.Duration) ([]byte, error) {
	t.command = call{"kind": "exec", "command": command, "timeoutMs": timeout.Milliseconds()}
	return nil, nil
}

type execTransport struct{ *transport }

func (t execTransport) Probe(command exec.Cmd) (probe.Result, string, error) {
	// The prober's command is opaque until it runs.
	if _, err := command.CombinedOutput(); err != nil {
		return probe.Unknown, "", err
	}
	return t.ask(t.command)
}

type httpTransport struct{ *transport }

func (t httpTransport) Probe(request *http.Request, timeout time.Duration) (probe.Result, string, error) {
	headers := [][2]string{}
	for name, values := range request.Header {
		for _, value := range values {
			headers = append(headers, [2]string{name, value})
		}
	}
	sort.SliceStable(headers, func(i, j int) bool { return headers[i][0] < headers[j][0] })
	return t.ask(call{
		"kind": "httpGet", "url": request.URL.String(), "headers": headers, "hostOverride": request.Host,
		"timeoutMs": timeout.Milliseconds(),
	})
}

// ProbeH2C is part of the interface from v1.37 on.
func (t httpTransport) ProbeH2C(request *http.Request, timeout time.Duration) (probe.Result, string, error) {
	return t.Probe(request, timeout)
}

type tcpTransport struct{ *transport }

func (t tcpTransport) Probe(host string, port int, timeout time.Duration) (probe.Result, string, error) {
	return t.ask(call{"kind": "tcpSocket", "host": host, "port": port, "timeoutMs": timeout.Milliseconds()})
}

type grpcTransport struct{ *transport }

func (t grpcTransport) probe(host, service string, port int, timeout time.Duration) (probe.Result, string, error) {
	return t.ask(call{
		"kind": "grpc", "host": host, "port": port, "service": service, "timeoutMs": timeout.Milliseconds(),
	})
}
