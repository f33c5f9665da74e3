package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // Registers defaulting and conversion.
	registry "k8s.io/kubernetes/pkg/registry/core/pod"
	kjson "sigs.k8s.io/json"
)

// errorTextMax is where the vectors cut an error's text.
const errorTextMax = 600

// Validation walks labels in a random order. A pod with several wrong ones is
// created until the text of its error is the stored one, this often at most.
const creationsMax = 100

// recordPods plays the creation of a pod: decoding, defaulting, strategy and
// validation of the API server.
func recordPods(_ *testing.T, v *vector) error {
	var given struct {
		Manifest json.RawMessage
		Errors   []string
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	created := createPod(given.Manifest)
	for again := 1; again < creationsMax && !slices.Equal(created.errors, given.Errors); again++ {
		created = createPod(given.Manifest)
	}
	for _, output := range []string{"accepted", "defaulted", "errors", "errorFields"} {
		delete(v.recorded, output)
	}
	v.recorded["accepted"] = len(created.errors) == 0
	if len(created.errors) == 0 {
		v.recorded["defaulted"] = probingPart(created.pod.Spec)
		return nil
	}
	v.recorded["errors"], v.recorded["errorFields"] = created.errors, created.fields
	return nil
}

type creation struct {
	pod            v1.Pod
	errors, fields []string
}

func (c *creation) fail(text string) { c.errors = append(c.errors, cut(text)) }

func cut(text string) string {
	characters := []rune(text)
	return string(characters[:min(len(characters), errorTextMax)])
}

func createPod(manifest []byte) creation {
	created := creation{fields: []string{}}
	var given v1.Pod
	strict, err := kjson.UnmarshalStrict(manifest, &given)
	if err != nil {
		created.fail("decode: " + err.Error())
		return created
	}
	for _, each := range strict {
		created.fail("strict: " + each.Error())
	}
	if given.APIVersion != "v1" || given.Kind != "Pod" {
		created.fail("kind/apiVersion")
	}
	legacyscheme.Scheme.Default(&given)
	var internal api.Pod
	if err := legacyscheme.Scheme.Convert(&given, &internal, nil); err != nil {
		created.fail("convert: " + err.Error())
		return created
	}
	if err := beforeCreate(&internal); err != nil {
		created.fail(err.Error())
		created.fields = invalidFields(err)
	}
	must(legacyscheme.Scheme.Convert(&internal, &created.pod, nil))
	return created
}

func beforeCreate(internal *api.Pod) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic %v", cause)
		}
	}()
	namespaced := internal.Namespace
	if namespaced == "" {
		namespaced = namespace
	}
	// The strategy reads in the request which version of what is created.
	ctx := genericapirequest.WithRequestInfo(context.Background(), &genericapirequest.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIPrefix: "api", APIVersion: "v1", Resource: "pods",
		Namespace: namespaced, Name: internal.Name,
	})
	rest.FillObjectMetaSystemFields(&internal.ObjectMeta)
	return rest.BeforeCreate(registry.Strategy, genericapirequest.WithNamespace(ctx, namespaced), internal)
}

// invalidFields are the paths of an invalid object's fields, each once.
func invalidFields(err error) []string {
	fields := []string{}
	var invalid *apierrors.StatusError
	if errors.As(err, &invalid) && invalid.ErrStatus.Details != nil {
		for _, cause := range invalid.ErrStatus.Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

type probingSpec struct {
	RestartPolicy                 v1.RestartPolicy   `json:"restartPolicy,omitempty"`
	TerminationGracePeriodSeconds *int64             `json:"terminationGracePeriodSeconds,omitempty"`
	InitContainers                []probingContainer `json:"initContainers,omitempty"`
	Containers                    []probingContainer `json:"containers,omitempty"`
}

type probingContainer struct {
	Name           string                     `json:"name"`
	RestartPolicy  *v1.ContainerRestartPolicy `json:"restartPolicy,omitempty"`
	LivenessProbe  *v1.Probe                  `json:"livenessProbe,omitempty"`
	ReadinessProbe *v1.Probe                  `json:"readinessProbe,omitempty"`
	StartupProbe   *v1.Probe                  `json:"startupProbe,omitempty"`
	Ports          []v1.ContainerPort         `json:"ports,omitempty"`
}

// probingPart is what the vectors keep of a spec.
func probingPart(spec v1.PodSpec) probingSpec {
	return probingSpec{
		RestartPolicy:                 spec.RestartPolicy,
		TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
		InitContainers:                probingContainers(spec.InitContainers),
		Containers:                    probingContainers(spec.Containers),
	}
}

func probingContainers(containers []v1.Container) []probingContainer {
	var parts []probingContainer
	for _, each := range containers {
		parts = append(parts, probingContainer{
			each.Name, each.RestartPolicy, each.LivenessProbe, each.ReadinessProbe, each.StartupProbe, each.Ports,
		})
	}
	return parts
}
