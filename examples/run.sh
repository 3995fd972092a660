#!/bin/bash
# Repeats the experiment of the paper on M-Hubo's motion interface, on that robot and on a 6-joint arm, both
# with simulated drives. Installs missing packages (Debian), builds release, and prints one table. The report
# is build/demo/index.html. It repeats a step that a pause of the machine interrupts, and reports that. A
# missing measurement counts as a failure. Takes two minutes after the build.
#
# Exit status: 0 if every request was answered and every step went as expected.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. cmake/install_missing.sh
install_missing "${build_packages[@]}" gnuplot-nox rt-tests util-linux

demo=build/demo
# Without the benchmarks, which need more packages; bench/run.sh enables them again.
with_progress "configuring" build/release.configure.log cmake --preset release -DTAKT_BUILD_BENCH=OFF
with_progress "building the program takt and the examples, the first time: about ten minutes on two cores" build/release.build.log \
  cmake --build --preset release --target takt_tool takt_examples
takt=build/release/bin/takt
experiment=build/release/examples/paper_experiment

rm -rf "$demo"
mkdir -p "$demo"
status=0
running=
trap '[ -z "$running" ] || kill "$running" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

fail() {
  echo "run.sh: $*" >&2
  status=1
}

# Waits until the log of the running robot has a line that starts with $1.
wait_for_line() {
  for _ in $(seq 200); do
    ! grep -q "^$1" "$log" || return 0
    kill -0 "$running" 2>/dev/null || break
    sleep 0.05
  done
  cat "$log" >&2
  echo "run.sh: the robot never said '$1'" >&2
  exit 1
}

# Runs one robot from its start to its controlled stop, and writes the report of its recording.
run_robot() {
  local name=$1 port
  log=$demo/$name.log
  : >"$log"
  $takt run "examples/robots/$name.json" --port 0 --record "$demo/$name.mcap" >"$log" 2>&1 &
  running=$!
  wait_for_line "listening on"
  port=$(sed -n 's/^listening on 127\.0\.0\.1:\([0-9]*\)$/\1/p' "$log")
  $experiment "$name" --port "$port" --data examples/data --out "$demo/$name.json" || fail "the experiment on $name did not go as expected"
  kill -TERM "$running" 2>/dev/null || fail "$name is gone"
  wait "$running" || fail "takt run $name ended with $?"
  running=
  grep -q "^robot down: the process is stopping" "$log" || fail "$name did not come to a controlled stop: see $log"
  $takt report "$demo/$name.mcap" --out "$demo/$name" >>"$log" || fail "no report of $name"
}

# Runs the same requests twice in virtual time. The two recordings must be identical.
run_in_virtual_time() {
  local name=$1 run said identical=true
  for run in 1 2; do
    $takt run "examples/robots/$name.json" --virtual-time --requests "examples/data/${name}_requests.jsonl" \
      --record "$demo/virtual/$name.$run.mcap" >"$demo/virtual/$name.$run.replies" 2>"$demo/virtual/$name.$run.log" ||
      fail "virtual time: $name ended with $?"
  done
  cmp -s "$demo/virtual/$name.1.mcap" "$demo/virtual/$name.2.mcap" || identical=false
  said='^\([0-9.]*\) s of robot time in .*: \([0-9]*\) times faster.*'
  sed -n "s/$said/{\"robot\": \"$name\", \"simulated_s\": \1, \"times_faster\": \2, \"identical\": $identical}/p" "$demo/virtual/$name.2.log"
}

# Uses the scheduling class that takt run was granted.
run_cyclictest() {
  local class=("-p80") scheduling="SCHED_FIFO 80"
  if ! chrt -f 80 true 2>/dev/null; then class=("--policy=other") scheduling=SCHED_OTHER; fi
  echo "# scheduling: $scheduling"
  ! command -v cyclictest >/dev/null || cyclictest "${class[@]}" -i1000 -m -q -h20000 -D6 2>/dev/null
}

echo "1 of 5: the humanoid, about 40 s"
run_robot mhubo
echo "2 of 5: the 6-joint arm, about a minute"
run_robot arm6
echo "3 of 5: how late the machine wakes a program (cyclictest), 6 s"
run_cyclictest >"$demo/cyclictest.txt" || fail "cyclictest ended with $?"
echo "4 of 5: both robots again, in virtual time"
mkdir "$demo/virtual"
{ echo "[$(run_in_virtual_time mhubo),"; echo "$(run_in_virtual_time arm6)]"; } >"$demo/virtual.json"

echo "5 of 5: pictures"
$experiment ways "$demo" --out "$demo/ways.txt"
gnuplot -e "data='$demo/ways.txt'; out='$demo/picture.svg'" examples/paper_experiment/picture.gp || fail "no picture"
# Runs an example that prints numbers, and draws them.
draw() {
  local program=$1 picture=$2
  "build/release/examples/$program" >"$demo/$picture.txt" 2>"$demo/$picture.log" || fail "$program ended with $?"
  gnuplot -e "data='$demo/$picture.txt'; out='$demo/$picture.svg'" "examples/$program.gp" || fail "no picture of $program"
}
draw 02_trajectory through
draw 03_pid_tuning pid
draw 04_odometry odometry
draw 06_can_drive can_drive
draw 07_vehicle vehicle
draw 12_switch switch
draw 13_mobile_base base
$experiment table "$demo" || status=1
cat <<END

Open      $demo/index.html, and from there each robot's report; the numbers are $demo/summary.json
Try next  PATH=\$PWD/build/release/bin:\$PATH
          takt run examples/robots/arm6.json --record run.mcap   # the robot; Ctrl-C ends it
          examples/move_robot.py elbow_joint 1.2                 # in another terminal: move it
          takt top                                               # and watch it
          takt report run.mcap --out report                      # after its end: open report/index.html
END
exit $status
