package recorder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/ptr"
)

type workerVector struct {
	ProbeType string
	Spec      struct {
		InitialDelaySeconds, SuccessThreshold, FailureThreshold int32
		TerminationGracePeriodSeconds                           *int64
	}
	ContainerKind          string
	RestartPolicy          v1.RestartPolicy
	ContainerRestartPolicy string
	RestartPolicyRules     []restartRule
	KubeletStart           int64
	Gates                  map[string]bool
	Steps                  []workerStep
}

type workerStep struct {
	At  int64
	Pod struct {
		StatusKnown, DeletionTimestampSet, AllContainersRestarting bool

		Phase     v1.PodPhase
		Container struct {
			Present            bool
			ContainerID, State string
			StartedAt          *int64
			ExitCode           *int32
			Started            *bool
		}
	}
	Probe struct {
		Result string
		Error  bool
	}
}

// A workerPlayer steps one worker through a vector. The worker asks for the
// pod's status at the beginning of each probe. There it is held until the next
// step is due, and there the last step is recorded.
type workerPlayer struct {
	*workerVector
	clock    clock
	pod      *v1.Pod
	agent    *agent
	worker   worker
	ids      map[kubecontainer.ContainerID]bool
	recorded []map[string]any
	// begun is how many steps have begun. All but the last one are recorded.
	begun int
	// atRemoval is what was seen before the last removal from the cache.
	atRemoval map[string]any
	err       error
}

const targetName = "target"

// recordWorker plays one worker's probes, one by one.
func recordWorker(t *testing.T, v *vector) error {
	given := &workerVector{}
	if err := v.decode(given); err != nil {
		return err
	}
	defer setGates(given.Gates)()
	player := &workerPlayer{
		workerVector: given, recorded: v.items("steps"), ids: map[kubecontainer.ContainerID]bool{},
	}
	if err := inVirtualTime(t, player.play); err != nil {
		return err
	}
	return player.err
}

// restartGraceSeconds is how long before the agent's start a container must
// have started to count as older than the agent.
const restartGraceSeconds = 10

func (p *workerPlayer) play() {
	// The worker probes once a second, so where a vector has several probes
	// in one second its clock is stretched. The rules read whole seconds since
	// the container's start, and compare that start with the agent's less a
	// grace. Both come out the same when all but the grace is stretched.
	p.clock.ticksPerSecond = p.stepsPerSecondMax()
	start := (p.KubeletStart-restartGraceSeconds)*p.clock.ticksPerSecond + restartGraceSeconds
	p.clock.origin = time.Now().Add(-time.Duration(start) * time.Second)
	p.agent = newAgent(p.status, p.answer)
	p.cache().beforeRemove = func() { p.atRemoval = p.seen() }
	p.pod = p.newPod()
	p.agent.AddPod(context.Background(), p.pod)
	p.worker = workersOf(p.agent.Manager)[0]
	for p.begun <= len(p.Steps) && p.err == nil && time.Now().Before(p.end()) {
		time.Sleep(time.Second)
		synctest.Wait()
		if len(workersOf(p.agent.Manager)) == 0 {
			p.ended()
			return
		}
	}
	if p.err == nil && p.begun <= len(p.Steps) {
		p.err = errors.New("the worker stopped probing")
	}
	p.agent.CleanupPods(nil)
	time.Sleep(stopTime)
}

// stopTime is longer than a worker takes to stop.
const stopTime = time.Minute

// end is when every step must be over: the worker probes once a second.
func (p *workerPlayer) end() time.Time {
	return p.clock.at(p.Steps[len(p.Steps)-1].At + 1).Add(stopTime)
}

func (p *workerPlayer) stepsPerSecondMax() int64 {
	counts, most := map[int64]int64{}, int64(1)
	for _, step := range p.Steps {
		counts[step.At]++
		most = max(most, counts[step.At])
	}
	return most
}

func (p *workerPlayer) cache() *cache { return p.agent.caches[p.ProbeType] }

// newPod has the container among the ordinary ones, so that AddPod makes a
// worker; placeContainer then moves it.
func (p *workerPlayer) newPod() *v1.Pod {
	object := v1.Container{Name: targetName, RestartPolicyRules: restartRules(p.RestartPolicyRules)}
	if p.ContainerRestartPolicy != "" {
		object.RestartPolicy = ptr.To(v1.ContainerRestartPolicy(p.ContainerRestartPolicy))
	}
	setProbe(&object, p.ProbeType, &v1.Probe{
		ProbeHandler:                  v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}},
		InitialDelaySeconds:           p.Spec.InitialDelaySeconds * int32(p.clock.ticksPerSecond),
		TimeoutSeconds:                1,
		PeriodSeconds:                 1,
		SuccessThreshold:              p.Spec.SuccessThreshold,
		FailureThreshold:              p.Spec.FailureThreshold,
		TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
	})
	made := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, UID: "uid"},
		Spec:       v1.PodSpec{RestartPolicy: p.RestartPolicy},
	}
	if p.ContainerKind == "restartableInit" {
		object.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		made.Spec.InitContainers = []v1.Container{object}
	} else {
		made.Spec.Containers = []v1.Container{object}
	}
	return made
}

