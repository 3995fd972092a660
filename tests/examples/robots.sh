#!/bin/bash
# Moves the arm that the eighth example runs, and ends that as Ctrl-C does. Then checks where the joint of the ninth ends.
#
# Usage: robots.sh 01_HELLO_MOTION 08_REAL_ROBOT 09_OWN_HARDWARE ROBOT
set -euo pipefail
hello=$1 real=$2 own=$3 description=$4
work=$(mktemp -d)
robot=
trap '[ -z "$robot" ] || kill "$robot" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

"$real" "$description" --simulate --port 0 >"$work/log" 2>&1 &
robot=$!
for _ in $(seq 400); do
  grep -q "^robot ready" "$work/log" && break
  kill -0 "$robot" || fail "the robot ended: $(cat "$work/log")"
  sleep 0.05
done
port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$work/log")
"$hello" "$port" | grep -qx succeeded || fail "the arm did not move: $(cat "$work/log")"
kill -INT "$robot"
wait "$robot" || fail "the robot ended with $?: $(cat "$work/log")"
robot=
grep -q "^robot down: the process is stopping" "$work/log" || fail "no controlled stop: $(cat "$work/log")"
grep -qx "1 requests accepted" "$work/log" || fail "unexpected: $(cat "$work/log")"

status=0
"$real" "$description" --bus nowhere=can0 2>"$work/why" || status=$?
[ "$status" -eq 1 ] || fail "a bus that is not there, and the example ended with $status"
grep -q "has no bus nowhere; its buses are arm" "$work/why" || fail "unexpected: $(cat "$work/why")"
status=0
"$real" "$description" --bus nowhere >"$work/why" || status=$?
[ "$status" -eq 2 ] || fail "a wrong command line, and the example ended with $status"

"$own" | tee "$work/own"
[ "$(grep -c "the joint ends at 1.200 rad" "$work/own")" -eq 2 ] || fail "the joint does not end at 1.2 rad"
