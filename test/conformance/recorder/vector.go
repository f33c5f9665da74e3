package recorder

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A vector is one recorded behaviour of Kubernetes. A record function decodes
// what to play from it and puts what it saw into recorded.
type vector struct {
	name string
	line []byte
	// recorded is the vector as it was stored, in which a record function
	// replaces every output.
	recorded map[string]any
}

// unplayable says why a vector cannot be recorded anew. It stays as it is.
type unplayable string

func (u unplayable) Error() string { return string(u) }

// decode reads the stored vector into a family's type.
func (v *vector) decode(into any) error { return json.Unmarshal(v.line, into) }

// must turns an error of a vector's content into a panic, which play reports.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// items gives a list of the vector by its field's name, to set what was seen
// at each of its steps.
func (v *vector) items(field string) []map[string]any {
	var items []map[string]any
	for _, item := range v.recorded[field].([]any) {
		items = append(items, item.(map[string]any))
	}
	return items
}

// parseTree decodes JSON without changing its numbers.
func parseTree(line []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var tree map[string]any
	err := decoder.Decode(&tree)
	return tree, err
}

// canonical is the one encoding in which two vectors are compared: fields in
// order, nothing escaped that need not be.
func canonical(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(value))
	return bytes.TrimSpace(out.Bytes())
}

// vectorFiles lists the *.jsonl and *.jsonl.gz of a folder in name order.
func vectorFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if baseName(entry.Name()) != entry.Name() {
			files = append(files, filepath.Join(folder, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.jsonl or *.jsonl.gz in %s", folder)
	}
	return files, nil
}

// baseName strips the folder and the suffix of a vector file.
func baseName(path string) string {
	base := filepath.Base(path)
	for _, suffix := range []string{".jsonl.gz", ".jsonl"} {
		if name, ok := strings.CutSuffix(base, suffix); ok {
			return name
		}
	}
	return base
}

const lineBytesMax = 16 << 20

func readVectors(path string) ([]*vector, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var reader io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if reader, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(reader)
	lines.Buffer(nil, lineBytesMax)
	var vectors []*vector
	for lines.Scan() {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		tree, err := parseTree(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		name, _ := tree["name"].(string)
		vectors = append(vectors, &vector{name: name, line: line, recorded: tree})
	}
	return vectors, lines.Err()
}
