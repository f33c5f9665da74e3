#!/usr/bin/env bash
# Fuzzes the API against its own OpenAPI document: fixed seeds and one nobody chose, on any names and on targets that exist.
# and then with raw requests. 0 server errors, 0 undocumented answers, 0 errors in the log. Needs Python 3.11; schemathesis is installed into .venv.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v python3 >/dev/null || { echo 'fuzz:api needs Python 3.11: install it (Debian: apt-get install python3-venv)' >&2; exit 2; }
[ -x .venv/bin/schemathesis ] || { python3 -m venv .venv && .venv/bin/pip install --quiet --require-hashes -r test/api/requirements.txt; }

data=$(mktemp -d)
node test/api/fuzz-server.ts >"$data/url" 2>"$data/log" &
server=$!
again=
trap 'status=$?; kill "$server" $again 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$data"; exit "$status"' EXIT
for _ in $(seq 100); do [ -s "$data/url" ] && break; sleep 0.1; done
url=$(cat "$data/url")

register() {
  curl --silent --output /dev/null -X PUT "$url/v1/namespaces/fuzz/targets/$1" -H 'content-type: application/json' \
    -d "{\"spec\": {\"host\": \"127.0.0.1\", \"lifecycle\": \"$2\", \"readinessProbe\": {\"tcpSocket\": {\"port\": 9}}}}"
}
register one static
register two reported
# The fuzzer deletes them; they come back.
(while sleep 0.3; do register one static; register two reported; done) 2>/dev/null &
again=$!

passed=0
failed=0
# The seed, options of the command, and `--` before the options of a run.
fuzz() {
  local seed=$1 options=()
  shift
  echo "-- seed $seed $*"
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  if .venv/bin/schemathesis "${options[@]}" run "$url/openapi.json" --url "$url" --seed "$seed" --max-examples 30 --workers 1 "${@:2}" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
    --exclude-path /v1/watch --exclude-path /v1/targets:apply --suppress-health-check all --request-timeout 10 --no-color; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}
fuzz 1
# A name that exists, so that the routes below a target are reached, not only their 404.
for name in one two; do
  printf '[parameters]\n"path.namespace" = "fuzz"\n"path.name" = "%s"\n' "$name" >"$data/$name.toml"
done
fuzz 2 --config-file "$data/one.toml"
fuzz 3 --config-file "$data/two.toml"
# The phases without chance would repeat themselves, so this one has only the others, with more examples.
fuzz "$RANDOM" --config-file "$data/one.toml" -- --phases fuzzing,stateful --max-examples 60
# Then what no document describes: raw requests, one seed that is kept and one nobody chose.
for seed in 1 "$RANDOM"; do
  if node test/api/fuzz-raw.ts "$url" "$seed"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
kill -0 "$server" || { echo 'the server has ended'; failed=$((failed + 1)); }
if grep '^error' "$data/log"; then failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
