package recorder

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// A report says of one file how much is reproduced.
type report struct {
	file    string
	family  *family
	vectors int
	same    int
	// again counts the vectors that were reproduced only when played again.
	again int
	// unplayable counts the vectors that stay as recorded, by the reason.
	unplayable map[string]int
	// different is every vector that differs, in the file's order.
	different []difference
}

type difference struct {
	vector string
	lines  []string
}

func (r *report) add(v *vector, recorded outcome) {
	var stays unplayable
	switch {
	case errors.As(recorded.err, &stays):
		r.unplayable[string(stays)]++
	case recorded.err != nil:
		r.different = append(r.different, difference{v.name, []string{"cannot be played: " + recorded.err.Error()}})
	case len(recorded.lines) > 0:
		r.different = append(r.different, difference{v.name, recorded.lines})
	default:
		r.same++
		r.again += min(recorded.again, 1)
	}
}

// printReports prints a table of all files and what differs in each. It tells
// whether anything does.
func printReports(out io.Writer, reports []report) bool {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "family\tvectors\treproduced\tdiffer\tas recorded\treached through")
	var all, same, different int
	for _, each := range reports {
		reach := "nothing"
		if each.family != nil {
			reach = each.family.reach
		}
		stays := each.vectors - each.same - len(each.different)
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", each.file, each.vectors, each.same, len(each.different), stays, reach)
		all, same, different = all+each.vectors, same+each.same, different+len(each.different)
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\t%d\t\n", all, same, different, all-same-different)
	table.Flush()
	for _, each := range reports {
		each.printReasons(out)
		each.printDifferences(out)
	}
	return different > 0
}

func (r *report) printReasons(out io.Writer) {
	if r.again > 0 {
		fmt.Fprintf(out, "\n%s: %d reproduced only when played again alone\n", r.file, r.again)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.unplayable)) {
		fmt.Fprintf(out, "\n%s: %d stay as recorded: %s\n", r.file, r.unplayable[reason], reason)
	}
}

const (
	placesShownMax  = 12
	vectorsShownMax = 3
	linesShownMax   = 8
	namesShownMax   = 30
)

var (
	index = regexp.MustCompile(`\[\d+\]`)
	id    = regexp.MustCompile(`[a-z]+://[^.\[]*`)
)

// placeOf is where a line says that something differs, without what is one
// vector's: indexes and container IDs.
func placeOf(line string) string {
	place, _, _ := strings.Cut(line, ": ")
	return id.ReplaceAllString(index.ReplaceAllString(place, "[]"), "ID")
}

// printDifferences prints in how many vectors each place differs, and the
// first vectors with their lines.
func (r *report) printDifferences(out io.Writer) {
	if len(r.different) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s: %d differ (stored -> recorded)\n", r.file, len(r.different))
	counts := map[string]int{}
	for _, each := range r.different {
		places := map[string]bool{}
		for _, line := range each.lines {
			places[placeOf(line)] = true
		}
		for place := range places {
			counts[place]++
		}
	}
	places := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(places, func(a, b string) int { return counts[b] - counts[a] })
	for _, place := range places[:min(len(places), placesShownMax)] {
		fmt.Fprintf(out, "  %5d x %s\n", counts[place], place)
	}
	for _, each := range r.different[:min(len(r.different), vectorsShownMax)] {
		fmt.Fprintf(out, "  %s\n", each.vector)
		for _, line := range each.lines[:min(len(each.lines), linesShownMax)] {
			fmt.Fprintf(out, "    %s\n", line)
		}
		if more := len(each.lines) - linesShownMax; more > 0 {
			fmt.Fprintf(out, "    ... %d lines more\n", more)
		}
	}
	for i := vectorsShownMax; i < min(len(r.different), namesShownMax); i++ {
		fmt.Fprintf(out, "  %s\n", r.different[i].vector)
	}
	if more := len(r.different) - namesShownMax; more > 0 {
		fmt.Fprintf(out, "  ... %d vectors more\n", more)
	}
}
