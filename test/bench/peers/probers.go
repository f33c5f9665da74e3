package main

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

const timeout = 5 * time.Second

// proberOf does what kubelet's runProbe does for each probe, the request included.
func proberOf(kind string, port int) (func(host, path string) error, error) {
	switch kind {
	case "http", "https":
		prober := httpprobe.New(false)
		scheme := v1.URISchemeHTTP
		if kind == "https" {
			scheme = v1.URISchemeHTTPS
		}
		container := &v1.Container{Name: "main"}
		return func(host, path string) error {
			action := &v1.HTTPGetAction{Path: path, Port: intstr.FromInt32(int32(port)), Scheme: scheme}
			request, err := httpprobe.NewRequestForHTTPGetAction(action, container, host, "probe")
			if err != nil {
				return err
			}
			return succeeded(prober.Probe(request, timeout))
		}, nil
	case "tcp":
		prober := tcpprobe.New()
		return func(host, _ string) error { return succeeded(prober.Probe(host, port, timeout)) }, nil
	case "grpc":
		prober := grpcprobe.New()
		return func(host, _ string) error { return succeeded(prober.Probe(host, "", port, timeout)) }, nil
	}
	return nil, fmt.Errorf("no kind of probe: %s", strconv.Quote(kind))
}

func succeeded(result probe.Result, output string, err error) error {
	if err == nil && result != probe.Success {
		return fmt.Errorf("%s: %s", result, output)
	}
	return err
}
