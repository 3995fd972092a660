#!/bin/bash
# The lateness of a 1 kHz loop beside cyclictest's; takes part in bench/run.sh. Options: see lateness.cpp.
exec "$(dirname "${BASH_SOURCE[0]}")/../build/release/bench/lateness" "$@"
