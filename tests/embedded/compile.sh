#!/bin/bash
# Tests floors 1 and 2 on a microcontroller. Every header compiles for a Cortex-M4F and a Cortex-M7 without exceptions and RTTI.
# The headers of components, the manager and the planner compile for a Cortex-M7 with both.
# A small image of a joint board contains no symbol of heap, exceptions or I/O. The script installs the toolchain (Debian) if it is
# missing. It runs nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
. cmake/install_missing.sh
install_missing "${build_packages[@]}" gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib libnewlib-arm-none-eabi

out=build/embedded
mkdir -p "$out/include/takt"
# The one generated header, from the one place where the version is typed.
version=$(sed -n 's/^project(takt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
IFS=. read -r major minor patch <<<"$version"
sed -e "s/@PROJECT_VERSION@/$version/; s/@PROJECT_VERSION_MAJOR@/$major/; s/@PROJECT_VERSION_MINOR@/$minor/" \
  -e "s/@PROJECT_VERSION_PATCH@/$patch/" cmake/version.hpp.in >"$out/include/takt/version.hpp"

# tl::expected is one header of its own: the rest of /usr/include belongs to another processor.
mkdir -p "$out/include/tl"
cp /usr/include/tl/expected.hpp "$out/include/tl/"

flags=(-std=c++20 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti
  -fno-threadsafe-statics -ffp-contract=off -DNDEBUG -Iinclude -isystem "$out/include" -isystem /usr/include/eigen3)
m4=(-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
m7=(-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16)

# All of them at once: that each is whole by itself is shown on this machine's own processor (tests/static).
compile_headers() {
  local core=$1
  shift
  find include/takt/{core,trajectory,control,mobile,can,vehicle,shm} -name '*.hpp' | LC_ALL=C sort |
    sed 's|^include/\(.*\)|#include "\1"|' |
    arm-none-eabi-g++ "$@" "${flags[@]}" -x c++ -fsyntax-only - || { echo "a header does not compile for $core"; return 1; }
}

# Components, the manager and the planner also compile where there are no threads, with exceptions and RTTI. The
# headers that are left out run a thread, or share memory between processes.
compile_contexts() {
  local core=$1
  shift
  find include/takt/{component,robot,controllers,motion} -name '*.hpp' |
    grep -vE '/(context_thread|link|remote_loop|request_gateway)\.hpp$' | LC_ALL=C sort | sed 's|^include/\(.*\)|#include "\1"|' |
    arm-none-eabi-g++ "$@" "${flags[@]}" -fexceptions -frtti -x c++ -fsyntax-only - ||
    { echo "a header of a context does not compile for $core"; return 1; }
}

link_image() {
  local core=$1 image=$out/$1.elf
  shift
  arm-none-eabi-g++ "$@" "${flags[@]}" tests/embedded/image.cpp -o "$image" -nostartfiles -Wl,--gc-sections -Wl,--entry=main \
    --specs=nano.specs --specs=nosys.specs 2>"$out/$core.log" || { cat "$out/$core.log"; return 1; }
  forbidden_in "$image" || { echo "the image for $core has symbols that it must not have"; return 1; }
  arm-none-eabi-size "$image"
}

# Succeeds when nothing forbidden is found.
forbidden_in() {
  ! arm-none-eabi-nm -C "$1" |
    grep -E ' (_*(malloc|calloc|realloc|free|sbrk)(_r)?|operator (new|delete).*|__cxa_(throw|allocate_exception).*|_Unwind_.*|.*printf.*|_write|abort)$'
}

compile_headers cortex-m4 "${m4[@]}"
compile_headers cortex-m7 "${m7[@]}"
compile_contexts cortex-m7 "${m7[@]}"
link_image cortex-m4 "${m4[@]}"
link_image cortex-m7 "${m7[@]}"

# The check bites: the same image with one planted allocation is refused.
arm-none-eabi-g++ "${m4[@]}" "${flags[@]}" -DTAKT_PLANTED_ALLOCATION tests/embedded/image.cpp -o "$out/planted.elf" -nostartfiles \
  -Wl,--gc-sections -Wl,--entry=main --specs=nano.specs --specs=nosys.specs 2>/dev/null
if forbidden_in "$out/planted.elf" >/dev/null; then
  echo "a planted allocation went unnoticed"
  exit 1
fi
echo "floors 1 and 2 compile for Cortex-M4F and Cortex-M7; no heap, exceptions or I/O in the image"
