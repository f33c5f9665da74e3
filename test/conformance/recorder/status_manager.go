package recorder

import (
	"context"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	kubeutil "k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/utils/ptr"
)

type statusOp struct {
	Op                         string
	PodUID                     types.UID
	Status                     podStatus
	ContainerID                string
	Ready, Started             bool
	PodUIDs                    []types.UID
	Seconds                    int64
	All                        bool
	CouldHaveRunningContainers bool
}

// A statusPlayer is a status manager between a pod manager and an API server.
//
// The manager writes statuses back in the loops that Start begins: a loop
// makes a batch of what is new when an update is queued, and a full pass at
// each tick of its ticker. A batch begins by asking the pod manager for its
// translations of UIDs. There it is held until an operation of the vector
// asks for it.
type statusPlayer struct {
	status.Manager
	clock   clock
	given   []pod
	objects map[types.UID]*v1.Pod
	client  *fake.Clientset

	couldHaveRunningContainers bool
	notifications              *notifications

	mode batchMode
	// held are the batches that wait for their operation: those of what is
	// new, and full passes.
	held map[bool]chan struct{}
	// isQueued tells that an update was queued, by the batch that it caused.
	isQueued bool
}

// A batchMode says what becomes of a batch that begins now.
type batchMode int

const (
	// Batches of what is new are held, or full passes are.
	holdNew batchMode = iota
	holdAll
	// Batches find no pod to write.
	idle
	// The loop that begins a batch ends.
	ending
)

// The decoy is a pod that no vector has. Its status changes when a batch has
// to be queued.
const decoyUID = types.UID("decoy")

