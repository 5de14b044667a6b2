#!/usr/bin/env bash
# Writes docs/modules.md from the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/rtl_venv.sh
. tools/rtl_venv.sh
need_rtl_python
"$rtl_python" tools/modules.py
