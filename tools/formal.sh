#!/usr/bin/env bash
# The proofs: formal/proofs.toml says what is proved, out/formal.json what came of it.
# With arguments: only the proofs of these names. See tools/formal.py --help.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/formal_venv.sh
run_proofs tools/formal.py "$@"
