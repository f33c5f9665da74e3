//go:build kubernetes1.38

package recorder

import (
	"context"
	"time"

	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/pleg"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
)

// The counterpart of linked_1_36.go. Once the signatures of this minor have
// been compared with those there, its build tag moves on to the next one.

func newPodWorkers(
	podSyncer, record.EventRecorder, queue.WorkQueue, time.Duration, time.Duration, kubecontainer.ROCache, allocation.Manager,
) kubelet.PodWorkers {
	panic(unplayable("the pod workers of this minor have not been looked at: linked_1_36.go"))
}

func syncLoopIteration(
	*kubelet.Kubelet, context.Context, <-chan kubetypes.PodUpdate, kubelet.SyncHandler, <-chan time.Time, <-chan time.Time,
	<-chan *pleg.PodLifecycleEvent,
) bool {
	return false
}
