#!/usr/bin/env bash
# The proofs: formal/proofs.toml says what is proved, out/formal.json what came of it.
# With arguments: only the proofs of these names. See tools/formal.py --help.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/formal_venv.sh
rm -f target/formal.log
"$formal_python" tools/formal.py "$@" || {
    code=$?
    # yosys ends the program where it finds an error; a proof that fails is told already.
    if [ -f target/formal.log ]; then tail -n 20 target/formal.log >&2; fi
    exit "$code"
}
