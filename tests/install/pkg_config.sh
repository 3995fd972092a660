#!/bin/sh
# pkg_config.sh PREFIX SCRATCH COMPILER: builds and runs the consumers with nothing but what pkg-config says.
set -eu
prefix=$1 scratch=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name takt.pc)")
export PKG_CONFIG_PATH
pkg-config --atleast-version=0.1 takt takt-core
test -f "$(pkg-config --variable=tl_expected_includedir takt-core)/tl/expected.hpp"
mkdir -p "$scratch"
"$prefix/bin/takt" dbc2hpp "$here/consumer/drive.dbc" -o "$scratch/drive.hpp" --namespace robot::

# consumer PACKAGE SOURCE [FLAG...]: builds it.
consumer() {
  package=$1 source=$2
  shift 2
  # shellcheck disable=SC2046 # the flags are words
  "$compiler" -std=c++20 "$@" -I"$scratch" "$here/consumer/$source.cpp" -o "$scratch/$source" $(pkg-config --cflags --libs "$package")
}

consumer takt-core core
"$scratch/core"
consumer takt main
"$scratch/main"
if [ -n "$(find "$prefix" -name takt-urdf.pc)" ]; then
  mkdir -p "$scratch/urdf"
  # shellcheck disable=SC2046 # the flags are words
  "$compiler" -std=c++20 "$here/urdf_consumer/main.cpp" -o "$scratch/urdf/main" $(pkg-config --cflags --libs takt-urdf)
  "$scratch/urdf/main"
fi

# For a processor with fused multiply-add; run where this is one.
runs=1
case $(uname -m) in
  x86_64)
    processor=-march=haswell
    for feature in avx2 fma bmi2 abm movbe; do grep -qw "$feature" /proc/cpuinfo || runs=; done
    ;;
  *) processor= ;;
esac
consumer takt decode -O2 $processor "-DDBC_FILE=\"$here/consumer/drive.dbc\""
[ -z "$runs" ] || "$scratch/decode"