// recordStatusManager plays the operations of a status manager.
func recordStatusManager(t *testing.T, v *vector) error {
	var given struct {
		Pods []pod
		Ops  []statusOp
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	ops := v.items("ops")
	return inVirtualTime(t, func() {
		player := newStatusPlayer(given.Pods)
		player.startLoops(given.Ops)
		player.clock = newClock(time.Now())
		for i, op := range given.Ops {
			ops[i]["expect"] = player.play(op)
		}
		player.endLoops()
	})
}

func newStatusPlayer(given []pod) *statusPlayer {
	p := &statusPlayer{
		given: given, objects: map[types.UID]*v1.Pod{}, notifications: &notifications{},
		// The newer NewClientset tracks managed fields, which no vector shows.
		client: fake.NewSimpleClientset(),
		held:   map[bool]chan struct{}{false: make(chan struct{}), true: make(chan struct{})},
	}
	for _, each := range given {
		object := each.object()
		if each.DeletionTimestampSet {
			object.DeletionTimestamp = ptr.To(metav1.Now())
		}
		p.objects[each.UID] = object
		must(p.client.Tracker().Add(object.DeepCopy()))
	}
	p.Manager = status.NewManager(p.client, p, p, kubeutil.NewPodStartupLatencyTracker())
	p.Manager.AddPodUpdateNotifier(p.notifications)
	return p
}

// syncPeriod is longer than the period of the manager's full pass.
const syncPeriod = 11 * time.Second

// startLoops starts a loop for each batch that the operations ask for and has
// each hold its batch, and one loop more, which takes what is queued.
func (p *statusPlayer) startLoops(ops []statusOp) {
	for _, op := range ops {
		if op.Op == "sync" && !op.All {
			p.Start(context.Background())
			p.queueBatch()
		}
	}
	p.mode = holdAll
	for _, op := range ops {
		if op.Op == "sync" && op.All {
			p.Start(context.Background())
		}
	}
	time.Sleep(syncPeriod)
	synctest.Wait()
	p.mode = idle
	p.Start(context.Background())
}

// endLoops ends every loop at its next batch: virtual time needs that all
// goroutines end.
func (p *statusPlayer) endLoops() {
	p.mode = ending
	close(p.held[false])
	close(p.held[true])
	time.Sleep(syncPeriod)
}

// queueBatch changes the decoy's status.
func (p *statusPlayer) queueBatch() {
	decoy := pod{UID: decoyUID}.object()
	current, _ := p.GetPodStatus(decoyUID)
	p.SetPodStatus(klog.Background(), decoy, v1.PodStatus{Message: current.Message + "."})
	synctest.Wait()
}

// GetUIDTranslations is called at the beginning of each batch.
func (p *statusPlayer) GetUIDTranslations() (map[kubetypes.ResolvedPodUID]kubetypes.MirrorPodUID, map[kubetypes.MirrorPodUID]kubetypes.ResolvedPodUID) {
	isHeld := p.mode == holdNew || p.mode == holdAll
	if isHeld {
		<-p.held[p.mode == holdAll]
	}
	if p.mode == ending {
		runtime.Goexit()
	}
	p.isQueued = true
	// A pod with an empty translation is skipped, as a static pod without a
	// mirror, and one with a translation back keeps its version.
	skipped := map[kubetypes.ResolvedPodUID]kubetypes.MirrorPodUID{kubetypes.ResolvedPodUID(decoyUID): ""}
	kept := map[kubetypes.MirrorPodUID]kubetypes.ResolvedPodUID{}
	if !isHeld {
		for _, each := range p.given {
			skipped[kubetypes.ResolvedPodUID(each.UID)] = ""
			kept[kubetypes.MirrorPodUID(each.UID)] = kubetypes.ResolvedPodUID(each.UID)
		}
	}
	return skipped, kept
}

// TranslatePodUID knows no mirror pods.
func (p *statusPlayer) TranslatePodUID(uid types.UID) kubetypes.ResolvedPodUID {
	return kubetypes.ResolvedPodUID(uid)
}

// GetPodByUID gives the agent's copy of a pod that it knows.
func (p *statusPlayer) GetPodByUID(uid types.UID) (*v1.Pod, bool) {
	for _, each := range p.given {
		if each.UID == uid && each.InPodManager {
			return p.objects[uid], true
		}
	}
	return nil, false
}

// GetMirrorPodByPod knows no mirror pods.
func (p *statusPlayer) GetMirrorPodByPod(*v1.Pod) (*v1.Pod, bool) { return nil, false }

// PodCouldHaveRunningContainers is what the operation says.
func (p *statusPlayer) PodCouldHaveRunningContainers(*v1.Pod) bool {
	return p.couldHaveRunningContainers
}

func (p *statusPlayer) play(op statusOp) map[string]any {
	p.isQueued, p.notifications.seen = false, []string{}
	p.client.ClearActions()
	expect := map[string]any{}
	p.apply(op, expect)
	synctest.Wait()
	expect["updateQueued"] = p.isQueued
	expect["notifications"] = p.notifications.seen
	expect["cachedUIDs"] = p.cachedUIDs()
	expect["cached"] = p.cached(op.PodUID)
	return expect
}

func (p *statusPlayer) apply(op statusOp, expect map[string]any) {
	logger := klog.Background()
	object := p.objects[op.PodUID]
	switch op.Op {
	case "setPodStatus":
		_, expect["changed"] = p.SetPodStatus(logger, object, op.Status.object(p.clock))
	case "setContainerReadiness":
		p.SetContainerReadiness(logger, op.PodUID, containerID(op.ContainerID), op.Ready)
	case "setContainerStartup":
		p.SetContainerStartup(logger, op.PodUID, containerID(op.ContainerID), op.Started)
	case "terminatePod":
		p.TerminatePod(logger, object)
	case "removeOrphanedStatuses":
		kept := map[types.UID]bool{}
		for _, uid := range op.PodUIDs {
			kept[uid] = true
		}
		p.RemoveOrphanedStatuses(logger, kept)
	case "advance":
		time.Sleep(time.Duration(op.Seconds) * time.Second)
		synctest.Wait()
		p.isQueued = false
	case "deletePod":
		p.deletePod(object)
	case "observePodStatus":
		if served := p.served(op.PodUID); served != nil {
			object.Status = served.Status
		}
	case "sync":
		p.sync(op, expect)
	default:
		panic(unplayable("unknown op " + op.Op))
	}
}

// deletePod gives the pod a deletion timestamp, here and in the API server.
func (p *statusPlayer) deletePod(object *v1.Pod) {
	object.DeletionTimestamp = ptr.To(metav1.Now())
	if served := p.served(object.UID); served != nil {
		served.DeletionTimestamp = object.DeletionTimestamp
		must(p.client.Tracker().Update(v1.SchemeGroupVersion.WithResource("pods"), served, namespace))
	}
}

// sync releases a held batch and shows what it wrote.
func (p *statusPlayer) sync(op statusOp, expect map[string]any) {
	p.couldHaveRunningContainers = op.CouldHaveRunningContainers
	p.held[op.All] <- struct{}{}
	synctest.Wait()
	p.isQueued = false
	actions, gets := p.actions()
	expect["synced"] = gets
	if len(actions) > 0 {
		expect["actions"] = actions
	}
	served := map[types.UID]any{}
	for _, each := range p.given {
		served[each.UID] = nil
		if object := p.served(each.UID); object != nil {
			served[each.UID] = encodeStatus(object.Status, p.clock)
		}
	}
	expect["api"] = served
}

// actions lists the calls of the API server pod by pod: the order of pods is
// random. A batch gets each pod that it writes, once.
func (p *statusPlayer) actions() (actions []map[string]any, gets int) {
	for _, action := range p.client.Actions() {
		verb := action.GetVerb()
		if action.GetSubresource() != "" {
			verb += "/" + action.GetSubresource()
		}
		if verb == "get" {
			gets++
		}
		named, isNamed := action.(interface{ GetName() string })
		if !isNamed {
			panic(unplayable("a call without a name: " + verb))
		}
		actions = append(actions, map[string]any{"podUID": strings.TrimPrefix(named.GetName(), podName("")), "verb": verb})
	}
	sort.SliceStable(actions, func(i, j int) bool {
		return actions[i]["podUID"].(string) < actions[j]["podUID"].(string)
	})
	return actions, gets
}

// served is a copy of what the API server has, nil if the pod is gone.
func (p *statusPlayer) served(uid types.UID) *v1.Pod {
	object, err := p.client.Tracker().Get(v1.SchemeGroupVersion.WithResource("pods"), namespace, podName(uid))
	if err != nil {
		return nil
	}
	return object.(*v1.Pod).DeepCopy()
}

func (p *statusPlayer) cachedUIDs() []types.UID {
	uids := []types.UID{}
	for _, each := range p.given {
		if _, found := p.GetPodStatus(each.UID); found {
			uids = append(uids, each.UID)
		}
	}
	sort.Slice(uids, func(i, j int) bool { return uids[i] < uids[j] })
	return uids
}

func (p *statusPlayer) cached(uid types.UID) any {
	object, found := p.GetPodStatus(uid)
	if !found {
		return nil
	}
	entry := field(reflect.ValueOf(p.Manager), "podStatuses").MapIndex(reflect.ValueOf(uid))
	return map[string]any{
		"version": field(entry, "version").Uint(), "podIsFinished": field(entry, "podIsFinished").Bool(),
		"status": encodeStatus(object, p.clock),
	}
}

// notifications keeps what the manager tells its subscribers.
type notifications struct{ seen []string }

func (n *notifications) updated(pod *v1.Pod, isAdded bool) {
	if isAdded {
		n.add("added:", pod)
	} else {
		n.add("updated:", pod)
	}
}

func (n *notifications) removed(pod *v1.Pod) { n.add("removed:", pod) }

func (n *notifications) add(what string, pod *v1.Pod) {
	if pod.UID != decoyUID {
		n.seen = append(n.seen, what+string(pod.UID))
	}
}
