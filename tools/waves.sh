#!/usr/bin/env bash
# The timing pictures of docs/integration.md: recorded from the RTL, drawn by wavedrom.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tools/rtl_venv.sh
. tools/rtl_venv.sh
need_rtl_python
RNIC_WRITE_WAVES=docs/waves cargo test --quiet --test hardware the_pictures_are
"$rtl_python" tools/waves.py docs/waves
