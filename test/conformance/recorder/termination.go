package recorder

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/ptr"
)

// A probedContainer is a container whose probes have their own thresholds.
type probedContainer struct {
	container
	Probes map[string]struct {
		InitialDelaySeconds, SuccessThreshold, FailureThreshold int32
	} `json:"probes"`
}

type terminationOp struct {
	Op, Container, ProbeType, Result string
	ExitCode                         int
	GracePeriodSeconds               int64
	// Seconds is how long to wait before looking.
	Seconds int64
}

type terminationVector struct {
	RestartPolicy                 v1.RestartPolicy
	TerminationGracePeriodSeconds int64
	InitContainers, Containers    []probedContainer
	Ops                           []terminationOp
}

// A terminationPlayer is a node whose pod is run, probed and deleted.
type terminationPlayer struct {
	*node
	answers *portAnswers
	// ids are the current containers by name.
	ids map[string]kubecontainer.ContainerID
	// begun is how many containers have run.
	begun int
	// verdicts are the results that probes gave the current containers.
	mutex    sync.Mutex
	verdicts map[string]string
}

// recordTermination plays what becomes of a pod that is deleted.
func recordTermination(t *testing.T, v *vector) error {
	var given terminationVector
	if err := v.decode(&given); err != nil {
		return err
	}
	ops, rootFolder := v.items("ops"), t.TempDir()
	return inVirtualTime(t, func() {
		player := newTerminationPlayer(given, rootFolder)
		for i, op := range given.Ops {
			player.apply(op)
			if op.Op == "end" {
				player.pass(endSeconds)
				player.answers.forget()
			}
			player.pass(op.Seconds)
			ops[i]["expect"] = player.seen()
		}
		player.close()
	})
}

// endSeconds is how long probes that begin after the end of a container are
// not looked at: whoever reports the end needs some time.
const endSeconds = 3

func newTerminationPlayer(given terminationVector, rootFolder string) *terminationPlayer {
	answers := &portAnswers{paths: []string{}, results: map[string]probe.Result{}}
	made := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, UID: "uid"},
		Spec: v1.PodSpec{
			RestartPolicy:                 given.RestartPolicy,
			TerminationGracePeriodSeconds: &given.TerminationGracePeriodSeconds,
			InitContainers:                answers.objects(given.InitContainers),
			Containers:                    answers.objects(given.Containers),
		},
	}
	player := &terminationPlayer{
		node: newNode(made, answers, rootFolder), answers: answers, ids: map[string]kubecontainer.ContainerID{},
		verdicts: map[string]string{},
	}
	for probeType, each := range player.results {
		each.onSet = func(id kubecontainer.ContainerID, result results.Result) { player.keepVerdict(probeType, id, result) }
	}
	// Longer than any period, so no worker waits for a random time.
	time.Sleep(managerUptime)
	player.send(kubetypes.ADD)
	return player
}

func (p *terminationPlayer) apply(op terminationOp) {
	p.answers.forget()
	switch op.Op {
	case "run":
		p.begun++
		id := containerID(fmt.Sprintf("test://%s-%d", op.Container, p.begun))
		p.replace(op.Container, id)
		p.runtime.run(op.Container, id)
		p.change()
	case "end":
		p.answers.refuse(op.Container)
		p.runtime.end(op.Container, op.ExitCode)
		p.change()
	case "answer":
		p.answers.set(op.Container+"/"+op.ProbeType, probe.Result(op.Result))
	case "delete":
		p.delete(op.GracePeriodSeconds)
	case "wait":
	default:
		panic(unplayable("unknown op " + op.Op))
	}
}

// replace has another container under this name, of which no probe has said
// anything.
func (p *terminationPlayer) replace(name string, id kubecontainer.ContainerID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.ids[name] = id
	for _, probeType := range probeTypes {
		delete(p.verdicts, name+"/"+probeType)
	}
}

// delete does to kubelet's copy of the pod what its source of pods does: that
// has the changed fields set in the same object, which the workers hold too
// (pkg/kubelet/config). Without a grace period the API server forgets the pod
// at once, and kubelet learns that it is gone.
func (p *terminationPlayer) delete(graceSeconds int64) {
	if graceSeconds == 0 {
		p.send(kubetypes.REMOVE)
		return
	}
	p.pod.DeletionTimestamp = ptr.To(metav1.NewTime(time.Now().Add(time.Duration(graceSeconds) * time.Second)))
	p.pod.DeletionGracePeriodSeconds = &graceSeconds
	p.send(kubetypes.DELETE)
}

