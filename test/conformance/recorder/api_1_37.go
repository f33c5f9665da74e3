//go:build kubernetes1.37

package recorder

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/status"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/kubernetes/pkg/probe/grpc"
)

// The counterpart of api_1_36.go.

func probeGRPC(host, service string, port int, timeout time.Duration) (probe.Result, string, error) {
	return grpc.New().Probe(host, service, port, timeout, grpc.ProbeOptions{})
}

func (t grpcTransport) Probe(host, service string, port int, timeout time.Duration, _ grpc.ProbeOptions) (probe.Result, string, error) {
	return t.probe(host, service, port, timeout)
}

func (n *notifications) OnPodUpdated(_ klog.Logger, pod *v1.Pod, _ v1.PodStatus, isAdded bool) {
	n.updated(pod, isAdded)
}

func (n *notifications) OnPodRemoved(_ klog.Logger, pod *v1.Pod) { n.removed(pod) }

func newAllocations(
	k *kubelet.Kubelet, statuses status.Manager, pods kubepod.Manager, ready config.SourcesReady, recorder record.EventRecorderLogger,
) allocation.Manager {
	sync := func(ctx context.Context, pod *v1.Pod) { k.HandlePodSyncs(ctx, []*v1.Pod{pod}) }
	return allocation.NewInMemoryManager(klog.Background(), statuses, sync, k.GetActivePods, pods.GetPodByUID, ready, recorder)
}

// UpdateActuatedPodLevelResources has nothing to do.
func (r *scriptedRuntime) UpdateActuatedPodLevelResources(klog.Logger, *v1.Pod) error { return nil }
