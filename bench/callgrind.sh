#!/bin/bash
# Counts the instructions of the hot kernels (bench/*_instructions.cpp) under callgrind, and compares them
# with bench/instructions.json. More than 2 % above is a failure; more than 2 % below must be recorded with
# --update.
#   bench/callgrind.sh [--update]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. cmake/install_missing.sh
install_missing "${build_packages[@]}" libbenchmark-dev valgrind python3

mkdir -p build/bench
cmake --preset release >build/bench/configure.log 2>&1 || { cat build/bench/configure.log; exit 1; }
cmake --build --preset release --target takt_instructions >build/bench/build.log 2>&1 || { tail -50 build/bench/build.log; exit 1; }
dumps=$(mktemp -d)
trap 'rm -rf "$dumps"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$dumps/out" build/release/bench/takt_instructions >"$dumps/log" 2>&1 ||
  { cat "$dumps/log"; exit 1; }
python3 bench/instructions.py "$@" --compiler "$(c++ -dumpfullversion) $(uname -m)" bench/instructions.json "$dumps"
