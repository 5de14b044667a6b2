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

# shellcheck source=tools/rtl_venv.sh
. tools/rtl_venv.sh
echo "== slang"
if [ -z "$rtl_python" ]; then
    echo "skipped: $rtl_python_missing"
else
    "$rtl_python" tools/slang_lint.py --top rnic_top "${rtl[@]}"
    echo "== docs/modules.md"
    "$rtl_python" tools/modules.py --check
    echo "== FuseSoC"
    tools/fusesoc_lint.sh "$(dirname "$rtl_python")/fusesoc"
fi

echo "== rustfmt"
cargo fmt --all --check
echo "== clippy"
cargo clippy --quiet --workspace --all-targets -- -D warnings
