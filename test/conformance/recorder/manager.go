package recorder

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/ptr"
)

type managerOp struct {
	Op      string
	Pod     *pod
	PodUID  types.UID
	Phase   v1.PodPhase
	Seconds int64
	Desired []types.UID
}

// A managerPlayer is a prober manager whose pods run, and whose probes
// succeed at once.
type managerPlayer struct {
	agent    *agent
	clock    clock
	pods     map[types.UID]*v1.Pod
	statuses map[types.UID]v1.PodStatus
	ids      map[kubecontainer.ContainerID]bool
}

// managerUptime is how long the manager has run when a vector begins: longer
// than any period, so no worker waits for a random time.
const managerUptime = time.Hour

// recordManager plays which workers and results exist after each operation.
func recordManager(t *testing.T, v *vector) error {
	var given struct{ Ops []managerOp }
	if err := v.decode(&given); err != nil {
		return err
	}
	ops := v.items("ops")
	return inVirtualTime(t, func() {
		player := &managerPlayer{
			pods: map[types.UID]*v1.Pod{}, statuses: map[types.UID]v1.PodStatus{},
			ids: map[kubecontainer.ContainerID]bool{},
		}
		player.agent = newAgent(player.status, func(int) answer { return answer{result: probe.Success} })
		time.Sleep(managerUptime)
		player.clock = newClock(time.Now())
		for i, op := range given.Ops {
			player.apply(op)
			synctest.Wait()
			ops[i]["expect"] = player.seen()
		}
		player.agent.CleanupPods(nil)
		time.Sleep(stopTime)
	})
}

func (p *managerPlayer) status(uid types.UID) (v1.PodStatus, bool) {
	status, found := p.statuses[uid]
	return status, found
}

func (p *managerPlayer) apply(op managerOp) {
	known, isKnown := p.pods[op.PodUID]
	switch op.Op {
	case "addPod":
		p.addPod(*op.Pod)
	case "removePod":
		if isKnown {
			p.agent.RemovePod(known)
		}
	case "stopLivenessAndStartup":
		if isKnown {
			p.agent.StopLivenessAndStartup(known)
		}
	case "cleanupPods":
		desired := map[types.UID]sets.Empty{}
		for _, uid := range op.Desired {
			desired[uid] = sets.Empty{}
		}
		p.agent.CleanupPods(desired)
	case "setPhase":
		if status, found := p.statuses[op.PodUID]; found {
			status.Phase = op.Phase
			p.statuses[op.PodUID] = status
		}
	case "advance":
		time.Sleep(time.Duration(op.Seconds) * time.Second)
	default:
		panic(unplayable("unknown op " + op.Op))
	}
}

func (p *managerPlayer) addPod(given pod) {
	p.pods[given.UID] = given.object()
	p.statuses[given.UID] = v1.PodStatus{
		Phase:                 v1.PodRunning,
		InitContainerStatuses: p.running(given.UID, p.pods[given.UID].Spec.InitContainers),
		ContainerStatuses:     p.running(given.UID, p.pods[given.UID].Spec.Containers),
	}
	p.agent.AddPod(context.Background(), p.pods[given.UID])
}

func (p *managerPlayer) running(uid types.UID, containers []v1.Container) []v1.ContainerStatus {
	var given []containerStatus
	for _, each := range containers {
		id := "test://" + string(uid) + "-" + each.Name
		p.ids[containerID(id)] = true
		given = append(given, containerStatus{
			Name: each.Name, ContainerID: id, Started: ptr.To(each.StartupProbe == nil),
			State: state{Kind: "running", StartedAt: ptr.To(int64(0))},
		})
	}
	return statusObjects(given, p.clock)
}

func (p *managerPlayer) seen() map[string]any {
	workers := []string{}
	for _, each := range workersOf(p.agent.Manager) {
		workers = append(workers, each.path())
	}
	caches := map[string]map[string]string{}
	for probeType, each := range p.agent.caches {
		each.updates()
		caches[probeType] = map[string]string{}
		for id := range p.ids {
			if result, found := each.Get(id); found {
				caches[probeType][id.String()] = resultNames[result]
			}
		}
	}
	return map[string]any{"workers": workers, "caches": caches}
}
