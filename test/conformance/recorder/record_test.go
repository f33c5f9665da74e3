package recorder

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

var (
	vectorsFolder = flag.String("vectors", "", "folder of the stored vectors, *.jsonl or *.jsonl.gz")
	writeFolder   = flag.String("write", "", "folder for the vectors as they are recorded now")
	only          = flag.String("only", "", "record this family alone")
)

// TestMain plays a room's vector where this process was started for one.
func TestMain(m *testing.M) {
	if path := os.Getenv(roomVector); path != "" {
		playInRoom(path)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRecord records every vector of the folder anew and reports what
// differs. It needs a *testing.T for the bubbles of virtual time.
func TestRecord(t *testing.T) {
	if *vectorsFolder == "" {
		t.Skip("no -vectors: npm run record names the folder")
	}
	quiet()
	files, err := vectorFiles(*vectorsFolder)
	if err != nil {
		t.Fatal(err)
	}
	var reports []report
	for _, file := range files {
		given := familyOf(baseName(file))
		if *only != "" && (given == nil || given.name != *only) {
			continue
		}
		made, err := recordFile(t, file, given)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, made)
	}
	if len(reports) == 0 {
		t.Fatalf("no family is called %q", *only)
	}
	if printReports(os.Stdout, reports) {
		t.Fail()
	}
}

// quiet drops the logs of kubelet and of Go's HTTP library.
func quiet() {
	log.SetOutput(io.Discard)
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		must(flags.Set(name, value))
	}
	klog.SetOutput(io.Discard)
}

func recordFile(t *testing.T, path string, given *family) (report, error) {
	vectors, err := readVectors(path)
	if err != nil {
		return report{}, err
	}
	made := report{file: baseName(path), family: given, vectors: len(vectors), unplayable: map[string]int{}}
	if given == nil {
		made.unplayable["no family has this file's name"] = len(vectors)
		return made, nil
	}
	fmt.Fprintf(os.Stderr, "recording %s: %d vectors\n", made.file, len(vectors))
	for i, recorded := range recordAll(t, vectors, given) {
		made.add(vectors[i], recorded)
	}
	if *writeFolder == "" {
		return made, nil
	}
	return made, write(filepath.Join(*writeFolder, made.file+".jsonl"), vectors)
}

// On sockets some vectors come out either way: client and server speak at
// once, or the machine is too busy to be in time. One that differs is played
// again alone, this often at most, until it is as stored.
const againMax = 5

// recordAll plays every vector.
func recordAll(t *testing.T, vectors []*vector, given *family) []outcome {
	outcomes := make([]outcome, len(vectors))
	waiting := make(chan int)
	var lanes sync.WaitGroup
	for range max(1, given.lanes) {
		lanes.Go(func() {
			for i := range waiting {
				outcomes[i] = play(t, vectors[i], given)
			}
		})
	}
	for i := range vectors {
		waiting <- i
	}
	close(waiting)
	lanes.Wait()
	for i := range vectors {
		for again := 1; given.lanes > 1 && outcomes[i].isDifferent() && again <= againMax; again++ {
			outcomes[i] = play(t, vectors[i], given)
			outcomes[i].again = again
		}
	}
	return outcomes
}

// play records one vector.
func play(t *testing.T, v *vector, given *family) outcome {
	recorded, err := parseTree(v.line)
	if err != nil {
		return outcome{err: err}
	}
	v.recorded = recorded
	if err := guarded(func() error { return given.record(t, v) }); err != nil {
		v.recorded, _ = parseTree(v.line)
		return outcome{err: err}
	}
	stored, err := parseTree(v.line)
	if err != nil {
		return outcome{err: err}
	}
	if v.recorded, err = parseTree(canonical(v.recorded)); err != nil {
		return outcome{err: err}
	}
	return outcome{lines: diff("", stored, v.recorded)}
}

func guarded(act func() error) (err error) {
	defer recoverInto(&err)
	return act()
}

// An outcome says how a recorded vector differs from the stored one.
type outcome struct {
	lines []string
	err   error
	// again is how often it was played again.
	again int
}

func (o outcome) isDifferent() bool {
	var stays unplayable
	return len(o.lines) > 0 || o.err != nil && !errors.As(o.err, &stays)
}

// write keeps the stored bytes of what is the same.
func write(path string, vectors []*vector) error {
	var out bytes.Buffer
	for _, each := range vectors {
		stored, err := parseTree(each.line)
		if err != nil {
			return err
		}
		line := each.line
		if recorded := canonical(each.recorded); !bytes.Equal(canonical(stored), recorded) {
			line = recorded
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
