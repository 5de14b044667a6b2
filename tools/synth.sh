#!/usr/bin/env bash
# Cell counts and clock rates of the RTL on two FPGA families; tools/synth.toml says of what.
# See tools/synth.py --help.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/synth_venv.sh
exec "$synth_python" tools/synth.py "$@"
