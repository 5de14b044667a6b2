#!/usr/bin/env bash
# Lint of the RTL by two independent front ends, and of the Rust code.
set -euo pipefail
cd "$(dirname "$0")/.."

# With what the build binds into the top.
mapfile -t blocks < <(sed 's|^|rtl/|' rtl/rnic.f)
rtl=("${blocks[@]}" rtl/rnic_checks.sv sim/rnic_watch.sv)
verilator=${RNIC_VERILATOR:-verilator}
echo "== verilator --lint-only"
for sizes in "NUM_QP=64 NUM_CQ=16 SQ_DEPTH=64 RQ_DEPTH=64" \
    "NUM_QP=4 NUM_CQ=2 SQ_DEPTH=4 RQ_DEPTH=4" \
    "NUM_QP=16 NUM_CQ=16 SQ_DEPTH=1024 RQ_DEPTH=1024" \
    "NUM_QP=65536 NUM_CQ=4096 SQ_DEPTH=16 RQ_DEPTH=16"; do
    parameters=()
    for one in $sizes; do parameters+=("-G$one"); done
    "$verilator" --lint-only -Wall --no-timing --top-module rnic_top "${parameters[@]}" sim/rnic.vlt "${rtl[@]}"
done
"$verilator" --lint-only -Wall --no-timing --top-module abi_loopback \
    sim/rnic.vlt rtl/rnic_pkg.sv testbench/rtl/abi_loopback.sv
for bench in testbench/rtl/*_bench.sv; do
    "$verilator" --lint-only -Wall --no-timing --top-module "$(basename "$bench" .sv)" \
        sim/rnic.vlt "${blocks[@]}" "$bench"
done

echo "== slang"
if ! command -v python3 >/dev/null; then
    echo "skipped: python3 is missing"
else
    venv=${RNIC_VENV:-target/lint-venv}
    if [ ! -x "$venv/bin/python" ]; then
        python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check 'pyslang==12.1.0' \
            || rm -rf "$venv"
    fi
    if [ -x "$venv/bin/python" ]; then
        "$venv/bin/python" tools/slang_lint.py --top rnic_top "${rtl[@]}"
    else
        echo "skipped: pyslang could not be installed into $venv (python3-venv missing, or no network)"
    fi
fi

echo "== rustfmt"
cargo fmt --all --check
echo "== clippy"
cargo clippy --quiet --workspace --all-targets -- -D warnings
