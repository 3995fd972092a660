#!/bin/bash
# Installs what is missing (Debian), builds, and runs every test. The exit status is that of ctest.
#   tests/run.sh [--asan | --tsan | --clang | --fuzz SECONDS | --cases N] [further arguments for ctest, such as -R motion]
#     --asan   with address and undefined-behaviour sanitizers (clang, whose build of them takes half as long)
#     --tsan   with the thread sanitizer
#     --clang  with clang instead of g++
#     --fuzz   runs each fuzz target for SECONDS; finds are kept in build/fuzz/finds/
#     --cases  runs each random test of the trajectories on N cases (searches on fewer); ROOM=control or the like takes another
#              room. Further arguments are the test program's, such as -tc='extrema*'
# ROOM=can tests/run.sh builds and runs the tests of one room only. It installs and links only what that room needs.
# The whole takes about 20 minutes the first time on two quiet cores; build/ then keeps what was compiled.
# Each run takes a new seed for its random tests and prints it; SEED=N repeats a run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. cmake/install_missing.sh

preset=dev
fuzz_seconds=
cases=
while [ $# -gt 0 ]; do
  case $1 in
    --asan | --tsan | --clang) preset=${1#--} ;;
    --fuzz)
      preset=fuzz
      fuzz_seconds=${2:?--fuzz needs the seconds for each target}
      shift
      ;;
    --cases)
      cases=${2:?--cases needs their number}
      shift
      ;;
    -h | --help)
      sed -n '2,12s/^# \?//p' "$0"
      exit 0
      ;;
    *) break ;;
  esac
  shift
done

test_packages=(doctest-dev python3)
urdf_packages=(liburdfdom-dev libtinyxml2-dev)
mujoco_packages=(libmujoco-dev libegl-dev libopengl-dev libgl1-mesa-dri libpng-dev)
case ${ROOM:-} in
  "")
    test_packages+=("${urdf_packages[@]}" "${mujoco_packages[@]}" gnuplot-nox python3-can python3-serial python3-rosbag python3-sensor-msgs
                    iproute2 netcat-openbsd binutils abigail-tools)
    # For the interactive report and its test; npm may come with a node that is not Debian's.
    command -v npm >/dev/null || test_packages+=(npm)
    command -v chromium >/dev/null || test_packages+=(chromium)
    ;;
  urdf) test_packages+=("${urdf_packages[@]}") ;;
  mujoco) test_packages+=("${mujoco_packages[@]}") ;;
esac
install_missing "${build_packages[@]}" "${test_packages[@]}"
case $preset in asan | clang | fuzz) install_missing clang libclang-rt-14-dev ;; esac

build() {
  with_progress "configuring" build/"$preset".configure.log cmake --preset "$preset"
  with_progress "building, the first time: $1 on two cores" build/"$preset".build.log cmake --build --preset "$preset" "${@:2}"
}

fuzz() {
  local name
  name=$(basename "$1" _fuzz)
  mkdir -p build/fuzz/finds "build/fuzz/corpus/$name"
  echo "== fuzzing $name for $fuzz_seconds s"
  if "$1" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/finds/$name-" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" \
    >"build/fuzz/$name.log" 2>&1; then
    sed -n "s/stat::number_of_executed_units/== $name executed/p" "build/fuzz/$name.log"
  else
    tail -40 "build/fuzz/$name.log"
    echo "== $name FAILED"
    return 1
  fi
}

# A new seed for the random tests of each run; SEED=N repeats one.
export TAKT_SEED=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "seed of the random tests: $TAKT_SEED (the same again: SEED=$TAKT_SEED tests/run.sh)"

mkdir -p build
if [ "$preset" = fuzz ]; then
  build "ten minutes" --target takt_fuzz
  export fuzz_seconds
  export -f fuzz
  printf '%s\0' build/fuzz/tests/fuzz/*_fuzz | xargs -0 -n1 -P "$(nproc)" bash -c 'fuzz "$0"'
  exit
fi

if [ -n "$cases" ]; then
  program=takt_test_${ROOM:-trajectory}
  build "some minutes" --target "$program"
  exec "build/$preset/tests/$program" --count="$cases" --seed="$TAKT_SEED" --duration "$@"
fi

if [ -n "${ROOM:-}" ]; then
  build "one to six minutes" --target "takt_test_$ROOM"
  exec ctest --test-dir "build/$preset" --output-on-failure -R "^$ROOM\$" "$@"
fi

build "about 14 minutes"
# The thread sanitizer of this compiler needs the old layout of the address space.
quiet_layout=()
if [ "$preset" = tsan ] && setarch -R true 2>/dev/null; then quiet_layout=(setarch -R); fi
export UBSAN_OPTIONS=print_stacktrace=1
status=0
"${quiet_layout[@]}" ctest --test-dir "build/$preset" --output-on-failure -j "$((2 * $(nproc)))" "$@" || status=$?  # half of them wait
cat <<END

Open      build/$preset/Testing/Temporary/LastTest.log: what each test said
Try next  ./tests/run.sh -R motion          # the tests of these names only
          ./tests/run.sh --rerun-failed     # those that failed
          ./examples/run.sh                 # two robots, a table, a report
END
exit $status
