#!/usr/bin/env bash
# Mutants of the blocks against their proofs. See tools/formal_mutants.py.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/formal_venv.sh
run_proofs tools/formal_mutants.py "$@"
