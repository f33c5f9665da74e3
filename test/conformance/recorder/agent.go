package recorder

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

// inVirtualTime plays act in a bubble, in which time passes only while
// everything waits. What never ends is an error.
func inVirtualTime(t *testing.T, act func()) (err error) {
	defer recoverInto(&err)
	synctest.Test(t, func(*testing.T) {
		defer recoverInto(&err)
		act()
	})
	return err
}

// recoverInto makes an error of a panic, unless there is one already.
func recoverInto(err *error) {
	switch cause := recover().(type) {
	case nil:
	case error:
		if *err == nil {
			*err = cause
		}
	default:
		if *err == nil {
			*err = fmt.Errorf("%v", cause)
		}
	}
}

// setGates sets feature gates for one vector and returns what resets them.
func setGates(gates map[string]bool) (reset func()) {
	before, known := map[string]bool{}, utilfeature.DefaultMutableFeatureGate.GetAll()
	for name := range gates {
		if _, found := known[featuregate.Feature(name)]; !found {
			panic(unplayable("there is no feature gate " + name))
		}
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	set := utilfeature.DefaultMutableFeatureGate.SetFromMap
	if err := set(gates); err != nil {
		panic(unplayable(err.Error()))
	}
	return func() { must(set(before)) }
}

// A clock turns the seconds of a vector into times and back.
type clock struct {
	origin time.Time
	// ticksPerSecond is how many seconds pass for one of the vector's.
	ticksPerSecond int64
}

func newClock(origin time.Time) clock { return clock{origin: origin, ticksPerSecond: 1} }

func (c clock) at(seconds int64) time.Time {
	return c.origin.Add(time.Duration(seconds*c.ticksPerSecond) * time.Second)
}

func (c clock) metaAt(seconds int64) metav1.Time { return metav1.NewTime(c.at(seconds)) }

func (c clock) secondsOf(at time.Time) int64 {
	return int64(at.Sub(c.origin)/time.Second) / c.ticksPerSecond
}

// A statusSource is what the prober reads of a status manager.
type statusSource struct {
	status.Manager
	get func(uid types.UID) (v1.PodStatus, bool)
}

func (s statusSource) GetPodStatus(uid types.UID) (v1.PodStatus, bool) { return s.get(uid) }

// A cache is one of the three result caches, watched.
type cache struct {
	results.Manager
	beforeRemove func()
	onSet        func(id kubecontainer.ContainerID, result results.Result)
	// isForgetful makes it find nothing, so that every UpdatePodStatus
	// triggers the readiness worker.
	isForgetful bool
}

func newCache() *cache { return &cache{Manager: results.NewManager()} }

// Get gives the result of a container, unless the cache is forgetful.
func (c *cache) Get(id kubecontainer.ContainerID) (results.Result, bool) {
	if c.isForgetful {
		return results.Unknown, false
	}
	return c.Manager.Get(id)
}

// Set keeps the result of a container.
func (c *cache) Set(id kubecontainer.ContainerID, result results.Result, pod *v1.Pod) {
	if c.onSet != nil {
		c.onSet(id, result)
	}
	c.Manager.Set(id, result, pod)
}

// Remove forgets the result of a container.
func (c *cache) Remove(id kubecontainer.ContainerID) {
	if c.beforeRemove != nil {
		c.beforeRemove()
	}
	c.Manager.Remove(id)
}

// updates drains the cache's stream.
func (c *cache) updates() []results.Update {
	var drained []results.Update
	for {
		select {
		case update := <-c.Updates():
			drained = append(drained, update)
		default:
			return drained
		}
	}
}

// An agent is a prober manager with everything around it.
type agent struct {
	prober.Manager
	caches    map[string]*cache
	transport *transport
	events    *eventLog
}

// newAgent starts a prober manager now, with these fakes at its edges: the
// source of statuses and the transport.
func newAgent(get func(uid types.UID) (v1.PodStatus, bool), answers func(attempt int) answer) *agent {
	a := &agent{caches: map[string]*cache{}, transport: &transport{answer: answers}, events: &eventLog{}}
	for _, probeType := range probeTypes {
		a.caches[probeType] = newCache()
	}
	a.Manager = prober.NewManager(
		statusSource{get: get}, a.caches["liveness"], a.caches["readiness"], a.caches["startup"], a.transport, a.events,
	)
	a.transport.use(a.Manager)
	return a
}

var _ record.EventRecorderLogger = &eventLog{}

// containerID parses an ID as kubelet does: one that is malformed is empty.
func containerID(text string) kubecontainer.ContainerID {
	var id kubecontainer.ContainerID
	if id.ParseString(text) != nil {
		return kubecontainer.ContainerID{}
	}
	return id
}

// resultNames are the vectors' names of cached results.
var resultNames = map[results.Result]string{
	results.Success: "success", results.Failure: "failure", results.Unknown: "unknown",
}

func resultOf(name string) results.Result {
	for result, known := range resultNames {
		if known == name {
			return result
		}
	}
	panic(unplayable("unknown result " + name))
}
