#!/usr/bin/env bash
# Mutants of the RTL against the stimulus of the random co-simulation. See tools/mutants.py.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/formal_venv.sh
"$formal_python" tools/learn_test.py
exec "$formal_python" tools/mutants.py "$@"
