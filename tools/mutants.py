#!/usr/bin/env python3
"""Mutants of the RTL: does the stimulus of the random co-simulation notice each of them?

usage: mutants.py [--count N] [--seed N] [--ops N] [--rounds N] [--far NAME,... | --no-far] [--sort S]
                  [--sort-total S] [--least PERCENT] [--out FILE] [--go-on [--play]]

All mutants are in one netlist with a selector. The inputs of random co-simulation runs are
replayed into each of them, round by round, every round with a seed of its own and only for those
still alive, and those of the runs to far counters (all, those named by `--far`, or none) for those
that the first proofs leave open; a mutant is killed by the first output that differs from what the
co-simulation saw, which is what its scoreboard sees, since it predicts every output.
Survivors are sorted by proof: `equivalent` cannot be noticed by anyone, `missed` can (a run is
known in which an output differs), `unknown` is neither within the effort for each (S seconds for
a question), or not looked at within `--sort-total` seconds for all. Result: out/mutants.json.
With `--least` the exit code is 1 if the score is lower. `--go-on` makes no mutants and no
stimulus: it sorts those that an earlier run of the same work folder left unknown. With `--play`
it first plays the rounds of today's stimulus into those that are unknown or missed.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time

from pyosys import libyosys as ys

import aig
import claims
import known
import prover
import results
from states import States

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"NUM_QP": 4, "NUM_CQ": 2, "SQ_DEPTH": 4, "RQ_DEPTH": 4, "NUM_KEY": 8}
FIRST_OPS = 250
# The runs of testbench/hardware/far_runs.rs.
FAR = ("shared", "shapes", "looked", "flipped", "keys", "lives", "rings", "stale")
# not_looked_at: how often what is apart may grow.
SPREAD = 12
# never_seen: how many registers may differ, and how often more are let.
APART, WIDENED = 64, 3
# How many of those killed last no judge may call equivalent.
LATE = 20
# States of the runs that are compared with what is proved of states.
SEEN = 40


def run(design, *passes):
    for one in passes:
        ys.run_pass(f"tee -q {one}", design)


GATES = ("memory_map", "opt -full", "opt_clean", "dffunmap", "setundef -init -zero",
         "setundef -undriven -zero", "techmap", "simplemap", "aigmap", "opt_clean")


def netlist(work, count, seed):
    """The mutated netlist as an AIG, and the names of its registers; the list of mutants."""
    design = ys.Design()
    files = " ".join(str(ROOT / "rtl" / line) for line in (ROOT / "rtl/rnic.f").read_text().split())
    sizes = " ".join(f"-G {k}={v}" for k, v in SIZES.items())
    bits = count.bit_length()
    os.chdir(ROOT)
    run(design, f"read_slang --top rnic_top {sizes} {files}", "hierarchy -check -top rnic_top",
        "proc", "flatten", "opt_expr", "opt_clean", "check -assert", "design -save whole", *GATES,
        f"write_aiger -zinit -no-startoffset -map {work}/healthy.aim {work}/healthy.aig",
        "design -load whole",
        # Cells of memories cannot be mutated: the netlist would be illegal.
        f"mutate -list {count} -seed {seed} -ctrl mutsel {bits} 1 -o {work}/mutants.ys "
        "t:* t:$mem* %d t:$demux %d")
    registers = list(outputs_of_registers(design.top_module(), work / "mutants.ys"))
    run(design, f"script {work}/mutants.ys")
    name_held(design.top_module(), registers)
    run(design, "opt_clean", *GATES,
        f"write_aiger -zinit -no-startoffset -map {work}/mutants.aim {work}/mutants.aig")
    add_names(work, registers)
    return listed(work / "mutants.ys")


def outputs_of_registers(top, script):
    """What the mutants of a script change that is the output of a register: cell, bit of its port,
    and the (name, bit) of what it drives."""
    for line in script.read_text().splitlines():
        words = line.split()
        value = dict(zip(words, words[1:]))
        if value.get("-port") == "Q":
            [cell] = [c for c in (top.cell(ys.IdString(mark + value["-cell"])) for mark in ("", "\\")) if c]
            bit = int(value["-portbit"])
            driven = ys.SigSpec(cell.getPort(ys.IdString("\\Q")))[bit]
            yield cell, bit, (driven.wire.name.str().lstrip("\\"), driven.offset)


def name_held(top, registers):
    """A mutant at the output of a register takes the register's name: what it holds is called
    `held.N` here, N being the number of the register among these."""
    for n, (cell, bit, _) in enumerate(registers):
        wire = ys.SigSpec(cell.getPort(ys.IdString("\\Q")))[bit].wire
        if not wire.name.str().startswith("\\held."):
            top.rename(wire, ys.IdString(f"\\held.{n}"))


def add_names(work, registers):
    """The names that these registers have in the healthy machine, added to the map."""
    aliases = {}
    for line in (work / "healthy.aim").read_text().splitlines():
        kind, index, bit, *name = line.split()
        if kind == "latch":
            aliases.setdefault(index, []).append((name[0], int(bit)))
    same = {name: names for names in aliases.values() for name in names}
    number = {f"held.{n}": name for n, (_, _, name) in enumerate(registers)}
    path = work / "mutants.aim"
    lines = path.read_text().splitlines()
    # A register that is one with others in the healthy machine may be itself here.
    known = {tuple(line.split()[2:]) for line in lines}
    for line in list(lines):
        kind, index, _, *name = line.split()
        if kind == "latch" and name[0] in number:
            lines += [f"latch {index} {bit} {alias}" for alias, bit in same.get(number[name[0]], ())
                      if (str(bit), alias) not in known]
    path.write_text("\n".join(lines) + "\n")


def listed(path):
    """The mutants of a script that `mutate` wrote."""
    found = []
    for line in path.read_text().splitlines():
        words = line.split()
        value = {"-src": []}
        for key, word in zip(words, words[1:]):
            if key == "-src":
                value["-src"].append(re.sub(r"^.*?rtl/", "rtl/", word))
            elif key.startswith("-"):
                value[key] = word
        number = int(words[words.index("-ctrl") + 3])
        found.append({"mutant": number, "mode": value["-mode"], "source": value["-src"],
                      "wire": value.get("-wire", ""), "cell": value.get("-cell", "")})
    return found


def compiled(work, name):
    """A program of the testbench."""
    program = work / name
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-march=native", "-pthread",
                    f"-I{ROOT}/sim/abi", "-o", str(program), f"{ROOT}/testbench/{name}.cpp"], check=True)
    return program


def record(path, **asked):
    """Inputs and outputs of all profiles with this seed and number of operations, or of a far run."""
    subprocess.run(["cargo", "test", "--quiet", "--test", "hardware", "mutants_stimulus"], check=True, cwd=ROOT,
                   env={**os.environ, "RNIC_MUTANTS_STIMULUS": str(path.resolve()),
                        **{f"RNIC_MUTANTS_{k.upper()}": str(v) for k, v in asked.items()}},
                   stdout=subprocess.DEVNULL)


def replay(program, work, stimulus, mutants, seed):
    """Enter into the mutants when they are killed; gives the number of clocks."""
    processors = os.cpu_count() or 1
    # Neighbours die at different times: dealt like cards, the processors end together.
    parts = [part for part in (mutants[i::processors] for i in range(processors)) if part]
    running = [subprocess.Popen([str(program), str(work / "mutants.aig"), str(work / "mutants.aim"),
                                 str(stimulus), *(str(m["mutant"]) for m in part)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for part in parts]
    verdicts = {}
    for process in running:
        text, error = process.communicate()
        if process.returncode != 0:
            sys.exit(f"mutants: {error.strip()}")
        clocks, *lines = text.splitlines()
        verdicts.update(line.split() for line in lines)
    clocks = int(clocks.split()[1])
    for m in mutants:
        at = verdicts[str(m["mutant"])]
        if at != "-":
            m["fate"], m["killed_at"] = "killed", (seed, int(at))
    return clocks


def rounds(program, work, mutants, asked, since):
    """Rounds of stimulus until all are dead or the rounds are over; gives the number of clocks."""
    stimulus = work / "stimulus.bin"
    clocks = 0
    for m in mutants:
        m["fate"] = "survived"
    for seed in range(asked.rounds):
        alive = [m for m in mutants if m["fate"] == "survived"]
        if not alive:
            break
        # The first round kills most of them and need not be long.
        record(stimulus, seed=seed, ops=asked.ops if seed else min(asked.ops, FIRST_OPS))
        clocks += replay(program, work, stimulus, alive, seed)
        told(f"round {seed}", mutants, clocks, since)
    return clocks


def far_rounds(program, work, mutants, names, number, clocks, since):
    """The same with the runs to far counters, which are long: for those that no quick judge knew."""
    stimulus = work / "far.bin"
    for name in FAR:
        if name in names and (alive := [m for m in mutants if m["fate"] != "killed"]):
            record(stimulus, far=name)
            clocks += replay(program, work, stimulus, alive, number)
            told(name, mutants, clocks, since)
        number += 1
    stimulus.unlink(missing_ok=True)
    return clocks


def told(name, mutants, clocks, since):
    killed = sum(m["fate"] == "killed" for m in mutants)
    print(f"{name}: {killed} of {len(mutants)} killed within {clocks} clocks, {time.monotonic() - since:.0f} s", flush=True)


def sort_survivors(mutants, work, limit, total, far=None):
    """First what disturbed inputs show, one clock from any state that is possible, and what nobody
    looks at; then the far runs (`far` plays them); then what can be learned of the states, two
    clocks and runs. For at most `total` seconds, not counting the far runs."""
    global COMPARISON
    COMPARISON = aig.Comparison(aig.Aig(work / "mutants.aig"), work / "mutants.aim")
    COMPARISON.rules = known.Rules(*known.written(work), COMPARISON.latch_of)
    print(f"known of the states: {COMPARISON.rules.found} latches, {len(COMPARISON.rules.free)} without one",
          flush=True)
    end = time.monotonic() + total
    open_ = [m for m in mutants if m["fate"] == "survived"]
    late = sorted((m for m in mutants if m["fate"] == "killed"),
                  key=lambda m: (m.get("killed_at", (0, 0)), m["mutant"]))[-LATE:]
    shown = claims.simulated(compiled(work, "mutants_states"), work, work / "stimulus.bin",
                             [m["mutant"] for m in open_])
    # What is proved of the states must hold in those that were seen.
    seen = States(work / "states", None, COMPARISON.machine.latches)
    if (number := COMPARISON.rules.refuted(seen, range(0, seen.count, max(1, seen.count // SEEN)))) is not None:
        sys.exit(f"mutants: state {number} of the runs is one that formal/states.sv says cannot be")
    refuse_killed([m for m in mutants if m["fate"] == "killed"][::300], late, work, limit)
    for m in open_:
        m["fate"], m["why"] = "unknown", f"not looked at: {total} s were over"
        if m["mutant"] in shown:
            settled(m, ("missed", "an output differs when the inputs of the runs are disturbed at random"))

    def still():
        return [m for m in open_ if m["fate"] == "unknown"]

    def judged(judge):
        asked = [(judge, m["mutant"], work, limit, end) for m in still()]
        # Forked: the graphs are there already.
        with multiprocessing.get_context("fork").Pool() as pool:
            for m, verdict in zip(still(), pool.imap(one_of_sort, asked)):
                settled(m, verdict)

    judged(same_step)
    judged(not_looked_at)
    if far:
        began = time.monotonic()
        far([m for m in open_ if m["fate"] in ("unknown", "missed")])
        end += time.monotonic() - began
    number = {m["mutant"]: m for m in open_}
    for mutant, verdict in claims.judged(COMPARISON, [m["mutant"] for m in still()], work, limit, end):
        settled(number[mutant], verdict)
    judged(never_seen)
    judged(sort_runs)


def refuse_killed(some, late, work, limit):
    """A proof of what is known to be false would mean that nothing here can be believed."""
    judges = (same_step, not_looked_at, never_seen)
    asked = [(judge, m["mutant"], work, limit, float("inf")) for m in some for judge in judges]
    verdicts = [(one[1], one_of_sort(one)) for one in asked]
    verdicts += claims.of_killed(COMPARISON, [m["mutant"] for m in late], work, limit)
    for mutant, (fate, why) in verdicts:
        if fate == "equivalent":
            sys.exit(f"mutants: {mutant} was killed and is called equivalent: {why}")


def settled(m, verdict):
    """Enter a verdict, if there was time for one."""
    if verdict is None:
        return
    m["fate"], m["why"] = verdict
    if m["fate"] != "unknown":
        print(f"  {m['mutant']:5} {m['fate']:10} {m['mode']:7} {(m['source'] or ['?'])[-1]}"
              f" {m['wire']}: {m['why']}", flush=True)


def one_of_sort(asked):
    """The verdict of one judge, or None if the time is over."""
    judge, mutant, work, limit, end = asked
    if time.monotonic() > end:
        return None
    return judge(COMPARISON, mutant, prover.own_folder(work), limit)


def same_step(comparison, mutant, work, limit):
    """Equivalent already in one clock?"""
    path = work / "miter.aig"
    why = "same logic"
    if comparison.one_step(0, mutant, path):
        if not prover.unsatisfiable(path, limit):
            return "unknown", "differs in one clock from some state; not looked at further in the time"
        why = "same outputs and next state from every state that the machine can be in"
    if begins_the_same(comparison, mutant, set(), path, limit):
        return "equivalent", why
    return "unknown", "differs in the first clock"


def begins_the_same(comparison, mutant, apart, path, limit):
    """The first clock from power-up, in which reset is active, and the one behind it."""
    return all(not comparison.induction(0, mutant, apart, True, path, clocks)[0]
               or prover.unsatisfiable(path, limit) for clocks in (1, 2))


def not_looked_at(comparison, mutant, work, limit):
    """Equivalent because what it changes is what nobody looks at (formal/unseen.sv)? First with
    the latches that are seen apart, in the runs or by a solver; then with all that could be, as far as
    the logic shows."""
    path = work / "miter.aig"
    apart = seen_apart(comparison, mutant, work, limit)
    if apart is not None and (not comparison.unseen(0, mutant, apart, True, path, alone=True)[0]
                              or prover.unsatisfiable(path, limit)):
        return "equivalent", f"by induction: {len(apart)} latches may differ, only where nobody looks"
    apart = set()
    for _ in range(SPREAD):
        open_, more = comparison.unseen(0, mutant, apart, False, path)
        if open_ and not prover.unsatisfiable(path, limit):
            break
        if not more:
            if comparison.unseen(0, mutant, apart, True, path)[0] and not prover.unsatisfiable(path, limit):
                break
            return "equivalent", f"by induction: {len(apart)} latches may differ, only where nobody looks"
        apart |= more
    return "unknown", "somebody may look at what it changes; not looked at further in the time"


def seen_apart(comparison, mutant, work, limit):
    """Latches that may differ where nobody looks, so that no step leads beyond; None if somebody
    would look, or if they are not found in the time. Begins with those that the runs have seen."""
    path, models = work / "miter.aig", work / "models.aig"
    apart = set(States(work.parent / "states", mutant, comparison.machine.latches).apart)
    end = time.monotonic() + 4 * limit
    while apart <= comparison.rules.unseen.keys() and time.monotonic() < end:
        open_, latches = comparison.unseen(0, mutant, apart, False, path, alone=True, models=models)
        if not open_:
            return apart
        true, settled = prover.model(path, models, limit)
        if settled:
            return apart
        if true is None:
            return None
        # Two outputs for each latch: it differs, and somebody looks at it.
        different = {latches[n // 2] for n in true if n % 2 == 0}
        if different <= apart or any(n % 2 for n in true):
            return None
        apart |= different
    return None


def never_seen(comparison, mutant, work, limit):
    """Equivalent by induction over two clocks? What the mutant changes is kept in few registers,
    and forgotten or covered before an output can show it."""
    path = work / "miter.aig"
    apart = set()
    for _ in range(WIDENED):
        open_, more = comparison.induction(0, mutant, apart, False, path)
        if not open_ or prover.unsatisfiable(path, limit):
            if begins_the_same(comparison, mutant, apart, path, limit):
                return "equivalent", f"by induction: {len(apart)} registers may differ and are never seen"
            break
        if not more or len(apart | more) > APART:
            break
        apart |= more
    return "unknown", "a few clocks do not settle it; runs not looked at in the time"


def sort_runs(comparison, mutant, work, limit):
    """Is there a run in which an output differs?"""
    path = work / "miter.aig"
    comparison.machines(0, mutant, path)
    text = prover.abc(f"read_aiger {path}; strash; bmc3 -T {limit}", limit)
    if m := re.search(r"was asserted in frame (\d+)", text):
        return "missed", f"an output can differ {m[1]} clocks after power-up"
    text = prover.abc(f"read_aiger {path}; scorr; dc2; pdr -T {limit}", limit)
    if "Property proved" in text:
        return "equivalent", "no output differs in any run"
    return "unknown", f"neither proved nor found in {limit} s"


def sort(comparison, mutant, work, limit):
    """The first verdict that is one, without what needs recorded runs or is known of the whole machine."""
    for judge in (same_step, never_seen, sort_runs):
        fate, why = judge(comparison, mutant, work, limit)
        if fate != "unknown":
            break
    return fate, why


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--far", type=far_names, default=FAR)
    parser.add_argument("--no-far", dest="far", action="store_const", const=())
    parser.add_argument("--sort", type=int, default=30)
    parser.add_argument("--sort-total", type=int, default=3600)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/mutants.json")
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--play", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/mutants")
    asked = parser.parse_args()
    if asked.count < 1:
        parser.error("--count must be at least 1")
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if asked.play and not asked.go_on:
        parser.error("--play goes with --go-on")
    mutants, about = left_open(asked, parser) if asked.go_on else played(asked, work)
    about["sort_limit"] = asked.sort
    if asked.play:
        missed = [m for m in mutants if m["fate"] == "missed"]
        open_ = [m for m in mutants if m["fate"] == "survived"] + missed
        about["clocks"] += rounds(compiled(work, "mutants_replay"), work, open_, asked, time.monotonic())
        for m in missed:
            if m["fate"] == "survived":
                m["fate"] = "missed"

    def far(unknown):
        about["clocks"] += far_rounds(compiled(work, "mutants_replay"), work, unknown, asked.far,
                                      asked.rounds, 0, time.monotonic())

    sort_survivors(mutants, work, asked.sort, asked.sort_total, far if asked.far else None)
    score = write(asked.out.resolve(), mutants, about)
    if 100 * score < asked.least:
        sys.exit(f"mutants: the score is below {asked.least:g} %")


def far_names(text):
    """Names of far runs, separated by commas."""
    names = text.split(",")
    if unknown := [name for name in names if name not in FAR]:
        raise argparse.ArgumentTypeError(f"there is no run {unknown[0]}; there are: {', '.join(FAR)}")
    return names


def played(asked, work):
    """New mutants with the stimulus played into them, and what the result says of the run."""
    started = time.monotonic()
    keep = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(null, 1)  # pyosys echoes every pass
    mutants = netlist(work, asked.count, asked.seed)
    os.dup2(keep, 1)
    print(f"{len(mutants)} mutants in one netlist, {time.monotonic() - started:.0f} s", flush=True)
    clocks = rounds(compiled(work, "mutants_replay"), work, mutants, asked, started)
    return mutants, {"clocks": clocks, "seed": asked.seed, "configuration": SIZES}


def left_open(asked, parser):
    """The same from an earlier result, with what it left unknown among the survivors again."""
    if not asked.out.exists():
        parser.error(f"--go-on: {asked.out} is not there; a run without --go-on writes it")
    data = json.loads(asked.out.read_text())
    survivors = data["survivors"]
    known = {m["mutant"] for m in survivors}
    last = {k: (seed, clock) for k, seed, clock in data.get("killed_last", ())}
    killed = [{"mutant": k, "fate": "killed", **({"killed_at": last[k]} if k in last else {})}
              for k in range(1, data["mutants"] + 1) if k not in known]
    for m in survivors:
        if m["fate"] == "unknown":
            m["fate"] = "survived"
    return killed + survivors, {k: data[k] for k in ("clocks", "seed", "configuration")}


def write(path, found, about):
    """The result file, and its one line; gives the score."""
    fates = [m["fate"] for m in found]
    count = {f: fates.count(f) for f in ("killed", "equivalent", "missed", "unknown")}
    score = count["killed"] / max(1, len(found) - count["equivalent"])
    last = sorted((*m["killed_at"], m["mutant"]) for m in found if "killed_at" in m)[-LATE:]
    results.write(path, {"mutants": len(found), **about, **count, "score": round(score, 4),
                         "killed_last": [(k, seed, clock) for seed, clock, k in last],
                         "survivors": [m for m in found if m["fate"] != "killed"]})
    print(", ".join(f"{n} {f}" for f, n in count.items())
          + f": score {100 * score:.1f} %; {path}")
    return score


if __name__ == "__main__":
    main()
