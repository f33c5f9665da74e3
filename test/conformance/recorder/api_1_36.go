//go:build !kubernetes1.37

package recorder

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/kubernetes/pkg/probe/grpc"
)

// What the exported API of v1.36 and before has in another form than later
// versions. The build tag kubernetes1.37 is set for v1.37 and every later
// minor.

func probeGRPC(host, service string, port int, timeout time.Duration) (probe.Result, string, error) {
	return grpc.New().Probe(host, service, port, timeout)
}

func (t grpcTransport) Probe(host, service string, port int, timeout time.Duration) (probe.Result, string, error) {
	return t.probe(host, service, port, timeout)
}

func (n *notifications) OnPodUpdated(pod *v1.Pod, _ v1.PodStatus, isAdded bool) {
	n.updated(pod, isAdded)
}

func (n *notifications) OnPodRemoved(pod *v1.Pod) { n.removed(pod) }
