#!/bin/busybox sh
# Tests a robot's real path on a kernel with CAN. On one interface, takt simulate plays the boards, and takt
# check, run, move and reset are used. The interface goes down in motion and comes back. The loop is slow
# and tolerant, because all is emulated.
#
# Usage: qemu_bus.sh ROBOT_FILE INTERFACE     the file has one FD bus named arm and a joint elbow_joint
set -eu
interface=$2
work=/tmp/bus
robot=$work/robot.json
on_bus="--bus arm=$interface"

fail() {
  echo "qemu_bus: $1"
  tail -n 30 $work/*.log
  exit 1
}

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for() {
  what=$1
  shift
  for i in $(seq 300); do
    if "$@"; then return; fi
    sleep 0.2
  done
  fail "$what: not within a minute"
}

state_has() { takt state >$work/state.log 2>&1 && grep -q "$1" $work/state.log; }
is_ready() {
  if state_has 'arm6: ready'; then return; fi
  takt reset >$work/reset.log 2>&1 || true
  sleep 0.5
  state_has 'arm6: ready'
}
# The drives wait at most 0.255 s for their master. An emulated machine may pause for longer; the robot then
# stops and reports it, and the step is repeated.
paused='\[loop_overrun\]\|(loop_overrun)\|\[drive_fault\]\|(drive_fault)\|(robot_not_ready)'

move() {
  wait_for "the robot" is_ready
  if takt move "$@" >$work/move.log 2>&1; then return; fi
  grep -q "$paused" $work/move.log || fail "takt move $*"
  return 1
}

# Takes the interface down in motion; returns whether that stopped the robot.
stops_without_bus() {
  wait_for "the robot" is_ready
  takt move elbow_joint 0.2 --duration 60 >$work/move.log 2>&1 &
  motion=$!
  wait_for "the motion" state_has ' 1 active goal\|arm6: stopped'
  ip.full link set "$interface" down
  wait_for "the stop" state_has 'arm6: stopped'
  if wait $motion; then fail "the motion succeeded without a bus"; fi
  if state_has "arm6: stopped: .*: arm ($interface) \[bus_down\]"; then return; fi
  grep -q "$paused" $work/state.log || fail "the bus is not named"
  ip.full link set "$interface" up
  return 1
}

frames_of() { grep -c " $1" $work/frames || true; }

mkdir -p $work
sed -e 's/"rate": 1000/"rate": 50, "overrun_limit": 10/' -e 's/"feedback_timeout": 0.02/"feedback_timeout": 10/' \
  -e 's/"following_error": 0.2/"following_error": 3/' -e 's/"goal_time": 1/"goal_time": 30/' "$1" >$robot
ip.full link set "$interface" down
ip.full link set "$interface" mtu 72 up
candump -D "$interface" >$work/frames &
dump=$!

takt check arm6 $on_bus >$work/check.log 2>&1 && fail "well without boards"  # an installed robot, by its name
takt check $robot $on_bus >$work/check.log 2>&1 && fail "well without boards"
grep -q 'elbow_joint .* does not answer' $work/check.log || fail "the missing board is not named"

takt simulate $robot $on_bus >$work/boards.log 2>&1 &
boards=$!
wait_for "the boards" grep -q 'boards of bus arm' $work/boards.log
all_are_well() { takt check $robot $on_bus >$work/check.log 2>&1; }
wait_for "takt check" all_are_well
tail -n 1 $work/check.log

takt run $robot $on_bus --record $work/run.mcap >$work/run.log 2>&1 &
loop=$!
wait_for "takt run" grep -q 'listening on' $work/run.log
takt candump "$interface" >$work/takt_frames 2>$work/candump.log &
watch=$!
wait_for "takt move" move elbow_joint 1.2
kill -TERM $watch
wait $watch || fail "takt candump"
read_again=$(takt candump $work/takt_frames | wc -l)
echo "takt candump: $read_again frames"
[ "$read_again" -gt 100 ] && [ "$read_again" -eq "$(wc -l <$work/takt_frames)" ] || fail "takt candump and its own log differ"

wait_for "the stop by the bus" stops_without_bus
head -n 1 $work/state.log
ip.full link set "$interface" up
wait_for "takt move after the reset" move elbow_joint 1.0

kill -TERM $loop
wait $loop || grep -q "ended in a fault.*$paused" $work/run.log || fail "takt run"
grep '^bus arm' $work/run.log
kill -TERM $boards
wait $boards || fail "takt simulate"
takt report $work/run.mcap --out $work/report >$work/report.log 2>&1 ||
  grep -q 'gnuplot is not installed' $work/report.log || fail "takt report"  # the machine has no gnuplot
grep -q '"complete": *true' $work/report/summary.json || fail "the recording is not complete"
takt replay $work/run.mcap || fail "the recorded run does not repeat bit for bit"
kill -TERM $dump
wait $dump || true
masters=$(frames_of 10)
boards=$(frames_of 18)
echo "candump: $masters frames of the master, $boards of the boards"
[ "$masters" -gt 100 ] && [ "$boards" -gt 100 ] || fail "candump missed a side"
