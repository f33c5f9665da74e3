package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type measured struct {
	Probes int64 `json:"probes"`
	Failed int64 `json:"failed"`
	// Of one probe.
	CPUMicros float64 `json:"cpuMicros"`
}

func saturated(kind string, port, probes, concurrency int) (measured, error) {
	probeOnce, err := proberOf(kind, port)
	if err != nil {
		return measured{}, err
	}
	run := func(count int) (failed int64) {
		var left, failures atomic.Int64
		left.Store(int64(count))
		var lanes sync.WaitGroup
		for range concurrency {
			lanes.Go(func() {
				for at := left.Add(-1); at >= 0; at = left.Add(-1) {
					if probeOnce(hostOf(at), "/healthz") != nil {
						failures.Add(1)
					}
				}
			})
		}
		lanes.Wait()
		return failures.Load()
	}
	// The first ones pay for what is done once.
	run(probes / 4)
	before := cpu()
	failed := run(probes)
	return measured{Probes: int64(probes), Failed: failed, CPUMicros: micros(cpu()-before, int64(probes))}, nil
}

// paced probes as kubelet's workers do, one goroutine and ticker for each target, begun at a random point of the second,
// until the standard input ends. What is probed counts the probes.
func paced(port, targets int) error {
	probeOnce, err := proberOf("http", port)
	if err != nil {
		return err
	}
	const period = time.Second
	for target := range targets {
		host, path := hostOf(int64(target)), fmt.Sprintf("/t/%d", target)
		go func() {
			time.Sleep(rand.N(period))
			for ticker := time.NewTicker(period); ; <-ticker.C {
				if err := probeOnce(host, path); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}()
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Targets have addresses of their own, as real ones: closed connections to one address would use up its local ports.
const hosts = 200

func hostOf(at int64) string { return fmt.Sprintf("127.0.0.%d", at%hosts+1) }

func usage() (usage syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage
}

func cpu() time.Duration {
	used := usage()
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func micros(spent time.Duration, probes int64) float64 {
	return float64(spent.Nanoseconds()) / 1e3 / float64(probes)
}
