package recorder

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const namespace = "default"

// A restartRule is a container-level restart rule as the vectors write it.
type restartRule struct {
	Action   v1.ContainerRestartRuleAction              `json:"action"`
	Operator v1.ContainerRestartRuleOnExitCodesOperator `json:"operator"`
	Values   []int32                                    `json:"values"`
}

// A container is one of a vector's pod.
type container struct {
	Name               string        `json:"name"`
	RestartPolicy      string        `json:"restartPolicy"`
	RestartPolicyRules []restartRule `json:"restartPolicyRules"`
	Probes             []string      `json:"probes"`
}

// A pod is one of a vector's.
type pod struct {
	UID                  types.UID        `json:"uid"`
	Generation           int64            `json:"generation"`
	RestartPolicy        v1.RestartPolicy `json:"restartPolicy"`
	InitContainers       []container      `json:"initContainers"`
	Containers           []container      `json:"containers"`
	ReadinessGates       []string         `json:"readinessGates"`
	InPodManager         bool             `json:"inPodManager"`
	DeletionTimestampSet bool             `json:"deletionTimestampSet"`
}

func podName(uid types.UID) string { return "pod-" + string(uid) }

func (p pod) object() *v1.Pod {
	object := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: podName(p.UID), Namespace: namespace, UID: p.UID, Generation: p.Generation},
		Spec:       v1.PodSpec{RestartPolicy: p.RestartPolicy},
	}
	for _, given := range p.InitContainers {
		object.Spec.InitContainers = append(object.Spec.InitContainers, given.object())
	}
	for _, given := range p.Containers {
		object.Spec.Containers = append(object.Spec.Containers, given.object())
	}
	for _, gate := range p.ReadinessGates {
		object.Spec.ReadinessGates = append(object.Spec.ReadinessGates, v1.PodReadinessGate{ConditionType: v1.PodConditionType(gate)})
	}
	return object
}

func (c container) object() v1.Container {
	object := v1.Container{Name: c.Name, RestartPolicyRules: restartRules(c.RestartPolicyRules)}
	if c.RestartPolicy != "" {
		object.RestartPolicy = ptr.To(v1.ContainerRestartPolicy(c.RestartPolicy))
	}
	for _, probeType := range c.Probes {
		setProbe(&object, probeType, plainProbe())
	}
	return object
}

func restartRules(given []restartRule) []v1.ContainerRestartRule {
	var rules []v1.ContainerRestartRule
	for _, rule := range given {
		rules = append(rules, v1.ContainerRestartRule{
			Action:    rule.Action,
			ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: rule.Operator, Values: rule.Values},
		})
	}
	return rules
}

// plainProbe is the probe of vectors that name no other: every 10 s, with
// thresholds 1 and 3 and no delay.
func plainProbe() *v1.Probe {
	return &v1.Probe{
		ProbeHandler:     v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}},
		TimeoutSeconds:   1,
		PeriodSeconds:    10,
		SuccessThreshold: 1,
		FailureThreshold: 3,
	}
}

func setProbe(object *v1.Container, probeType string, probe *v1.Probe) {
	switch probeType {
	case "liveness":
		object.LivenessProbe = probe
	case "readiness":
		object.ReadinessProbe = probe
	case "startup":
		object.StartupProbe = probe
	default:
		panic(unplayable("unknown probe type " + probeType))
	}
}
