package recorder

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

const shownBytesMax = 160

// diff lists what differs between a stored and a recorded value, a line each:
// the path and both values.
func diff(path string, stored, recorded any) []string {
	if bytes.Equal(canonical(stored), canonical(recorded)) {
		return nil
	}
	switch was := stored.(type) {
	case map[string]any:
		if is, ok := recorded.(map[string]any); ok {
			return diffFields(path, was, is)
		}
	case []any:
		if is, ok := recorded.([]any); ok && len(was) == len(is) {
			return diffItems(path, was, is)
		}
	}
	return []string{fmt.Sprintf("%s: %s -> %s", path, shown(stored), shown(recorded))}
}

func diffFields(path string, stored, recorded map[string]any) []string {
	names := map[string]bool{}
	for name := range stored {
		names[name] = true
	}
	for name := range recorded {
		names[name] = true
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, isStored := stored[name]
		is, isRecorded := recorded[name]
		at := name
		if path != "" {
			at = path + "." + name
		}
		switch {
		case !isStored:
			lines = append(lines, fmt.Sprintf("%s: absent -> %s", at, shown(is)))
		case !isRecorded:
			lines = append(lines, fmt.Sprintf("%s: %s -> absent", at, shown(was)))
		default:
			lines = append(lines, diff(at, was, is)...)
		}
	}
	return lines
}

func diffItems(path string, stored, recorded []any) []string {
	var lines []string
	for i := range stored {
		lines = append(lines, diff(path+"["+strconv.Itoa(i)+"]", stored[i], recorded[i])...)
	}
	return lines
}

func shown(value any) string {
	text := string(canonical(value))
	if len(text) > shownBytesMax {
		return text[:shownBytesMax] + "..."
	}
	return text
}
