package recorder

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/status"
)

// recordConditions generates one of three conditions of a pod.
func recordConditions(_ *testing.T, v *vector) error {
	var given struct {
		Function          string
		Pod               pod
		OldConditions     []condition
		Conditions        []condition
		ContainerStatuses []containerStatus
		Phase             v1.PodPhase
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	var at clock
	object := given.Pod.object()
	old := &v1.PodStatus{Conditions: conditionObjects(given.OldConditions, at)}
	conditions := conditionObjects(given.Conditions, at)
	statuses := statusObjects(given.ContainerStatuses, at)
	var generated v1.PodCondition
	switch given.Function {
	case "containersReady":
		generated = status.GenerateContainersReadyCondition(object, old, statuses, given.Phase)
	case "podReady":
		generated = status.GeneratePodReadyCondition(object, old, conditions, statuses, given.Phase)
	case "podInitialized":
		generated = status.GeneratePodInitializedCondition(object, old, statuses, given.Phase)
	default:
		return unplayable("unknown function " + given.Function)
	}
	v.recorded["expect"] = encodeCondition(generated, at)
	return nil
}
