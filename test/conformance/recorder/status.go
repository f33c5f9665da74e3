package recorder

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The vectors' form of a pod's status. Times are seconds; a field that is
// absent is empty.

type state struct {
	Kind      string `json:"kind"`
	StartedAt *int64 `json:"startedAt,omitempty"`
	ExitCode  *int32 `json:"exitCode,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}

type containerStatus struct {
	Name                 string `json:"name"`
	ContainerID          string `json:"containerID"`
	State                state  `json:"state"`
	LastTerminationState *state `json:"lastTerminationState,omitempty"`
	Ready                bool   `json:"ready"`
	Started              *bool  `json:"started"`
}

type condition struct {
	Type               v1.PodConditionType `json:"type"`
	Status             v1.ConditionStatus  `json:"status"`
	Reason             string              `json:"reason,omitempty"`
	Message            string              `json:"message,omitempty"`
	LastTransitionTime *int64              `json:"lastTransitionTime,omitempty"`
	ObservedGeneration int64               `json:"observedGeneration,omitempty"`
}

type podStatus struct {
	Phase                 v1.PodPhase       `json:"phase"`
	Reason                string            `json:"reason,omitempty"`
	Message               string            `json:"message,omitempty"`
	StartTime             *int64            `json:"startTime,omitempty"`
	Conditions            []condition       `json:"conditions"`
	InitContainerStatuses []containerStatus `json:"initContainerStatuses"`
	ContainerStatuses     []containerStatus `json:"containerStatuses"`
}

func (s podStatus) object(c clock) v1.PodStatus {
	object := v1.PodStatus{
		Phase: s.Phase, Reason: s.Reason, Message: s.Message,
		Conditions:            conditionObjects(s.Conditions, c),
		InitContainerStatuses: statusObjects(s.InitContainerStatuses, c),
		ContainerStatuses:     statusObjects(s.ContainerStatuses, c),
	}
	if s.StartTime != nil {
		object.StartTime = ptr.To(c.metaAt(*s.StartTime))
	}
	return object
}

func conditionObjects(given []condition, c clock) []v1.PodCondition {
	var objects []v1.PodCondition
	for _, each := range given {
		object := v1.PodCondition{
			Type: each.Type, Status: each.Status, Reason: each.Reason, Message: each.Message,
			ObservedGeneration: each.ObservedGeneration,
		}
		if each.LastTransitionTime != nil {
			object.LastTransitionTime = c.metaAt(*each.LastTransitionTime)
		}
		objects = append(objects, object)
	}
	return objects
}

// statusObjects keeps null apart from an empty list.
func statusObjects(given []containerStatus, c clock) []v1.ContainerStatus {
	if given == nil {
		return nil
	}
	objects := []v1.ContainerStatus{}
	for _, each := range given {
		object := v1.ContainerStatus{
			Name: each.Name, ContainerID: each.ContainerID, Ready: each.Ready, Started: each.Started,
			State: each.State.object(c),
		}
		if each.LastTerminationState != nil {
			object.LastTerminationState = each.LastTerminationState.object(c)
		}
		objects = append(objects, object)
	}
	return objects
}

func (s state) object(c clock) v1.ContainerState {
	var startedAt metav1.Time
	if s.StartedAt != nil {
		startedAt = c.metaAt(*s.StartedAt)
	}
	switch s.Kind {
	case "running":
		return v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: startedAt}}
	case "waiting":
		return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: s.Reason, Message: s.Message}}
	case "terminated":
		return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: ptr.Deref(s.ExitCode, 0), Reason: s.Reason, Message: s.Message, StartedAt: startedAt,
		}}
	case "none", "":
		return v1.ContainerState{}
	default:
		panic(unplayable("unknown state " + s.Kind))
	}
}

func encodeStatus(object v1.PodStatus, c clock) podStatus {
	encoded := podStatus{
		Phase: object.Phase, Reason: object.Reason, Message: object.Message,
		Conditions:            []condition{},
		InitContainerStatuses: encodeStatuses(object.InitContainerStatuses, c),
		ContainerStatuses:     encodeStatuses(object.ContainerStatuses, c),
	}
	if object.StartTime != nil {
		encoded.StartTime = encodeTime(*object.StartTime, c)
	}
	for _, each := range object.Conditions {
		encoded.Conditions = append(encoded.Conditions, encodeCondition(each, c))
	}
	return encoded
}

func encodeCondition(object v1.PodCondition, c clock) condition {
	return condition{
		Type: object.Type, Status: object.Status, Reason: object.Reason, Message: object.Message,
		LastTransitionTime: encodeTime(object.LastTransitionTime, c), ObservedGeneration: object.ObservedGeneration,
	}
}

func encodeTime(at metav1.Time, c clock) *int64 {
	if at.IsZero() {
		return nil
	}
	return ptr.To(c.secondsOf(at.Time))
}

func encodeStatuses(objects []v1.ContainerStatus, c clock) []containerStatus {
	encoded := []containerStatus{}
	for _, each := range objects {
		one := containerStatus{
			Name: each.Name, ContainerID: each.ContainerID, Ready: each.Ready, Started: each.Started,
			State: encodeState(each.State, c),
		}
		if last := encodeState(each.LastTerminationState, c); last.Kind != "none" {
			one.LastTerminationState = &last
		}
		encoded = append(encoded, one)
	}
	return encoded
}

func encodeState(object v1.ContainerState, c clock) state {
	switch {
	case object.Running != nil:
		return state{Kind: "running", StartedAt: encodeTime(object.Running.StartedAt, c)}
	case object.Waiting != nil:
		return state{Kind: "waiting", Reason: object.Waiting.Reason, Message: object.Waiting.Message}
	case object.Terminated != nil:
		return state{
			Kind: "terminated", ExitCode: &object.Terminated.ExitCode, Reason: object.Terminated.Reason,
			Message: object.Terminated.Message, StartedAt: encodeTime(object.Terminated.StartedAt, c),
		}
	default:
		return state{Kind: "none"}
	}
}