// keepVerdict keeps a result if a probe gave it. A probe takes no time here, so
// one that was not asked in this moment gave none: the result is a worker's
// initial value, or what it says of a container that is not probed any more.
func (p *terminationPlayer) keepVerdict(probeType string, id kubecontainer.ContainerID, result results.Result) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for name, current := range p.ids {
		path := name + "/" + probeType
		if current == id && p.answers.isAskedNow(path) {
			p.verdicts[path] = resultNames[result]
		}
	}
}

// seen is what a vector expects after an operation.
func (p *terminationPlayer) seen() map[string]any {
	synctest.Wait()
	cached := map[string]string{}
	for name, id := range p.ids {
		for probeType, each := range p.results {
			if result, found := each.Get(id); found {
				cached[name+"/"+probeType] = resultNames[result]
			}
		}
	}
	object, _ := p.statuses.GetPodStatus(p.pod.UID)
	return map[string]any{
		"probed":  append([]string{}, slices.Sorted(maps.Keys(p.answers.asked))...),
		"results": cached, "verdicts": maps.Clone(p.verdicts),
		"conditions": shownConditions(object.Conditions),
		"containers": append(shownContainers(object.InitContainerStatuses), shownContainers(object.ContainerStatuses)...),
		"grace":      append([]int64{}, p.runtime.grace...), "ended": p.workers.IsPodKnownTerminated(p.pod.UID),
	}
}

func shownConditions(given []v1.PodCondition) []condition {
	shown := []condition{}
	for _, each := range given {
		switch each.Type {
		case v1.PodInitialized, v1.PodReady, v1.ContainersReady:
			shown = append(shown, condition{Type: each.Type, Status: each.Status, Reason: each.Reason, Message: each.Message})
		}
	}
	return shown
}

func shownContainers(given []v1.ContainerStatus) []map[string]any {
	shown := []map[string]any{}
	for _, each := range given {
		shown = append(shown, map[string]any{"name": each.Name, "ready": each.Ready, "started": ptr.Deref(each.Started, false)})
	}
	return shown
}

// portAnswers answer TCP probes. Each probe has a port of its own.
type portAnswers struct {
	mutex sync.Mutex
	// paths are the probes, as container/type, by port.
	paths   []string
	results map[string]probe.Result
	// asked is when each probe was made last, if it was since the operation.
	asked map[string]time.Time
}

func (a *portAnswers) set(path string, result probe.Result) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.results[path] = result
}

// forget forgets which probes were made.
func (a *portAnswers) forget() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.asked = map[string]time.Time{}
}

// refuse fails all probes of a container that has ended.
func (a *portAnswers) refuse(container string) {
	for _, path := range a.paths {
		if strings.HasPrefix(path, container+"/") {
			a.set(path, probe.Failure)
		}
	}
}

func (a *portAnswers) isAskedNow(path string) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	asked, found := a.asked[path]
	return found && asked.Equal(time.Now())
}

// Probe answers as the vector says, with success if it says nothing.
func (a *portAnswers) Probe(_ string, port int, _ time.Duration) (probe.Result, string, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	path := a.paths[port-1]
	a.asked[path] = time.Now()
	if result, found := a.results[path]; found {
		return result, "", nil
	}
	return probe.Success, "", nil
}

func (a *portAnswers) objects(given []probedContainer) []v1.Container {
	var objects []v1.Container
	for _, each := range given {
		object := each.container.object()
		for _, probeType := range slices.Sorted(maps.Keys(each.Probes)) {
			a.paths = append(a.paths, each.Name+"/"+probeType)
			said := each.Probes[probeType]
			setProbe(&object, probeType, &v1.Probe{
				ProbeHandler:        v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt(len(a.paths)), Host: "127.0.0.1"}},
				InitialDelaySeconds: said.InitialDelaySeconds, TimeoutSeconds: 1, PeriodSeconds: 1,
				SuccessThreshold: max(1, said.SuccessThreshold), FailureThreshold: max(1, said.FailureThreshold),
			})
		}
		objects = append(objects, object)
	}
	return objects
}
