#!/bin/bash
# Kills a motion process: its joints must go to rest, and be free for another. Then kills the robot, which must continue after a
# restart. The checks read the output of the example's own reader.
#
# Usage: shared_memory.sh ROBOT MOTION WATCH
set -euo pipefail
robot=$1 motion=$2 watch=$3
name=takt-example-$$
work=$(mktemp -d)
running=()
trap 'for pid in "${running[@]}"; do end "$pid" 2>/dev/null || true; done; rm -rf "$work" "/dev/shm/takt.$name"*' EXIT

# wait_for FILE LINES PATTERN: until the last of the lines that match the first matches the second.
wait_for() {
  for _ in $(seq 600); do
    ! grep "$2" "$1" | tail -n 1 | grep -q "$3" || return 0
    sleep 0.05
  done
  echo "never seen: $3" >&2
  cat "$work"/* >&2
  exit 1
}

# start FILE PROGRAM...: in the background, what it prints into the file; its id is in $pid.
start() {
  "${@:2}" >"$1" 2>&1 &
  pid=$!
  running+=("$pid")
}

end() {
  kill -9 "$1"
  wait "$1" 2>/dev/null || true
}

for program in "$robot" "$motion" "python3 $watch"; do
  timeout 30 $program --help >"$work/help"  # not a robot of that name, which would stay
  grep -q "NAME" "$work/help" || { echo "no help of $program" >&2; exit 1; }
done
! python3 "$watch" "$name" 2>"$work/refused" || { echo "a robot that is not there was watched" >&2; exit 1; }
grep -q "No such file or directory" "$work/refused"

start "$work/robot" "$robot" "$name"
robot_pid=$pid
wait_for "$work/robot" . "^ready"
start "$work/seen" python3 "$watch" "$name"
start "$work/motion" "$motion" "$name" 1 0 2
for joint in 0 2; do wait_for "$work/seen" "joint $joint" "of owner slot 1, driven"; done
wait_for "$work/seen" "joint 1" "nobody's, resting"
! "$motion" "$name" 1 >"$work/refused" || { echo "two on one owner slot" >&2; exit 1; }

sleep 0.5  # away from where it began
end "$pid"
for joint in 0 2; do wait_for "$work/seen" "joint $joint" "nobody's, resting at 0.000 rad"; done
start "$work/again" "$motion" "$name" 1 2
wait_for "$work/seen" "joint 2" "of owner slot 1, driven"

# The robot too may die at any time: its successor takes over, and the motion process goes on.
end "$robot_pid"
start "$work/successor" "$robot" "$name"
wait_for "$work/successor" . "^ready"
wait_for "$work/seen" "a hub" "a hub that began in cycle [1-9][0-9]"
wait_for "$work/seen" "joint 2" "of owner slot 1, driven"
[ "$(grep -c "a hub" "$work/seen")" -eq 2 ]
cat "$work/seen"
