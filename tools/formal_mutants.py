#!/usr/bin/env python3
"""Mutants of the blocks against the properties of formal/: are these any good?

usage: formal_mutants.py [--count N] [--sort S] [--out FILE] [NAME ...]

Each proof of NAME (default: those of single blocks) gets N mutants of its RTL, not of its
checker. A mutant is killed if an assertion fails within a few clocks. Survivors are sorted as
mutants.py does; "an output" is any output port of the block. Result:
out/property_mutants.json.
"""
import argparse
import json
import pathlib
import re
import sys
import tempfile
import time

import aig
import formal
import mutants
import prover

ROOT = formal.ROOT
BLOCKS = ["qp_transition", "cq_ring", "wqe_ctrl_decoder", "stream_fifo", "ram_1r1w", "work_list",
          "issue_queue"]


def examine(proof, count, limit, work):
    blocks = [f for f in proof["files"] if f.startswith("rtl/")]
    chosen = " ".join(f"a:src=*{b}*" for b in blocks) + " %u" * (len(blocks) - 1)
    bits = (count + 1).bit_length()
    mutate = ["opt_expr", "opt_clean",
              f"mutate -list {count} -seed 1 -ctrl mutsel {bits} 1 -o {work}/mutants.ys "
              f"{chosen} t:$mem* %d t:$demux %d t:$check %d t:$print %d",
              # The ports of the block, not those of what it is made of.
              f"script {work}/mutants.ys", "expose w:u_*_o w:u_*.u_*_o %d"]
    design = formal.read({**proof, "passes": mutate}, work)
    formal.run(design, work / "aiger.log", "chformal -cover -remove", "setundef -init -zero",
               "setundef -undriven -zero", "simplemap", "opt_clean", "aigmap", "opt_clean",
               f"write_aiger -zinit -no-startoffset -map {work}/all.aim {work}/all.aig")
    found = mutants.listed(work / "mutants.ys")
    comparison = aig.Comparison(aig.Aig(work / "all.aig"), work / "all.aim")
    path = work / "one.aig"
    for m in found:
        comparison.violation(m["mutant"], path)
        text = prover.abc(f"read_aiger {path}; strash; bmc3 -F 14 -T {limit}", limit)
        if re.search(r"was asserted in frame", text):
            m["fate"] = "killed"
        else:
            m["fate"], m["why"] = mutants.sort(comparison, m["mutant"], work, limit)
        m["proof"] = proof["name"]
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--sort", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/property_mutants.json")
    asked = parser.parse_args()
    proofs = {p["name"]: p for p in formal.proofs()}
    names = asked.names or BLOCKS
    for name in names:
        if name not in proofs:
            parser.error(f"there is no proof {name}; there are: {', '.join(proofs)}")
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        formal.tables(folder)
        for name in names:
            started = time.monotonic()
            work = folder / name
            work.mkdir()
            found = formal.quiet(examine, proofs[name], asked.count, asked.sort, work)
            everything += found
            fates = [m["fate"] for m in found]
            print(f"{name}: " + ", ".join(f"{fates.count(f)} {f}" for f in
                                          ("killed", "equivalent", "missed", "unknown"))
                  + f", {time.monotonic() - started:.0f} s", flush=True)
            for m in found:
                if m["fate"] in ("missed", "unknown"):
                    print(f"  {m['mutant']:4} {m['fate']:8} {m['mode']:7} {(m['source'] or ['?'])[-1]} "
                          f"{m['wire']}: {m['why']}", flush=True)
    mutants.write(asked.out.resolve(), everything,
                  {"proofs": names, "seed": 1, "sort_limit": asked.sort})


if __name__ == "__main__":
    try:
        main()
    except formal.ToolError as error:
        sys.exit(f"formal_mutants: {error}")
