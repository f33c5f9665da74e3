// The peers of `npm run bench`: kubelet's own probers, and servers for the protocols that need a library.
//
//	peers saturated KIND PORT PROBES CONCURRENCY    probes without a pause, so many at once
//	peers paced PORT TARGETS                        one HTTP probe a second for each target, until the input ends
//	peers serve                                          HTTPS and gRPC health servers, until the standard input ends
//
// `saturated` and `serve` print one line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

func main() {
	var err error
	switch arguments := os.Args[1:]; {
	case len(arguments) == 5 && arguments[0] == "saturated":
		err = print(saturated(arguments[1], number(arguments[2]), number(arguments[3]), number(arguments[4])))
	case len(arguments) == 3 && arguments[0] == "paced":
		err = paced(number(arguments[1]), number(arguments[2]))
	case len(arguments) == 1 && arguments[0] == "serve":
		var served map[string]int
		if served, err = serve(); err == nil {
			err = print(served, nil)
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
	default:
		err = fmt.Errorf("see the comment of main.go")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func print(value any, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(value)
}