// placeContainer gives an ordinary init container its place. AddPod makes no
// worker for one, but the worker's rules tell one from others.
func (p *workerPlayer) placeContainer() {
	if p.ContainerKind == "init" && len(p.pod.Spec.Containers) > 0 {
		p.pod.Spec.InitContainers, p.pod.Spec.Containers = p.pod.Spec.Containers, nil
	}
}

// status begins the next step, when it is due. It runs in the worker.
func (p *workerPlayer) status(types.UID) (v1.PodStatus, bool) {
	p.placeContainer()
	if p.begun > 0 && p.begun <= len(p.Steps) {
		p.record(p.seen(), true)
	}
	p.begun++
	if p.begun > len(p.Steps) {
		return v1.PodStatus{}, false
	}
	step := p.Steps[p.begun-1]
	time.Sleep(time.Until(p.clock.at(step.At)))
	if !time.Now().Before(p.clock.at(step.At + 1)) {
		p.err = errors.New("the worker probed too late")
	}
	return p.statusOf(step), step.Pod.StatusKnown
}

func (p *workerPlayer) statusOf(step workerStep) v1.PodStatus {
	p.agent.transport.calls = nil
	p.pod.DeletionTimestamp = nil
	if step.Pod.DeletionTimestampSet {
		p.pod.DeletionTimestamp = ptr.To(metav1.Now())
	}
	object := v1.PodStatus{Phase: step.Pod.Phase}
	if step.Pod.AllContainersRestarting {
		object.Conditions = []v1.PodCondition{{Type: v1.AllContainersRestarting, Status: v1.ConditionTrue}}
	}
	given := step.Pod.Container
	if !given.Present {
		return object
	}
	p.ids[containerID(given.ContainerID)] = true
	statuses := statusObjects([]containerStatus{{
		Name: targetName, ContainerID: given.ContainerID, Started: given.Started,
		State: state{Kind: given.State, StartedAt: given.StartedAt, ExitCode: given.ExitCode},
	}}, p.clock)
	if p.ContainerKind == "container" {
		object.ContainerStatuses = statuses
	} else {
		object.InitContainerStatuses = statuses
	}
	return object
}

func (p *workerPlayer) answer(int) answer {
	given := p.Steps[p.begun-1].Probe
	if given.Error {
		return answer{result: probe.Unknown, err: errors.New("probe error")}
	}
	return answer{result: probe.Result(given.Result)}
}

// ended records the step that ended the worker. A worker that knows a
// container then removes its result; the step is over just before.
func (p *workerPlayer) ended() {
	seen := p.atRemoval
	if p.currentID() == (kubecontainer.ContainerID{}) {
		seen = p.seen()
	}
	p.record(seen, false)
	if p.begun < len(p.Steps) {
		// The vector goes on where the worker has ended.
		p.recorded[p.begun]["expect"] = nil
	}
}

func (p *workerPlayer) record(seen map[string]any, keepGoing bool) {
	updates := encodeUpdates(p.cache().updates(), false)
	seen["keepGoing"], seen["updates"] = keepGoing, updates
	p.recorded[p.begun-1]["expect"] = seen
}

func (p *workerPlayer) currentID() kubecontainer.ContainerID {
	return field(p.worker.fields, "containerID").Interface().(kubecontainer.ContainerID)
}

// seen is what a vector expects after a step, but for what record adds.
func (p *workerPlayer) seen() map[string]any {
	var cached any
	if result, found := p.cache().Get(p.currentID()); found {
		cached = resultNames[result]
	}
	size := 0
	for id := range p.ids {
		if _, found := p.cache().Get(id); found {
			size++
		}
	}
	attempts := len(p.agent.transport.calls)
	last := field(p.worker.fields, "lastResult").Interface().(results.Result)
	return map[string]any{
		"probed": attempts > 0, "attempts": attempts, "cached": cached, "cacheSize": size,
		"onHold": field(p.worker.fields, "onHold").Bool(), "lastResult": resultNames[last],
		"resultRun": field(p.worker.fields, "resultRun").Int(),
	}
}
