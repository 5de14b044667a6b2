#!/usr/bin/env bash
# Mutants of the blocks against their proofs. See tools/formal_mutants.py.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/formal_venv.sh
rm -f target/formal.log
"$formal_python" tools/formal_mutants.py "$@" || {
    code=$?
    # yosys ends the program where it finds an error; a proof that fails is told already.
    if [ -f target/formal.log ]; then tail -n 20 target/formal.log >&2; fi
    exit "$code"
}
