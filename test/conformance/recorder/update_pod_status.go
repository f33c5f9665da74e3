package recorder

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

type updateVector struct {
	Gates                      map[string]bool
	PodReadyCondition          *v1.ConditionStatus
	KubeletStart               int64
	InitContainers, Containers []container
	Workers                    []struct {
		Container, ProbeType string
		AlreadyTriggered     bool
	}
	Caches                                   map[string]map[string]string
	InitContainerStatuses, ContainerStatuses []flatStatus
}

// A flatStatus is a container's status with its state in its own fields.
type flatStatus struct {
	Name, ContainerID, State string
	StartedAt                *int64
	ExitCode                 *int32
	Started                  *bool
	Ready                    bool
}

// recordUpdatePodStatus plays one call of UpdatePodStatus.
func recordUpdatePodStatus(t *testing.T, v *vector) error {
	var given updateVector
	if err := v.decode(&given); err != nil {
		return err
	}
	defer setGates(given.Gates)()
	return inVirtualTime(t, func() { v.recorded["expect"] = given.play() })
}

func (u updateVector) play() map[string]any {
	at := newClock(time.Now().Add(-time.Duration(u.KubeletStart) * time.Second))
	a := newAgent(
		func(types.UID) (v1.PodStatus, bool) { return v1.PodStatus{}, false },
		func(int) answer { panic("no probe is due") },
	)
	probed := u.probedPod()
	a.AddPod(context.Background(), probed)
	// The agent has just started, so every worker waits for a random part of
	// its period: it neither probes nor takes a trigger while no time passes.
	synctest.Wait()
	u.setTriggers(a)
	for probeType, entries := range u.Caches {
		for id, result := range entries {
			a.caches[probeType].Set(containerID(id), resultOf(result), probed)
		}
	}
	wasTriggered := u.triggered(a)
	status := v1.PodStatus{
		InitContainerStatuses: flatObjects(u.InitContainerStatuses, at),
		ContainerStatuses:     flatObjects(u.ContainerStatuses, at),
	}
	a.UpdatePodStatus(context.Background(), u.pod(), &status)
	triggered := []string{}
	for _, each := range workersOf(a.Manager) {
		if each.isTriggered() && !wasTriggered[each.path()] {
			triggered = append(triggered, each.container+"/"+each.probeType)
		}
	}
	a.CleanupPods(nil)
	time.Sleep(time.Hour)
	return map[string]any{
		"initContainerStatuses": encodeFlat(status.InitContainerStatuses),
		"containerStatuses":     encodeFlat(status.ContainerStatuses),
		"triggered":             triggered,
	}
}

const updatedUID = types.UID("uid")

// pod is what UpdatePodStatus is given.
func (u updateVector) pod() *v1.Pod {
	made := pod{UID: updatedUID, InitContainers: u.InitContainers, Containers: u.Containers}.object()
	if u.PodReadyCondition != nil {
		made.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: *u.PodReadyCondition}}
	}
	return made
}

// probedPod has the probes of the workers that exist, which may be others
// than the pod's now.
func (u updateVector) probedPod() *v1.Pod {
	made := pod{UID: updatedUID}
	at := map[string]int{}
	for _, each := range u.Workers {
		if _, found := at[each.Container]; !found {
			at[each.Container] = len(made.Containers)
			made.Containers = append(made.Containers, container{Name: each.Container})
		}
		probed := &made.Containers[at[each.Container]]
		probed.Probes = append(probed.Probes, each.ProbeType)
	}
	return made.object()
}

func (u updateVector) setTriggers(a *agent) {
	for _, each := range workersOf(a.Manager) {
		for _, given := range u.Workers {
			if given.AlreadyTriggered && given.Container == each.container && given.ProbeType == each.probeType {
				each.trigger()
			}
		}
	}
}

func (u updateVector) triggered(a *agent) map[string]bool {
	triggered := map[string]bool{}
	for _, each := range workersOf(a.Manager) {
		triggered[each.path()] = each.isTriggered()
	}
	return triggered
}

func flatObjects(given []flatStatus, at clock) []v1.ContainerStatus {
	var statuses []containerStatus
	for _, each := range given {
		statuses = append(statuses, containerStatus{
			Name: each.Name, ContainerID: each.ContainerID, Started: each.Started, Ready: each.Ready,
			State: state{Kind: each.State, StartedAt: each.StartedAt, ExitCode: each.ExitCode},
		})
	}
	return statusObjects(statuses, at)
}

func encodeFlat(objects []v1.ContainerStatus) []map[string]any {
	encoded := []map[string]any{}
	for _, each := range objects {
		encoded = append(encoded, map[string]any{"name": each.Name, "started": each.Started, "ready": each.Ready})
	}
	return encoded
}
