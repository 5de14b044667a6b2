#!/usr/bin/env bash
# A copy of the RTL with the fault of cq_ring.patch, and what regress reports of it. Ends with 0
# if the fault was found, with 1 if it was not.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v patch >/dev/null; then
    echo "error: patch is missing: apt-get install patch" >&2
    exit 2
fi
# A build folder of its own: the usual one keeps the usual hardware.
build=${CARGO_TARGET_DIR:-target}/wrong_copy
copy=$build/rtl
rm -rf "$copy" out/wrong_copy
mkdir -p "$build"
cp -r rtl "$copy"
patch --quiet --strip=1 --directory="$copy" <testbench/wrong_copy/cq_ring.patch

export RNIC_RTL=$copy RNIC_CONFIGS=small
cargo build --quiet --target-dir "$build"
code=0
"$build/debug/rnic-cosim" regress \
    --config small --profile tiny-cqs --seeds 0..1 --ops 2000 --out out/wrong_copy || code=$?
case $code in
    1) exit 0 ;;
    0) echo "error: the fault was not found" >&2; exit 1 ;;
    *) exit "$code" ;;
esac
