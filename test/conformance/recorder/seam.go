package recorder

import (
	"fmt"
	"reflect"
	"sort"
	"unsafe"

	"k8s.io/kubernetes/pkg/kubelet/prober"
)

// The exported API drives everything that is recorded. A few fields have no
// accessor: whether a worker is on hold, which workers exist, the version of
// a cached status. kubelet's own tests read these fields, and replace the
// four transports, from inside the package; this file does the same from
// outside. A field that a later version renames makes the vectors that need
// it unplayable, with its name.

// field gives a field of a struct by name, readable and settable.
func field(of reflect.Value, name string) reflect.Value {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface {
		of = of.Elem()
	}
	found := of.FieldByName(name)
	if !found.IsValid() {
		panic(unplayable(fmt.Sprintf("%s has no field %s", of.Type(), name)))
	}
	if !found.CanAddr() {
		return found
	}
	return reflect.NewAt(found.Type(), unsafe.Pointer(found.UnsafeAddr())).Elem()
}

// probeTypes are the names of kubelet's constants, in their order.
var probeTypes = []string{"liveness", "readiness", "startup"}

// A worker is one of a prober manager's probe workers.
type worker struct {
	podUID, container, probeType string
	fields                       reflect.Value
}

// workersOf lists the workers that exist now, by pod, container and type. All
// goroutines of the manager must stand still.
func workersOf(manager prober.Manager) []worker {
	var found []worker
	for each := field(reflect.ValueOf(manager), "workers").MapRange(); each.Next(); {
		key := each.Key()
		found = append(found, worker{
			podUID:    field(key, "podUID").String(),
			container: field(key, "containerName").String(),
			probeType: probeTypes[field(key, "probeType").Int()],
			fields:    each.Value(),
		})
	}
	sort.Slice(found, func(i, j int) bool { return found[i].path() < found[j].path() })
	return found
}

// path is the worker's name in the vectors.
func (w worker) path() string { return w.podUID + "/" + w.container + "/" + w.probeType }

// isTriggered tells whether a manual trigger is pending.
func (w worker) isTriggered() bool { return field(w.fields, "manualTriggerCh").Len() > 0 }

// trigger makes a manual trigger pending.
func (w worker) trigger() {
	field(w.fields, "manualTriggerCh").TrySend(reflect.ValueOf(struct{}{}))
}

// setTransport replaces one of the prober's four transports: exec, http, tcp
// or grpc.
func setTransport(manager prober.Manager, name string, transport any) {
	field(field(reflect.ValueOf(manager), "prober"), name).Set(reflect.ValueOf(transport))
}
