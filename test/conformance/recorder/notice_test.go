package recorder

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
)

const storedFolder = "../vectors"

// outputs are the fields that a record function replaces.
var outputs = []string{"expect", "expectAnyOf", "accepted", "found", "updates"}

const spoiledPerFile = 3

// TestNoticesWrongVectors spoils an output of some vectors of each file. That
// has to change what the recorder says of them.
func TestNoticesWrongVectors(t *testing.T) {
	if _, err := os.Stat(storedFolder); err != nil {
		t.Skip(err)
	}
	quiet()
	files, err := vectorFiles(storedFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		vectors, err := readVectors(file)
		if err != nil {
			t.Fatal(err)
		}
		given := familyOf(baseName(file))
		for _, each := range vectors[:min(len(vectors), spoiledPerFile)] {
			before := play(t, each, given)
			spoiled, err := parseTree(each.line)
			if err != nil || !spoilOutput(spoiled) {
				t.Fatalf("%s has no output: %v", each.name, err)
			}
			each.line = canonical(spoiled)
			after := play(t, each, given)
			if !after.isDifferent() || slices.Equal(before.lines, after.lines) {
				t.Errorf("%s is spoiled, and nothing is noticed: %s", each.name, each.line)
			}
		}
	}
}

// spoilOutput changes the first value of the first output below a value.
func spoilOutput(value any) bool {
	switch tree := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if slices.Contains(outputs, name) {
				tree[name] = spoil(tree[name])
				return true
			}
			if spoilOutput(tree[name]) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(tree, spoilOutput)
	}
	return false
}

// spoil changes the first value below a value.
func spoil(value any) any {
	switch tree := value.(type) {
	case map[string]any:
		name := "?"
		if names := slices.Sorted(maps.Keys(tree)); len(names) > 0 {
			name = names[0]
		}
		tree[name] = spoil(tree[name])
		return tree
	case []any:
		if len(tree) == 0 {
			return []any{"?"}
		}
		tree[0] = spoil(tree[0])
		return tree
	case bool:
		return !tree
	case string:
		return tree + "?"
	case json.Number:
		return json.Number("1" + tree.String())
	default:
		return "?"
	}
}
