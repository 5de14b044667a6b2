#!/usr/bin/env bash
# Speed of the simulation and throughput of the hardware, into out/ and docs/speed.md.
#
#   tools/bench.sh [--cocotb]      with --cocotb also the same RTL under cocotb 1.8.1 (minutes)
#
# Every ratio is of two things that took turns on this machine, in CPU time.
set -euo pipefail
cd "$(dirname "$0")/.."

cocotb=
case ${1:-} in
  '') ;;
  --cocotb) cocotb=1 ;;
  *) echo "tools/bench.sh: unknown argument '$1'; there is --cocotb" >&2; exit 2 ;;
esac
target=${CARGO_TARGET_DIR:-target}
mkdir -p out

echo "harnesses, and large against default" >&2
cargo build --release --quiet
with=$target/release/rnic-cosim
"$with" bench --json >out/bench.json
"$with" bench --against large --ops 10000 --json >out/bench_large.json

echo "waveforms compiled in against not" >&2
RNIC_TRACE=0 RNIC_CONFIGS=default cargo build --release --quiet --target-dir "$target/no-trace"
without=$target/no-trace/release/rnic-cosim
: >out/bench_trace.jsonl
for _ in 1 2 3 4 5 6 7; do
  a=$("$with" bench --rounds 1 --json 2>/dev/null)
  b=$("$without" bench --rounds 1 --json 2>/dev/null)
  printf '{"with": %s, "without": %s}\n' "$(tr -d '\n' <<<"$a")" "$(tr -d '\n' <<<"$b")" \
    >>out/bench_trace.jsonl
done

echo "operations per clock" >&2
rm -f out/throughput.jsonl out/bench_callgrind*
RNIC_THROUGHPUT="$PWD/out/throughput.jsonl" \
  cargo test --quiet --test hardware throughput -- --test-threads 1 >/dev/null

if command -v valgrind >/dev/null; then
  echo "instructions per clock" >&2
  # What the loop over the model costs, without anything around it.
  counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect='*bare_loop*' \
      "$1" bench --ops 2000 --rounds 1 --repetitions 1 --json >"out/$2.json" 2>"out/$2.log"
  }
  counted "$with" bench_callgrind
  counted "$without" bench_callgrind_no_trace
else
  echo "valgrind is not there: instructions per clock are left out" >&2
fi

if [ -n "$cocotb" ]; then
  tools/cocotb_bench.sh
fi
python3 tools/speed_page.py
