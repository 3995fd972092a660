#!/bin/bash
# new_component.sh PREFIX SCRATCH COMPILER LANGUAGE: writes a project with the installed takt, builds and tests it, and launches its
# component.
set -euo pipefail
prefix=$1 scratch=$2 compiler=$3 language=$4
takt=$prefix/bin/takt
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

words=(--in "measured:x f64, y f64, mode u8, _ u8[7]" --in "limits:f64[6]" --in enable:u8 --out speed:f64 --out "log:stamp i64, text u8[24]"
       --param gain:number=2.5 --param window:integer=8 --param enabled:bool=true --vendor somebody --category test
       --service gripper:Gripper --consumer camera:Camera)
"$takt" new component Follower --lang "$language" "${words[@]}"
cmake -S Follower -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" -DCMAKE_C_FLAGS="-Wall -Wextra -Werror"
cmake --build build
ctest --test-dir build --output-on-failure
"$takt" launch Follower/system.json --virtual-time 0.5 | grep -q '"state":"active"'

# What cannot be a component leaves nothing behind.
for wrong in "9lives" "two words" "x --in a" "x --in a:f65" "x --in 'a:x f64, mode u8'" "x --param a:angle" "x --param a:integer=1.5" "x --lang c --service a"; do
  ! eval "$takt new component $wrong" 2>/dev/null || { echo "accepted: $wrong" >&2; exit 1; }
done
! "$takt" new component Follower 2>/dev/null || { echo "an existing folder was accepted" >&2; exit 1; }
[ "$(ls)" = "$(printf 'Follower\nbuild')" ] || { ls >&2; exit 1; }
