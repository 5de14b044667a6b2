#!/usr/bin/env bash
# The same RTL, Verilator and stimulus under cocotb, beside the checked co-simulation: rounds of
# both take turns. Writes out/bench_cocotb.json. cocotb goes into target/cocotb-venv.
#
#   tools/cocotb_bench.sh [ROUNDS]     3 if left out
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-3}
case $rounds in
  '' | *[!0-9]* | 0) echo "tools/cocotb_bench.sh: '$rounds' is no number of rounds" >&2; exit 2 ;;
esac
target=${CARGO_TARGET_DIR:-target}
venv=$target/cocotb-venv
. tools/venv.sh
if ! have_venv "$venv" cocotb 'cocotb==1.8.1'; then
  echo "cocotb 1.8.1 could not be installed into $venv: that needs python3 with venv, and the" >&2
  echo "Python package index" >&2
  exit 1
fi
cargo build --release --quiet
program=$target/release/rnic-cosim
work=$(cd "$target" && pwd)/cocotb
mkdir -p "$work" out
"$program" bench --ops 2000 --record "$work/ports.bin"

export PATH="$(cd "$venv/bin" && pwd):$PATH"
export RNIC_RECORD=$work/ports.bin RNIC_RESULT=$work/cocotb.json
: >"$work/rounds.jsonl"
for round in $(seq "$rounds"); do
  echo "round $round of $rounds" >&2
  "$program" bench --rounds 1 --json >"$work/ours.json" 2>/dev/null
  rm -f "$RNIC_RESULT"
  if ! make -C tools/cocotb SIM_BUILD="$work/build" COCOTB_RESULTS_FILE="$work/results.xml" \
    >"$work/log" 2>&1 || [ ! -s "$RNIC_RESULT" ]; then
    tail -n 30 "$work/log" >&2
    exit 1
  fi
  python3 - "$work" >>"$work/rounds.jsonl" <<'PY'
import json, sys
work = sys.argv[1]
ours = json.load(open(f"{work}/ours.json"))
checked = next(r for r in ours["harnesses"] if r["harness"].startswith("checked"))
cocotb = json.load(open(f"{work}/cocotb.json"))
print(json.dumps({"checked_ns": checked["cpu_ns_per_clock"], "cocotb_ns": cocotb["cpu_ns_per_clock"]}))
PY
done
python3 - "$work/rounds.jsonl" <<'PY'
import json, statistics, sys
rounds = [json.loads(line) for line in open(sys.argv[1])]
ratios = [r["cocotb_ns"] / r["checked_ns"] for r in rounds]
result = {
    "rounds": rounds,
    "ratio": statistics.median(ratios),
    "checked_us_per_clock": statistics.median(r["checked_ns"] for r in rounds) / 1000,
    "cocotb_us_per_clock": statistics.median(r["cocotb_ns"] for r in rounds) / 1000,
}
json.dump(result, open("out/bench_cocotb.json", "w"), indent=2)
print(f"cocotb 1.8.1, outputs compared with a recording: {result['cocotb_us_per_clock']:.0f} us per clock")
print(f"checked co-simulation with the golden model:     {result['checked_us_per_clock']:.2f} us per clock")
print(f"ratio {result['ratio']:.0f} (median of {len(rounds)} rounds, CPU time), same RTL, Verilator and stimulus")
PY
