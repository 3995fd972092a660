#!/bin/bash
# What recording 20 joints at 4 kHz costs; takes part in bench/run.sh. Ten minutes: --seconds 600.
exec "$(dirname "${BASH_SOURCE[0]}")/../build/release/bench/recorder_load" "$@"
