package recorder

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/prober/results"
)

// recordResults plays a result cache: set, get and remove.
func recordResults(_ *testing.T, v *vector) error {
	var given struct {
		Ops []struct {
			Op, ContainerID, Result string
			PodUID                  types.UID
		}
	}
	if err := v.decode(&given); err != nil {
		return err
	}
	played := newCache()
	for i, recorded := range v.items("ops") {
		op := given.Ops[i]
		id := containerID(op.ContainerID)
		switch op.Op {
		case "set":
			played.Set(id, resultOf(op.Result), &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: op.PodUID}})
		case "remove":
			played.Remove(id)
		case "get":
			result, found := played.Get(id)
			recorded["found"] = found
			delete(recorded, "get")
			if found {
				recorded["get"] = resultNames[result]
			}
		default:
			return unplayable("unknown op " + op.Op)
		}
		recorded["updates"] = encodeUpdates(played.updates(), true)
	}
	return nil
}

func encodeUpdates(updates []results.Update, withPod bool) []map[string]any {
	encoded := []map[string]any{}
	for _, update := range updates {
		one := map[string]any{"containerID": update.ContainerID.String(), "result": resultNames[update.Result]}
		if withPod {
			one["podUID"] = update.PodUID
		}
		encoded = append(encoded, one)
	}
	return encoded
}
