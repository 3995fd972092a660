#!/bin/bash
# Builds release, runs the benchmarks, prints one table and writes build/bench/ratios.json. For each
# benchmark it has the time, and the floor's and each peer's time in the same run. It also has the ratios,
# and whether bench/targets.json is met.
#   bench/run.sh [FILTER]    FILTER is a regular expression over names such as shm/ring_64B/takt
#
# A benchmark has the name <topic>/<case>/<who>, where <who> is takt, floor (the hand-written minimum) or a
# peer. Without its peer, a benchmark is not built or skips itself, and its row says "absent". For peers
# that no package provides, see bench/*.cmake: configure once with TAKT_BENCH_RUCKIG, TAKT_BENCH_DBCPPP,
# TAKT_BENCH_CANTOOLS, and so on, then run this script.
#
# Other programs take part as bench/<name>.sh --json FILE. They write [{"name": "<topic>/<case>/<who>",
# "value": 1.0, "unit": "ns"}].
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. cmake/install_missing.sh
filter=${1:-.}
install_missing "${build_packages[@]}" libbenchmark-dev libmujoco-dev libboost-dev liborocos-kdl-dev libreaderwriterqueue-dev libiceoryx-posh-dev \
  iceoryx rt-tests python3 util-linux

mkdir -p build/bench
with_progress "configuring" build/bench/configure.log cmake --preset release
with_progress "building: minutes the first time" build/bench/build.log cmake --build --preset release

results=build/bench/results
rm -rf "$results"
mkdir -p "$results"
# One core for all, with priority: only ratios within one run are meaningful. Benchmarks of two threads
# place them themselves.
quiet=(taskset -c "$(($(nproc) - 1))")
if [ "$(id -u)" -eq 0 ] && nice -n -15 true 2>/dev/null; then quiet=(nice -n -15 "${quiet[@]}"); fi

status=0
programs=(build/release/bench/*_bench)
done=0
for program in "${programs[@]}"; do
  name=$(basename "$program")
  done=$((done + 1))
  # No pipe to grep -q: it would cut off a long list, and the program would seem to have no benchmarks.
  [[ $("$program" --benchmark_list_tests --benchmark_filter="$filter" 2>/dev/null) == */* ]] || continue
  echo "running $name, $done of ${#programs[@]}" >&2
  "${quiet[@]}" "$program" --benchmark_filter="$filter" --benchmark_repetitions=7 --benchmark_min_time=0.05 \
    --benchmark_enable_random_interleaving=true --benchmark_out_format=json \
    --benchmark_out="$results/$name.json" >"$results/$name.log" 2>&1 || { status=1; tail -20 "$results/$name.log"; }
done
for script in bench/*.sh; do
  case $script in bench/run.sh | bench/callgrind.sh) continue ;; esac
  basename "$script" .sh | grep -qE "$filter" || continue
  echo "running $script" >&2
  "$script" --json "$results/$(basename "$script" .sh).json" >"$results/$(basename "$script" .sh).log" 2>&1 || {
    status=1
    tail -20 "$results/$(basename "$script" .sh).log"
  }
done

python3 bench/ratios.py --filter "$filter" --targets bench/targets.json --out build/bench/ratios.json "$results" || status=$?
cat <<END

Open      build/bench/ratios.json: every number above; what each program said is in $results
Try next  ./bench/run.sh 'shm/ring'    # the benchmarks of these names only
END
exit $status
