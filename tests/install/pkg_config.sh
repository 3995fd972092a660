#!/bin/sh
# pkg_config.sh PREFIX SCRATCH COMPILER: builds and runs the consumer with nothing but what pkg-config says.
set -eu
prefix=$1 scratch=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name takt.pc)")
export PKG_CONFIG_PATH
pkg-config --atleast-version=0.1 takt
mkdir -p "$scratch"
# shellcheck disable=SC2046 # the flags are words
"$compiler" -std=c++20 "$here/consumer/main.cpp" -o "$scratch/consumer" $(pkg-config --cflags --libs takt)
"$scratch/consumer"
