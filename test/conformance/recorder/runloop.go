package recorder

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/ptr"
)

type runloopVector struct {
	PeriodSeconds    int32
	KubeletUptimeMs  int64
	ProbeDurationsMs []int64
	TriggersMs       []int64
	StopMs           int64
	TruncatedAtStop  bool
	ExpectAnyOf      []any
}

type runloopOutcome struct {
	ProbeStartsMs []int64 `json:"probeStartsMs"`
	ExitMs        *int64  `json:"exitMs"`
}

const (
	// A choice between two things that are both ready is random, so a vector
	// is played until this many runs in a row have brought nothing new.
	runloopRunsWithoutNews = 40
	runloopRunsMax         = 2000
)

// recordRunloop plays the loop of a readiness worker and collects every
// outcome.
func recordRunloop(t *testing.T, v *vector) error {
	var given runloopVector
	if err := v.decode(&given); err != nil {
		return err
	}
	expected := map[string]bool{}
	for _, outcome := range given.ExpectAnyOf {
		expected[string(canonical(outcome))] = true
	}
	outcomes := map[string]runloopOutcome{}
	for run, old := 0, 0; run < runloopRunsMax && (old < runloopRunsWithoutNews || isMissing(expected, outcomes)); run++ {
		var outcome runloopOutcome
		if err := inVirtualTime(t, func() { outcome = given.play() }); err != nil {
			return err
		}
		key := string(canonical(outcome))
		if _, known := outcomes[key]; known {
			old++
		} else {
			outcomes[key], old = outcome, 0
		}
	}
	v.recorded["expectAnyOf"] = inStoredOrder(given.ExpectAnyOf, outcomes)
	return nil
}

func isMissing(expected map[string]bool, outcomes map[string]runloopOutcome) bool {
	for key := range expected {
		if _, found := outcomes[key]; !found {
			return true
		}
	}
	return false
}

// inStoredOrder keeps the order of the outcomes that were stored: it means
// nothing.
func inStoredOrder(stored []any, outcomes map[string]runloopOutcome) []any {
	ordered := []any{}
	for _, outcome := range stored {
		key := string(canonical(outcome))
		if _, found := outcomes[key]; found {
			ordered = append(ordered, outcome)
			delete(outcomes, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(outcomes)) {
		ordered = append(ordered, outcomes[key])
	}
	return ordered
}

func (r runloopVector) play() runloopOutcome {
	status := v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: statusObjects([]containerStatus{{
		Name: targetName, ContainerID: "test://target", Started: ptr.To(true), State: state{Kind: "running", StartedAt: ptr.To(int64(0))},
	}}, newClock(time.Now()))}
	var begin time.Time
	outcome := runloopOutcome{ProbeStartsMs: []int64{}}
	a := newAgent(
		func(types.UID) (v1.PodStatus, bool) { return status, true },
		func(attempt int) answer {
			outcome.ProbeStartsMs = append(outcome.ProbeStartsMs, time.Since(begin).Milliseconds())
			duration := r.ProbeDurationsMs[attempt%len(r.ProbeDurationsMs)]
			time.Sleep(time.Duration(duration) * time.Millisecond)
			return answer{result: probe.Success}
		},
	)
	a.caches["readiness"].isForgetful = true
	exit := make(chan int64, 1)
	a.caches["readiness"].beforeRemove = func() { exit <- time.Since(begin).Milliseconds() }
	time.Sleep(time.Duration(r.KubeletUptimeMs) * time.Millisecond)
	begin = time.Now()
	made := pod{UID: "uid", Containers: []container{{Name: targetName, Probes: []string{"readiness"}}}}.object()
	made.Spec.Containers[0].ReadinessProbe.PeriodSeconds = r.PeriodSeconds
	a.AddPod(context.Background(), made)
	for _, triggerMs := range r.TriggersMs {
		sleepUntil(begin, triggerMs)
		a.UpdatePodStatus(context.Background(), made, status.DeepCopy())
	}
	sleepUntil(begin, r.StopMs)
	a.RemovePod(made)
	exitMs := <-exit
	if !r.TruncatedAtStop {
		outcome.ExitMs = &exitMs
		return outcome
	}
	outcome.ProbeStartsMs = slices.DeleteFunc(outcome.ProbeStartsMs, func(ms int64) bool { return ms >= r.StopMs })
	return outcome
}

func sleepUntil(begin time.Time, ms int64) {
	time.Sleep(time.Until(begin.Add(time.Duration(ms) * time.Millisecond)))
}
