package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type measured struct {
	Probes int64 `json:"probes"`
	Failed int64 `json:"failed"`
	// Of one probe.
	CPUMicros     float64 `json:"cpuMicros"`
	LatenessP99Ms float64 `json:"latenessP99Ms,omitempty"`
	RSSMb         float64 `json:"rssMb"`
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
					if probeOnce(hostOf(at)) != nil {
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
	return measured{Probes: int64(probes), Failed: failed, CPUMicros: micros(cpu()-before, int64(probes)), RSSMb: peakMb()}, nil
}

// paced probes as kubelet's workers do: one goroutine and ticker for each target, begun at a random point of the second.
func paced(port, targets, seconds int) (measured, error) {
	probeOnce, err := proberOf("http", port)
	if err != nil {
		return measured{}, err
	}
	const period = time.Second
	var probes, failed atomic.Int64
	late := make([][]time.Duration, targets)
	// Two periods until all tickers run.
	measuring := time.Now().Add(2 * period)
	end := measuring.Add(time.Duration(seconds) * time.Second)
	var workers sync.WaitGroup
	for target := range targets {
		workers.Go(func() {
			time.Sleep(rand.N(period))
			ticker := time.NewTicker(period)
			defer ticker.Stop()
			for due := time.Now(); due.Before(end); due = <-ticker.C {
				begun := time.Now()
				err := probeOnce(hostOf(int64(target)))
				if begun.Before(measuring) {
					continue
				}
				late[target] = append(late[target], begun.Sub(due))
				probes.Add(1)
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	time.Sleep(time.Until(measuring))
	before := cpu()
	workers.Wait()
	all := slices.Concat(late...)
	slices.Sort(all)
	p99 := all[len(all)*99/100]
	return measured{
		Probes: probes.Load(), Failed: failed.Load(), CPUMicros: micros(cpu()-before, probes.Load()),
		LatenessP99Ms: float64(p99.Microseconds()) / 1e3, RSSMb: peakMb(),
	}, nil
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

func peakMb() float64 { return float64(usage().Maxrss) / 1024 }

func micros(spent time.Duration, probes int64) float64 {
	return float64(spent.Nanoseconds()) / 1e3 / float64(probes)
}
