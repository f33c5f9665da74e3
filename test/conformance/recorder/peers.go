package recorder

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// peersCommand starts peers.ts. The default is for `go test .` in the module.
var peersCommand = flag.String("peers", "../../../node_modules/.bin/node peers.ts", "command that starts the peers of vectors about TLS")

// A peerStarter is the process that Go's own TLS server cannot stand in for:
// its servers send malformed certificates and choose what Go does not know.
type peerStarter struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

var peers peerStarter

// start returns a server that lives as long as the process.
func (p *peerStarter) start(peer json.RawMessage) *server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in == nil {
		words := strings.Fields(*peersCommand)
		command := exec.Command(words[0], words[1:]...)
		command.Stderr = os.Stderr
		in, err := command.StdinPipe()
		must(err)
		out, err := command.StdoutPipe()
		must(err)
		must(command.Start())
		p.in, p.out = in, bufio.NewReader(out)
	}
	_, err := p.in.Write(append(canonical(peer), '\n'))
	must(err)
	line, err := p.out.ReadString('\n')
	must(err)
	port, err := strconv.Atoi(strings.TrimSpace(line))
	must(err)
	return &server{port: port}
}
