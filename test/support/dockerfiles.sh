#!/usr/bin/env bash
# `npm run dockerfiles`: hadolint judges every Dockerfile, warnings and infos included. Needs Python; hadolint is installed into .venv.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v python3 >/dev/null || { echo 'dockerfiles needs Python: install it (Debian: apt-get install python3-venv)' >&2; exit 2; }
[ -x .venv/bin/python3 ] || python3 -m venv .venv
[ -x .venv/bin/hadolint ] || .venv/bin/pip install --quiet --require-hashes -r test/support/dockerfiles.txt

passed=0
failed=0
for file in $(git ls-files '*Dockerfile'); do
  if .venv/bin/hadolint --failure-threshold info "$file"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
