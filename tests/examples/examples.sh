#!/bin/bash
# Moves the arm with the first example, and checks the output of the second, sixth and seventh. The experiment's table must tell a good
# outcome from a bad one.
#
# Usage: examples.sh TAKT 01_HELLO_MOTION 02_TRAJECTORY 06_CAN_DRIVE 07_VEHICLE PAPER_EXPERIMENT ROBOT
set -euo pipefail
takt=$1 hello=$2 ways=$3 drive=$4 vehicle=$5 experiment=$6 description=$7
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

"$drive" >"$work/drive" 2>"$work/became"
awk '{ if ($2 > top) top = $2; off = $2 - $3; if (off < 0) off = -off; if (off > worst) worst = off; end = $3 }
     END { if (top < 1.4999 || worst > 0.05 || end < 0.299 || end > 0.301) exit 1 }' "$work/drive" ||
  fail "the drive does not go to 1.5 rad and back to 0.3"
[ "$(awk '{ print $3 }' "$work/became" | tr -d , | xargs)" = "off ready off" ] || fail "unexpected: $(cat "$work/became")"

"$vehicle" >"$work/lap" 2>"$work/story" || fail "the lap does not end where it began: $(cat "$work/story")"
awk 'NF == 8 { if ($8 > 1900) old = 1; if ($8 > 300 && $6 > 1.9) fast = 1 } END { exit !old || fast }' "$work/lap" ||
  fail "a vehicle of which nobody hears goes on"
grep -q "client: stopping, the vehicle is silent" "$work/story" || fail "unexpected: $(cat "$work/story")"

cp -r "$here/found" "$work/found"
"$experiment" table "$work/found" | tee "$work/table"
grep -q "1000 (100 %)" "$work/table"
[ -s "$work/found/index.html" ] && [ -s "$work/found/summary.json" ]
# A request that nobody answered must be an outcry.
sed -i 's/"lost": 0/"lost": 1/' "$work/found/mhubo.json"
! "$experiment" table "$work/found" >"$work/table" || fail "a lost request went unnoticed"
grep -q "never answered" "$work/table"
