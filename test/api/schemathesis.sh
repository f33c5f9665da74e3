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
other=
trap 'status=$?; kill "$server" $again $other 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$data"; exit "$status"' EXIT
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

# A name that exists, so that the routes below a target are reached, not only their 404.
for name in one two; do
  printf '[parameters]\n"path.namespace" = "fuzz"\n"path.name" = "%s"\n' "$name" >"$data/$name.toml"
done

# The seed, the name of the target (`any`: whatever the fuzzer finds), and more options. Notes that the run passed.
fuzz() {
  local seed=$1 name=$2 config=()
  shift 2
  [ "$name" = any ] || config=(--config-file "$data/$name.toml")
  echo "-- seed $seed, target $name $*"
  # What runs beside may measure time.
  if nice -n 5 .venv/bin/schemathesis "${config[@]}" run "$url/openapi.json" --url "$url" --seed "$seed" --max-examples 30 --workers 1 "$@" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
    --exclude-path /v1/watch --exclude-path /v1/targets:apply --suppress-health-check all --request-timeout 10 --no-color; then
    echo "$seed" >>"$data/passed"
  fi
}
touch "$data/passed"
# Two runs at a time, since most of a run is the fuzzer's own computing on one core.
# The phases without chance need minutes: once for names that exist, once for any.
{ fuzz 2 one --phases fuzzing,stateful; fuzz 3 two; } >"$data/other" 2>&1 &
other=$!
fuzz 1 any
fuzz "$RANDOM" one --phases fuzzing,stateful --max-examples 60
wait "$other"
cat "$data/other"
runs=4
passed=$(wc -l <"$data/passed")
failed=$((runs - passed))
# Then what no document describes: raw requests, one seed that is kept and one nobody chose.
for seed in 1 "$RANDOM"; do
  if node test/api/fuzz-raw.ts "$url" "$seed"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
kill -0 "$server" || { echo 'the server has ended'; failed=$((failed + 1)); }
if grep '^error' "$data/log"; then failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
