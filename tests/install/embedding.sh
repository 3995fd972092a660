#!/bin/bash
# embedding.sh TAKT_SOURCE SCRATCH COMPILER TOOL EIGEN EXPECTED CASE: takt's sources in a project of somebody else. TOOL is a program
# takt of this machine; EIGEN and EXPECTED are the folders of their headers. CASE:
#   whole   everything is added: the project builds, installs and caches no more than what it uses
#   core    FetchContent of the headers alone: nothing is looked for, as the project has it all
#   headers the headers alone are built and installed by themselves
#   cross   the same as core, for another machine, with the host's program takt; without, the error says what to do
set -euo pipefail
source=$1 scratch=$2 compiler=$3 tool=$4 eigen=$5 expected=$6 case=$7
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"

fail() {
  echo "$*" >&2
  exit 1
}
configure() { cmake -S "$here/embedding" -B "$@" -G Ninja -DTAKT_SOURCE="$source" --log-level=WARNING --no-warn-unused-cli; }
cached() { sed -n 's/^\([A-Za-z][^:=]*\):.*/\1/p' "$1/CMakeCache.txt" | sort; }
nothing_found=(-DOWN_EIGEN="$eigen" -DOWN_EXPECTED="$expected")
for package in Eigen3 tl-expected Asio fmt nlohmann_json CLI11 Threads Sodium Zstd Urdfdom; do
  nothing_found+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done

case $case in
  whole)
    configure "$scratch/build" -DCMAKE_CXX_COMPILER="$compiler"
    cmake --build "$scratch/build"
    (cd "$scratch/build" && ctest --output-on-failure)
    built=$(find "$scratch/build" -name 'libtakt*' -o -name '*.o' -path '*/takt_takt.dir/*')
    [ -z "$built" ] || fail "built although nobody links it: $built"

    cmake --install "$scratch/build" --prefix "$scratch/prefix" >"$scratch/install.log"
    installed=$(find "$scratch/prefix" -type f -printf '%P ')
    [ "$installed" = "bin/embedding " ] || fail "installed: $installed"

    configure "$scratch/without" -DCMAKE_CXX_COMPILER="$compiler" -DADDED_BY=nobody
    # CMake caches the version of the first project that has one, and find_package() what it found.
    packages='Eigen3|tl-expected|Asio|fmt|nlohmann_json|CLI11|Sodium|Zstd|Urdfdom|Mujoco|OPENGL|PNG|ZLIB'
    unprefixed=$(comm -23 <(cached "$scratch/build") <(cached "$scratch/without") |
      grep -vE "^(TAKT_|takt_|($packages)_|FIND_PACKAGE_MESSAGE_DETAILS_|CMAKE_HAVE_LIBC_PTHREAD$|CMAKE_PROJECT_VERSION)" || true)
    [ -z "$unprefixed" ] || fail "cached without a prefix: $unprefixed"
    ;;
  core)
    configure "$scratch/build" -DCMAKE_CXX_COMPILER="$compiler" -DADDED_BY=FetchContent -DTAKT_CORE_ONLY=ON "${nothing_found[@]}" \
      -DTAKT_HOST_TOOL="$tool"
    cmake --build "$scratch/build"
    (cd "$scratch/build" && ctest --output-on-failure)
    ;;
  headers)
    cmake -S "$source" -B "$scratch/build" -DTAKT_CORE_ONLY=ON --log-level=WARNING
    cmake --install "$scratch/build" --prefix "$scratch/prefix" >"$scratch/install.log"
    cmake -S "$here/components" -B "$scratch/components" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DWELCOME="takt;c" >"$scratch/found.log"
    grep -q 'takt is found with: core$' "$scratch/found.log" || fail "$(cat "$scratch/found.log")"
    [ "$(cd "$scratch" && find prefix -name '*.pc' -exec basename {} \;)" = takt-core.pc ] || fail "wrong files for pkg-config"
    ;;
  cross)
    cross=(-DCMAKE_TOOLCHAIN_FILE="$here/embedding/other_machine.cmake" -DTAKT_CORE_ONLY=ON "${nothing_found[@]}")
    configure "$scratch/build" "${cross[@]}" -DTAKT_HOST_TOOL="$tool"
    cmake --build "$scratch/build"
    if configure "$scratch/without" "${cross[@]}" 2>"$scratch/error.log"; then fail "configured without TAKT_HOST_TOOL"; fi
    tr -s '\n ' ' ' <"$scratch/error.log" | grep -q "for another machine. Set TAKT_HOST_TOOL to a program takt of this machine" ||
      fail "$(cat "$scratch/error.log")"
    ;;
esac
