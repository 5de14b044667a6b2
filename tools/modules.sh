#!/usr/bin/env bash
# Writes docs/modules.md from the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/rtl_venv.sh
. tools/rtl_venv.sh
if [ -z "$rtl_python" ]; then
    echo "error: $rtl_python_missing" >&2
    exit 2
fi
"$rtl_python" tools/modules.py
