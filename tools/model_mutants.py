#!/usr/bin/env python3
"""Mutants of the golden model: do the tests notice each of them?

usage: model_mutants.py [--shard K/N] [--out FILE] [--work FOLDER]

cargo-mutants makes them and runs the model's own tests on each; those that live meet the tests of
testbench/model, and those that still live the co-simulation, which compares the model with the
RTL. Of `--shard K/N`, K from 0, is every N-th mutant. Result: out/model_mutants.json. Needs
cargo-mutants (cargo install cargo-mutants --locked).
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

from results import write

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is run on a mutant that all before have missed, and how long it may take: the slow tests of
# testbench/model for themselves, since the others suffice for most.
SLOW = ["accepted_masks_with_state", "wqe_walks::", "any_sequence", "provisioning_theorem",
        "no_hidden_inputs"]
MODEL = ["cargo", "test", "--no-default-features", "--profile", "mutants", "--test", "model", "--"]
LATER = [
    ("testbench/model", MODEL + [word for name in SLOW for word in ("--skip", name)], 300),
    ("testbench/model, the slow tests", MODEL + SLOW, 300),
    ("co-simulation", ["cargo", "test", "--test", "hardware", "--", "cosim_random", "decoder_block",
                       "walker_block", "ring_block", "gate_exhaustive::every_value",
                       "gate_exhaustive::anything"], 600),
]


def made(work, shard):
    """The outcomes of cargo-mutants."""
    command = ["cargo", "mutants", "--package", "rnic-cosim-model", "--sharding", "round-robin",
               "--no-shuffle", "--jobs", str(os.cpu_count() or 1), "--no-times", "--profile", "mutants", "--colors", "never",
               "--output", str(work)]
    command += ["--shard", shard] if shard else []
    code = subprocess.call(command, cwd=ROOT)
    # 2: some were missed, 3: some took too long.
    if code not in (0, 2, 3):
        sys.exit(f"tools/model_mutants.py: cargo mutants failed with {code}")
    folder = work / "mutants.out"
    outcomes = json.loads((folder / "outcomes.json").read_text())["outcomes"]
    return [{"name": o["scenario"]["Mutant"]["name"], "summary": o["summary"],
             "diff": folder / o["diff_path"]}
            for o in outcomes if o["scenario"] != "Baseline"]


def copied(work):
    """A copy of the files under version control, to be mutated."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in files.stdout.decode().split("\0")[:-1]:
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return tree


def passes(tree, command, seconds):
    environment = dict(os.environ, CARGO_TARGET_DIR=str(tree.parent / "target"),
                       RNIC_CONFIGS="small,default")
    try:
        return subprocess.run(command, cwd=tree, env=environment, timeout=seconds,
                              capture_output=True).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def applied(tree, mutant, *more):
    subprocess.run(["patch", "--quiet", "-p0", "-d", tree, "-i", mutant["diff"], *more], check=True)


def main():
    parser = argparse.ArgumentParser(usage="%(prog)s [--shard K/N] [--out FILE] [--work FOLDER]")
    parser.add_argument("--shard")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/model_mutants.json")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/model-mutants")
    args = parser.parse_args()
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True).returncode != 0:
        sys.exit("tools/model_mutants.py: cargo-mutants is not installed: "
                 "cargo install cargo-mutants --locked")
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)

    mutants = made(work, args.shard)
    of = lambda *summaries: [m for m in mutants if m["summary"] in summaries]
    killed = [{"by": "the model's own tests", "killed": len(of("CaughtMutant", "Timeout"))}]
    alive = of("MissedMutant")
    tree = copied(work)
    for by, command, seconds in LATER:
        if not alive:
            break
        # The first time everything is compiled.
        if not passes(tree, command, 3600):
            sys.exit(f"tools/model_mutants.py: without a mutant this fails: {' '.join(command)}")
        left = []
        for at, mutant in enumerate(alive, 1):
            applied(tree, mutant)
            lives = passes(tree, command, seconds)
            applied(tree, mutant, "--reverse")
            print(f"{by} {at}/{len(alive)} {'missed' if lives else 'killed'} {mutant['name']}",
                  flush=True)
            left += [mutant] if lives else []
        killed.append({"by": by, "killed": len(alive) - len(left)})
        alive = left

    viable = len(mutants) - len(of("Unviable"))
    result = {
        "shard": args.shard or "0/1",
        "mutants": viable,
        "does_not_compile": len(of("Unviable")),
        "killed": killed,
        "score": (viable - len(alive)) / viable if viable else 1.0,
        "survivors": [m["name"] for m in alive],
    }
    write(args.out, result)
    print(f"{viable} mutants, {viable - len(alive)} killed: {100 * result['score']:.1f} %")
    for name in result["survivors"]:
        print(f"  {name}")


main()
