#!/usr/bin/env bash
# The core file as another project uses it: found in a library, linted with Verilator.
# usage: fusesoc_lint.sh FUSESOC
set -euo pipefail
fusesoc=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Only the files of the core: a search of the whole folder would take its build folders along.
mkdir core
cp -r "$here/rnic_cosim.core" "$here/rtl" core
mkdir core/sim
cp "$here/sim/rnic.vlt" core/sim

run() {
    "$@" >log 2>&1 || {
        cat log >&2
        exit 1
    }
}
run "$fusesoc" library add rnic_cosim "$work/core"
run "$fusesoc" core show rnic_cosim:rtl:rnic_top
run "$fusesoc" run --target=lint rnic_cosim:rtl:rnic_top
