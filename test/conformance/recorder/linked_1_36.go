//go:build !kubernetes1.38

package recorder

import (
	"context"
	"time"
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/allocation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/pleg"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
)

// Two functions of kubelet are neither exported nor called by anything
// exported that works without a node. The linker finds them by name and does
// not compare signatures, so a person has to: these are those of v1.36.3 and
// v1.37.2.

//go:linkname newPodWorkers k8s.io/kubernetes/pkg/kubelet.newPodWorkers
func newPodWorkers(
	syncer podSyncer, recorder record.EventRecorder, workQueue queue.WorkQueue, resyncInterval, backOffPeriod time.Duration,
	podCache kubecontainer.ROCache, allocationManager allocation.Manager,
) kubelet.PodWorkers

//go:linkname syncLoopIteration k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoopIteration
func syncLoopIteration(
	k *kubelet.Kubelet, ctx context.Context, configCh <-chan kubetypes.PodUpdate, handler kubelet.SyncHandler,
	syncCh <-chan time.Time, housekeepingCh <-chan time.Time, plegCh <-chan *pleg.PodLifecycleEvent,
) bool
