package recorder

import (
	"context"
	"reflect"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubepod "k8s.io/kubernetes/pkg/kubelet/pod"
	"k8s.io/kubernetes/pkg/kubelet/podcertificate"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubelet/userns"
	kubeutil "k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/kubernetes/pkg/kubelet/util/queue"
	"k8s.io/kubernetes/pkg/kubelet/volumemanager"
	kubeclock "k8s.io/utils/clock"
)

// kubeletParts are a kubelet and its parts that the recorder asks. Real are
// the sync loop, the pod workers, the managers of pods, statuses, probes and
// allocations, and the caches. There are no volumes, cgroups or images.
type kubeletParts struct {
	kubelet  *kubelet.Kubelet
	workers  kubelet.PodWorkers
	statuses status.Manager
	probes   prober.Manager
	cache    kubecontainer.Cache
	// results are the caches by probe type.
	results map[string]*cache
}

const (
	// As kubelet sets them by default.
	resyncInterval = time.Minute
	backOffPeriod  = 10 * time.Second
)

func newKubeletParts(runtime kubecontainer.Runtime, rootFolder string) kubeletParts {
	k := &kubelet.Kubelet{}
	parts := kubeletParts{kubelet: k, cache: kubecontainer.NewCache(), results: map[string]*cache{}}
	for _, probeType := range probeTypes {
		parts.results[probeType] = newCache()
	}
	// Without a channel it drops what it is given.
	recorder := &record.FakeRecorder{}
	pods := kubepod.NewBasicPodManager()
	parts.statuses = status.NewManager(fake.NewSimpleClientset(), pods, anyContainers{}, kubeutil.NewPodStartupLatencyTracker())
	parts.probes = prober.NewManager(
		parts.statuses, parts.results["liveness"], parts.results["readiness"], parts.results["startup"], nil, recorder,
	)
	ready := config.NewSourcesReady(func(sets.Set[string]) bool { return true })
	allocations := newAllocations(k, parts.statuses, pods, ready, recorder)
	work := queue.NewBasicWorkQueue(kubeclock.RealClock{})
	parts.workers = newPodWorkers(k, recorder, work, resyncInterval, backOffPeriod, parts.cache, allocations)
	for name, part := range map[string]any{
		"podManager": pods, "statusManager": parts.statuses, "probeManager": parts.probes, "podWorkers": parts.workers,
		"livenessManager": parts.results["liveness"], "readinessManager": parts.results["readiness"],
		"startupManager": parts.results["startup"], "podCache": parts.cache, "workQueue": work,
		"allocationManager": allocations, "containerRuntime": runtime, "sourcesReady": ready, "recorder": recorder,
		"clock": kubeclock.RealClock{}, "reasonCache": kubelet.NewReasonCache(), "rootDirectory": rootFolder,
		"containerManager":      cm.NewFakeContainerManagerWithNodeConfig(cm.NodeConfig{}),
		"volumeManager":         volumemanager.NewFakeVolumeManager(nil, 0, nil, false),
		"podCertificateManager": &podcertificate.NoOpManager{}, "usernsManager": &userns.UsernsManager{},
		"tracer": noop.NewTracerProvider().Tracer(""),
	} {
		field(reflect.ValueOf(k), name).Set(reflect.ValueOf(part))
	}
	runtimeState := field(reflect.ValueOf(k), "runtimeState")
	runtimeState.Set(reflect.New(runtimeState.Type().Elem()))
	return parts
}

// anyContainers tells the status manager that a pod may have containers.
type anyContainers struct{}

// PodCouldHaveRunningContainers is asked before a pod is deleted in the API
// server, which no vector here does.
func (anyContainers) PodCouldHaveRunningContainers(*v1.Pod) bool { return true }

// A podSyncer is what pod workers call: a kubelet.
type podSyncer interface {
	SyncPod(ctx context.Context, updateType kubetypes.SyncPodType, pod, mirrorPod *v1.Pod, podStatus *kubecontainer.PodStatus) (bool, func(), error)
	SyncTerminatingPod(ctx context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus, gracePeriod *int64, podStatusFn func(*v1.PodStatus)) error
	SyncTerminatingRuntimePod(ctx context.Context, runningPod *kubecontainer.Pod) error
	SyncTerminatedPod(ctx context.Context, pod *v1.Pod, podStatus *kubecontainer.PodStatus) error
}
