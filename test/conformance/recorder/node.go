package recorder

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/pleg"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

// A node is kubelet's own sync loop, pod workers, status manager and prober
// manager, with one pod. The vector decides what the containers do.
type node struct {
	kubeletParts
	pod     *v1.Pod
	runtime *scriptedRuntime
	updates chan kubetypes.PodUpdate
	changes chan *pleg.PodLifecycleEvent
	ticks   chan time.Time
	done    chan struct{}
	// isKnown: the pod has been given to the sync loop.
	isKnown bool
}

// newNode starts a node for the pod. It has to be closed.
func newNode(pod *v1.Pod, tcp any, rootFolder string) *node {
	n := &node{
		pod: pod, runtime: &scriptedRuntime{pod: pod, containers: map[string]*kubecontainer.Status{}, changed: make(chan struct{}, 1)},
		updates: make(chan kubetypes.PodUpdate), changes: make(chan *pleg.PodLifecycleEvent),
		ticks: make(chan time.Time), done: make(chan struct{}),
	}
	n.kubeletParts = newKubeletParts(n.runtime, rootFolder)
	setTransport(n.probes, "tcp", tcp)
	go func() {
		defer close(n.done)
		ctx := context.Background()
		for syncLoopIteration(n.kubelet, ctx, n.updates, n.kubelet, n.ticks, nil, n.changes) {
		}
	}()
	return n
}

// send gives the pod to the sync loop, as its source of pods does.
func (n *node) send(operation kubetypes.PodOperation) {
	n.updates <- kubetypes.PodUpdate{Pods: []*v1.Pod{n.pod}, Op: operation, Source: kubetypes.ApiserverSource}
	n.isKnown = true
	n.relist()
}

// relist shows kubelet what the runtime has. A pod worker goes on only with
// what was seen after its last step.
func (n *node) relist() {
	synctest.Wait()
	time.Sleep(time.Millisecond)
	n.cache.Set(n.pod.UID, n.runtime.status(), nil, time.Now())
	synctest.Wait()
}

// change shows kubelet a change of the containers and has it look at the pod.
func (n *node) change() {
	n.relist()
	n.changes <- &pleg.PodLifecycleEvent{ID: n.pod.UID, Type: pleg.PodSync}
	n.relist()
}

// pass lets time pass. Each second kubelet lists the containers and looks for
// pods that are due.
func (n *node) pass(seconds int64) {
	for range seconds {
		time.Sleep(time.Second - 2*time.Millisecond)
		n.relist()
		n.ticks <- time.Now()
		n.relist()
	}
}

// close lets the pod end with everything that runs for it.
func (n *node) close() {
	if n.isKnown {
		n.runtime.endAll()
		n.send(kubetypes.REMOVE)
		n.pass(closingSeconds)
	}
	close(n.updates)
	<-n.done
	n.probes.CleanupPods(nil)
	time.Sleep(stopTime)
}

// closingSeconds is longer than a pod worker takes to end a pod whose
// containers have ended.
const closingSeconds = 5

// A scriptedRuntime is a container runtime whose containers run and end by the
// vector's operations alone.
type scriptedRuntime struct {
	// The methods that kubelet does not need here are missing.
	kubecontainer.Runtime
	pod        *v1.Pod
	mutex      sync.Mutex
	containers map[string]*kubecontainer.Status
	// changed has an item when a container has changed.
	changed chan struct{}
	// grace is with how many seconds kubelet has told it to kill the pod.
	grace []int64
}

func (r *scriptedRuntime) set(given kubecontainer.Status) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.containers[given.Name] = &given
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *scriptedRuntime) run(name string, id kubecontainer.ContainerID) {
	r.set(kubecontainer.Status{
		ID: id, Name: name, State: kubecontainer.ContainerStateRunning, CreatedAt: time.Now(), StartedAt: time.Now(),
	})
}

func (r *scriptedRuntime) end(name string, exitCode int) {
	ended := *r.containers[name]
	ended.State, ended.ExitCode, ended.FinishedAt = kubecontainer.ContainerStateExited, exitCode, time.Now()
	r.set(ended)
}

func (r *scriptedRuntime) endAll() {
	for _, each := range r.status().ContainerStatuses {
		if each.State == kubecontainer.ContainerStateRunning {
			r.end(each.Name, killedExitCode)
		}
	}
}

const killedExitCode = 137

func (r *scriptedRuntime) status() *kubecontainer.PodStatus {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	status := &kubecontainer.PodStatus{
		ID: r.pod.UID, Name: r.pod.Name, Namespace: r.pod.Namespace, IPs: []string{"127.0.0.1"}, TimeStamp: time.Now(),
	}
	for _, name := range slices.Sorted(maps.Keys(r.containers)) {
		copied := *r.containers[name]
		status.ContainerStatuses = append(status.ContainerStatuses, &copied)
	}
	return status
}

func (r *scriptedRuntime) isRunning() bool {
	return slices.ContainsFunc(r.status().ContainerStatuses, func(each *kubecontainer.Status) bool {
		return each.State == kubecontainer.ContainerStateRunning
	})
}

// Type names the runtime.
func (r *scriptedRuntime) Type() string { return "test" }

// GetPod finds the pod.
func (r *scriptedRuntime) GetPod(context.Context, types.UID) (*kubecontainer.Pod, error) {
	return &kubecontainer.Pod{ID: r.pod.UID, Name: r.pod.Name, Namespace: r.pod.Namespace}, nil
}

// GetPodStatus tells what the containers do.
func (r *scriptedRuntime) GetPodStatus(context.Context, *kubecontainer.Pod) (*kubecontainer.PodStatus, error) {
	return r.status(), nil
}

// SyncPod starts and restarts no container: the vector does.
func (r *scriptedRuntime) SyncPod(context.Context, *v1.Pod, *kubecontainer.PodStatus, []v1.Secret, *flowcontrol.Backoff, bool) kubecontainer.PodSyncResult {
	return kubecontainer.PodSyncResult{}
}

// KillPod waits until every container has ended, or until it is told not to.
func (r *scriptedRuntime) KillPod(ctx context.Context, _ *v1.Pod, _ kubecontainer.Pod, grace *int64) error {
	r.grace = append(r.grace, *grace)
	for r.isRunning() {
		select {
		case <-r.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// IsPodResizeInProgress: no pod is resized.
func (r *scriptedRuntime) IsPodResizeInProgress(*v1.Pod, *kubecontainer.PodStatus) bool { return false }
