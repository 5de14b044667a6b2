#!/usr/bin/env python3
"""Write docs/synth.md from out/synth.json and tools/synth.toml.

A result that is not there is said to be not there.
"""
import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = """# Silicon

What the RTL costs and how fast it runs, measured with open tools. This page is written by
`tools/synth_page.py` from the results of `make synth`; nobody edits it.

* **ECP5**: yosys `synth_ecp5`, then nextpnr, speed grade 8, out of context; the median of
  the seeds' clock rates. **xcup**: cells of yosys `synth_xilinx -family xcup`, not placed.
* **registered**: the module stands between registers on all its ports, so the clock rate is
  that of its logic. These registers are counted too.
* **LUTs in a row**: the longest way from one register to the next, before placement. Entering
  a carry chain counts one, a carry on its way none.
* Cell counts are exact and repeatable. A clock rate is what this placer found; another seed
  moves it by about five percent, another tool by more.
* `tools/synth.sh --check` compares the cell counts with `testbench/data/synth_baseline.json`.

"""

NON_CLAIMS = """
## What is not claimed

* Nothing was run on a device. Out of context means without pins and without what would surround
  the module.
* nextpnr's ECP5 timing is a model made from the vendor's published data, not the vendor's tool.
* The xcup column says how many cells, not how fast: no open tool places that family here.
* Power is not estimated.
"""


def cell(result, family, *kinds):
    cells = result["cells"].get(family)
    return "" if cells is None else f"{sum(cells.get(k, 0) for k in kinds):,}"


def overview(out, rows):
    out.append("## Results\n")
    out.append("| design | LUT4 | FF | block RAM | distributed RAM | LUTs in a row | MHz | xcup LUT | xcup FF | xcup RAM |")
    out.append("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for design, result in rows:
        if result is None:
            out.append(f"| {design['name']} | not measured |||||||||")
            continue
        ram = ", ".join(f"{n:,} {k.removeprefix('block RAM ')}" for k, n in result["cells"].get("xcup", {}).items()
                        if "RAM" in k) or ("0" if "xcup" in result["cells"] else "")
        out.append(f"| {design['name']} | {cell(result, 'ecp5', 'LUT4')} | {cell(result, 'ecp5', 'FF')} | "
                   f"{cell(result, 'ecp5', 'block RAM')} | {cell(result, 'ecp5', 'distributed RAM')} | "
                   f"{result.get('depth', {}).get('luts', '')} | {result.get('mhz', 'not placed')} | "
                   f"{cell(result, 'xcup', 'LUT')} | {cell(result, 'xcup', 'FF')} | {ram} |")
    out.append("\nECP5 block RAM: blocks of 18 kbit; distributed RAM: cells of 16 x 4 bits, each of which takes two "
               "LUT4 beside those counted. xcup distributed RAM: cells as yosys counts them.\n")


def goals(out, rows):
    out.append("## Goals\n")
    out.append("| design | goal on ECP5 | reached | |\n|---|---|---|---|")
    missed = []
    for design, result in rows:
        for goal, unit in (("goal_mhz", "MHz"), ("goal_lut4", "LUT4")):
            if goal not in design:
                continue
            has = result and (result.get("mhz") if unit == "MHz" else result["cells"]["ecp5"].get("LUT4", 0))
            good = has and (has >= design[goal] if unit == "MHz" else has <= design[goal])
            sign = "at least" if unit == "MHz" else "at most"
            out.append(f"| {design['name']} | {sign} {design[goal]} {unit} | {f'{has:,} {unit}' if has else 'not measured'} "
                       f"| {'met' if good else 'missed' if has else ''} |")
            if has and not good and "missed" in design:
                missed.append((design["name"], design["missed"]))
    out.append("")
    for name, why in dict(missed).items():
        out.append(f"**{name}.** {why.strip()}\n".replace("**", "`"))


def growth(out, rows):
    tops = [(d, r) for d, r in rows if r and d["top"] == "rnic_top"]
    if len(tops) < 2:
        return
    out.append("## As the number of QPs grows\n")
    out.append("| QPs | LUT4 | FF | block RAM | distributed RAM |\n|--:|--:|--:|--:|--:|")
    for design, result in tops:
        out.append(f"| {design['parameters']['NUM_QP']:,} | {cell(result, 'ecp5', 'LUT4')} | {cell(result, 'ecp5', 'FF')} | "
                   f"{cell(result, 'ecp5', 'block RAM')} | {cell(result, 'ecp5', 'distributed RAM')} |")
    out.append("\nMemories of 16 words are distributed RAM, larger ones block RAM. Memories deeper than a "
               "block need a multiplexer over their blocks, which is where LUTs grow with depth.\n")


def details(out, rows):
    out.append("## Critical paths\n")
    out.append("| design | on | seed | MHz | from | to | ns | of it wires |\n|---|---|--:|--:|---|---|--:|--:|")
    for design, result in rows:
        for seed in (result or {}).get("seeds", []):
            out.append(f"| {design['name']} | {result['placed']} | {seed['seed']} | {seed['mhz']} | `{seed['from']}` | "
                       f"`{seed['to']}` | {seed['ns']} | {seed['wires_ns']} |")
    out.append("\nMost LUTs in a row:\n\n| design | LUTs | from | to |\n|---|--:|---|---|")
    for design, result in rows:
        if result and "depth" in result:
            deep = result["depth"]
            out.append(f"| {design['name']} | {deep['luts']} | `{deep['from']}` | `{deep['to']}` |")
    out.append("\nNames are those of the RTL. A register that a tool merged or moved may carry the name of "
               "a neighbour; in a registered module, ports are named.\n")


def memories(out, rows):
    name, last = None, None
    for design, result in rows:
        if result and design["top"] == "rnic_top" and "ecp5" in result["memories"]:
            name, last = design["name"], result["memories"]
    if not last:
        return
    out.append(f"## Memories of {name}\n\n| memory | ECP5 | xcup |\n|---|---|---|")
    shown = {}
    for memory, kind in last["ecp5"].items():
        shared = re.sub(r"\[\d+\]", "", memory.replace(".g_lane", "")).replace(".mem", "")
        shown[shared] = (kind, last.get("xcup", {}).get(memory, ""))
    for memory, kinds in shown.items():
        out.append(f"| `{memory}` | " + " | ".join(k.strip("$_") for k in kinds) + " |")
    out.append("")


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    path = ROOT / "out/synth.json"
    if not path.exists():
        sys.exit("synth_page: there is no out/synth.json: make synth writes it")
    data = json.loads(path.read_text())
    measured = {r["name"]: r for r in data["designs"]}
    rows = [(d, measured.get(d["name"])) for d in tomllib.loads((ROOT / "tools/synth.toml").read_text())["design"]]
    out = [HEAD + "Tools: " + ", ".join(f"{n} {v}" for n, v in data["tools"].items()) + ".\n"]
    out += ["| design | what it is |\n|---|---|"]
    out += [f"| {d['name']} | {d['says']}{'; registered' if d.get('registered') else ''} |" for d, _ in rows]
    out.append("")
    overview(out, rows)
    goals(out, rows)
    growth(out, rows)
    details(out, rows)
    memories(out, rows)
    out.append(NON_CLAIMS)
    (ROOT / "docs/synth.md").write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(out)))


main()
