#!/usr/bin/env bash
# Coverage of the RTL by line and of the stimulus by function, from one short campaign:
# out/coverage/functional/index.html, out/coverage/rtl.txt, out/coverage/annotated/*.sv and,
# with lcov's genhtml, out/coverage/html/index.html. With cargo-llvm-cov the Rust code too.
#
# SEEDS and OPS make it longer: SEEDS=0..100 OPS=20000 tools/coverage.sh
set -euo pipefail
cd "$(dirname "$0")/.."

out=out/coverage
target=${CARGO_TARGET_DIR:-target}/coverage
verilator=${RNIC_VERILATOR:-verilator}
rm -rf "$out"
mkdir -p "$out/raw"

echo "== build with counters (configuration small)"
RNIC_COVERAGE=1 RNIC_CONFIGS=small cargo build --quiet --bin rnic-cosim --target-dir "$target"

echo "== campaign"
RNIC_COVERAGE_DIR="$out/raw" "$target/debug/rnic-cosim" regress --config small \
    --seeds "${SEEDS:-0..6}" --ops "${OPS:-4000}" --out "$out" --junit "$out/junit.xml" \
    --coverage "$out/functional" | tail -n 4

echo "== RTL"
counter=${verilator%/*}/verilator_coverage
[ -x "$counter" ] || counter=verilator_coverage
"$counter" --write "$out/merged.dat" "$out"/raw/*.dat
rm -r "$out/raw"
"$counter" --annotate "$out/annotated" --annotate-min 1 "$out/merged.dat"
"$counter" --write-info "$out/rtl.info" "$out/merged.dat"
# lines_by PATTERN FILE.info: lines found and hit, by what is left of each file's name without
# PATTERN.
lines_by() {
    awk -F'[:,]' -v cut="$1" '
        $1 == "SF" { part = $2; sub(cut, "", part); sub("/.*", "", part) }
        $1 == "DA" { found[part]++; if ($3 > 0) hit[part]++ }
        END {
            for (p in found) {
                printf "%-24s %5d of %5d lines  %5.1f %%\n", p, hit[p], found[p], 100 * hit[p] / found[p]
                all += found[p]; got += hit[p]
            }
            printf "%-26s %5d of %5d lines  %5.1f %%\n", "~ all", got, all, 100 * got / all
        }' "$2" | sort | sed 's/^~ //'
}
# By file. Functions in packages are never counted by Verilator, so rnic_pkg.sv is not in it.
lines_by '.*/' "$out/rtl.info" | tee "$out/rtl.txt"

echo "== Rust"
infos=("$out/rtl.info")
# Without rustup's llvm-tools, Debian's of LLVM 19 or newer read what rustc writes.
if [ -z "${LLVM_COV:-}" ]; then
    for version in 22 21 20 19; do
        if command -v "llvm-cov-$version" >/dev/null; then
            export LLVM_COV="llvm-cov-$version" LLVM_PROFDATA="llvm-profdata-$version"
            break
        fi
    done
fi
if cargo llvm-cov --version >/dev/null 2>&1; then
    # All crates of the workspace, without the tests themselves.
    CARGO_TARGET_DIR=$target RNIC_CONFIGS=small,default \
        cargo llvm-cov --quiet --workspace --ignore-filename-regex testbench/ \
        --lcov --output-path "$out/rust.info" >"$out/rust_tests.log" 2>&1 ||
        { tail -n 20 "$out/rust_tests.log" >&2; exit 1; }
    infos+=("$out/rust.info")
    # By room of src/.
    lines_by "$PWD/src/" "$out/rust.info" | tee "$out/rust.txt"
else
    echo "skipped: cargo-llvm-cov is not installed (cargo install cargo-llvm-cov --locked;"
    echo "without rustup's llvm-tools also: apt-get install llvm-19)"
fi
if command -v genhtml >/dev/null; then
    genhtml --quiet --output-directory "$out/html" "${infos[@]}"
    echo "report: $out/html/index.html"
else
    echo "no page of the lines: genhtml is not installed (apt-get install lcov)"
fi
echo "functional coverage: $out/functional/index.html"
