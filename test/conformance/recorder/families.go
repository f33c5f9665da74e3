// Package recorder records the conformance vectors anew from Kubernetes' own
// code and compares them with the stored ones. What to play stands in each
// stored vector; only what Kubernetes says to it is recorded.
package recorder

import (
	"regexp"
	"testing"
)

// A family is the vectors of the files that begin with its name.
type family struct {
	name string
	// reach says through what the code is reached, for the report.
	reach string
	// record plays the vector and replaces its outputs.
	record func(t *testing.T, v *vector) error
	// lanes is how many vectors are played at once: more than one only on
	// sockets, whose probes mostly wait.
	lanes int
}

const (
	exported = "exported API"
	seam     = "exported API, fields by reflection"
	linked   = "exported API and two functions by name"
	sockets  = "exported API, real sockets"
	// wireLanes leaves two processors time to spare.
	wireLanes = 6
)

var families = []family{
	{name: "conditions", reach: exported, record: recordConditions},
	{name: "manager", reach: seam, record: recordManager},
	{name: "pods", reach: exported, record: recordPods},
	{name: "prober", reach: seam, record: recordProber},
	{name: "results", reach: exported, record: recordResults},
	{name: "runloop", reach: seam, record: recordRunloop},
	{name: "termination", reach: linked, record: recordTermination},
	{name: "status-manager", reach: seam, record: recordStatusManager},
	{name: "update-pod-status", reach: seam, record: recordUpdatePodStatus},
	{name: "wire-addresses", reach: sockets, record: recordInRoom, lanes: wireLanes},
	{name: "wire-goaway", reach: sockets, record: recordWireH2, lanes: wireLanes},
	{name: "wire-certificates", reach: sockets, record: recordWireHTTP, lanes: wireLanes},
	{name: "wire-grpc", reach: sockets, record: recordWireGRPC, lanes: wireLanes},
	{name: "wire-h2", reach: sockets, record: recordWireH2, lanes: wireLanes},
	{name: "wire-http", reach: sockets, record: recordWireHTTP, lanes: wireLanes},
	{name: "wire-sni", reach: sockets, record: recordInRoom, lanes: wireLanes},
	{name: "wire-tcp", reach: sockets, record: recordWireTCP, lanes: wireLanes},
	{name: "wire-tls", reach: sockets, record: recordWireHTTP, lanes: wireLanes},
	{name: "worker", reach: seam, record: recordWorker},
}

// familyOf finds the family of a vector file by its base name; the longest
// name wins.
func familyOf(base string) *family {
	var found *family
	for i := range families {
		each := &families[i]
		if regexp.MustCompile(`^`+each.name+`($|[-_.0-9])`).MatchString(base) && (found == nil || len(each.name) > len(found.name)) {
			found = each
		}
	}
	return found
}
