#!/bin/bash
# examples.sh TAKT 01_HELLO_MOTION 02_TRAJECTORY PAPER_EXPERIMENT ROBOT: moves the arm with the first example, looks at what the second
# prints, and checks that the table tells a good outcome from a bad one.
set -euo pipefail
takt=$1 hello=$2 ways=$3 experiment=$4 description=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
robot=
trap '[ -z "$robot" ] || kill "$robot" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

"$takt" run "$description" --port 0 --realtime off --wait sleep >"$work/log" 2>&1 &
robot=$!
for _ in $(seq 400); do
  grep -q "^robot ready" "$work/log" && break
  kill -0 "$robot" || fail "takt run ended: $(cat "$work/log")"
  sleep 0.05
done
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/log")
"$hello" "$port" | tee "$work/said"
grep -qx succeeded "$work/said"
! "$hello" 1 >"$work/said" || fail "nobody listens, and the example does not mind"
kill -TERM "$robot"
wait "$robot"
robot=

"$ways" >"$work/ways" 2>"$work/verdicts"
[ "$(grep -c "^4.00 0.30000 0.00000 0.00000$" "$work/ways")" -eq 5 ] || fail "not all five ways end at rest in the last waypoint"
[ "$(grep -c "within the limits" "$work/verdicts")" -eq 3 ] || fail "unexpected: $(cat "$work/verdicts")"

cp -r "$here/found" "$work/found"
"$experiment" table "$work/found" | tee "$work/table"
grep -q "1000 (100 %)" "$work/table"
[ -s "$work/found/index.html" ] && [ -s "$work/found/summary.json" ]
# A request that nobody answered must be an outcry.
sed -i 's/"lost": 0/"lost": 1/' "$work/found/mhubo.json"
! "$experiment" table "$work/found" >"$work/table" || fail "a lost request went unnoticed"
grep -q "never answered" "$work/table"
