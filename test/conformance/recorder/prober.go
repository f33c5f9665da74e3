package recorder

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/utils/ptr"
)

type proberVector struct {
	ProbeType      string
	ProbeSpecNil   bool
	ContainerKind  string
	TimeoutSeconds int32
	PodIP          string
	Ports          []v1.ContainerPort
	Env            []v1.EnvVar
	Handler        struct {
		Kind                        string
		Command                     []string
		Scheme, Host, Path, Service string
		Port                        intstr.IntOrString
		Headers                     [][2]string
	}
	Attempts []struct{ Result, Output, Error string }
}

// erredText precedes the error in the event that the prober records.
const erredText = " state: "

// recordProber plays one probe. A worker makes it, with thresholds of one;
// its cache and its events show what came out.
func recordProber(t *testing.T, v *vector) error {
	var given proberVector
	if err := v.decode(&given); err != nil {
		return err
	}
	if given.ProbeSpecNil {
		return unplayable("a container without the probe has no worker")
	}
	return inVirtualTime(t, func() { v.recorded["expect"] = given.play() })
}

func (p proberVector) play() map[string]any {
	status := p.status()
	a := newAgent(func(types.UID) (v1.PodStatus, bool) { return status, true }, p.answer)
	time.Sleep(managerUptime)
	made := p.pod()
	cache := a.caches[p.ProbeType]
	a.AddPod(context.Background(), made)
	time.Sleep(time.Second)
	result, _ := cache.Get(containerID(targetID))
	seen := map[string]any{
		"result": resultNames[result], "error": nil, "attempts": len(a.transport.calls), "events": a.events.events,
	}
	if a.events.events == nil {
		seen["events"] = []event{}
	}
	if len(a.transport.calls) > 0 {
		seen["calls"] = a.transport.calls[:1]
	}
	if text, erred := erredIn(a.events.events); erred {
		// The worker throws the result away; a prober that errs says failure.
		seen["result"], seen["error"] = "failure", text
	}
	a.RemovePod(made)
	time.Sleep(stopTime)
	return seen
}

func erredIn(events []event) (text string, erred bool) {
	for _, each := range events {
		if before, after, found := strings.Cut(each.Message, erredText); found && strings.Contains(before, " errored and ") {
			return after, true
		}
	}
	return "", false
}

func (p proberVector) answer(attempt int) answer {
	given := p.Attempts[min(attempt, len(p.Attempts)-1)]
	answered := answer{result: probe.Result(given.Result), output: given.Output}
	if given.Error != "" {
		answered.err = errors.New(given.Error)
	}
	return answered
}

const targetID = "test://target"

func (p proberVector) status() v1.PodStatus {
	statuses := statusObjects([]containerStatus{{
		Name: targetName, ContainerID: targetID, Started: ptr.To(p.ProbeType != "startup"), State: state{Kind: "running", StartedAt: ptr.To(int64(0))},
	}}, newClock(time.Now()))
	status := v1.PodStatus{Phase: v1.PodRunning, PodIP: p.PodIP}
	if p.ContainerKind == "container" {
		status.ContainerStatuses = statuses
	} else {
		status.InitContainerStatuses = statuses
	}
	return status
}

func (p proberVector) pod() *v1.Pod {
	object := v1.Container{Name: targetName, Ports: p.Ports, Env: p.Env}
	spec := plainProbe()
	spec.ProbeHandler, spec.TimeoutSeconds, spec.FailureThreshold = p.handler(), p.TimeoutSeconds, 1
	setProbe(&object, p.ProbeType, spec)
	// The message of a missing handler names the pod.
	made := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns", UID: "uid-1"}}
	if p.ContainerKind == "container" {
		made.Spec.Containers = []v1.Container{object}
	} else {
		object.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		made.Spec.InitContainers = []v1.Container{object}
	}
	return made
}

func (p proberVector) handler() v1.ProbeHandler {
	given := p.Handler
	switch given.Kind {
	case "exec":
		return v1.ProbeHandler{Exec: &v1.ExecAction{Command: given.Command}}
	case "httpGet":
		action := &v1.HTTPGetAction{Scheme: v1.URIScheme(given.Scheme), Host: given.Host, Path: given.Path, Port: given.Port}
		for _, header := range given.Headers {
			action.HTTPHeaders = append(action.HTTPHeaders, v1.HTTPHeader{Name: header[0], Value: header[1]})
		}
		return v1.ProbeHandler{HTTPGet: action}
	case "tcpSocket":
		return v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Host: given.Host, Port: given.Port}}
	case "grpc":
		return v1.ProbeHandler{GRPC: &v1.GRPCAction{Port: given.Port.IntVal, Service: ptr.To(given.Service)}}
	case "none":
		return v1.ProbeHandler{}
	default:
		panic(unplayable("unknown handler " + given.Kind))
	}
}
