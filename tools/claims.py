"""The judge that learns. Mutants are taken one after the other, and each may build on what was
proved of the healthy machine for those before it. What is learned (tools/learn.py) counts only
when the graph that Comparison.claim writes has no solution."""
import multiprocessing
import os
import subprocess
import time

import learn
import prover
from states import States

# Questions to the solver, and seconds of the processor, for each mutant: a quick look at all of
# them first.
EFFORTS = ((1000, 15), (20000, 60))
KILLED_SECONDS = 5
HEALTHY = None  # of the work at hand, for the processes that are forked


def simulated(program, work, stimulus, mutants):
    """Write the states that these mutants pass through. Gives those that an output has shown."""
    folder = work / "states"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.apart"):
        old.unlink()
    done = subprocess.run([str(program), str(work / "mutants.aig"), str(work / "mutants.aim"), str(stimulus),
                           str(folder), *map(str, mutants)], check=True, capture_output=True, text=True)
    return {int(line.split()[0]) for line in done.stdout.splitlines()}


def holds(comparison, mutant, apart, cubes, known, work, limit):
    """Does abc confirm the claim: after the first clock, and from each clock to the next?"""
    path = work / "claim.aig"
    return all(not comparison.claim(0, mutant, apart, cubes, known, start, path)
               or prover.unsatisfiable(path, limit) for start in (True, False))


def judge(healthy, mutant, states, bank, effort, seconds, work, limit, end=float("inf")):
    """The verdict on one mutant; the bank has more afterwards."""
    learner = None
    try:
        learner = learn.Learner(healthy, mutant, states, bank, effort, seconds, end)
        closed, found = learner.learn()
    except learn.Exhausted:
        verdict = "unknown", "no claim about its states was found that holds; runs not looked at in the time"
    else:
        if not closed:
            verdict = "missed", "an output can differ in a clock behind a state of the runs"
        elif holds(healthy.comparison, mutant, learner.apart, found, bank.cubes, work, limit):
            verdict = "equivalent", (f"by induction: {len(learner.apart)} latches may differ, in none of "
                                     f"{len(found)} cases in which it would be seen")
        else:
            verdict = "unknown", f"a claim of {len(found)} cases was not confirmed in the time"
    if learner:
        cubes, states = learner.gained()
        bank.states += states
        if cubes and holds(healthy.comparison, 0, (), cubes, bank.cubes, work, limit):
            bank.cubes += cubes
    return verdict


def one_hand(asked):
    """The verdicts on some mutants, None where the time is over; and what was learned."""
    cubes, states, mutants, effort, seconds, work, limit, end = asked
    bank = learn.Bank(cubes, states)
    own = prover.own_folder(work)
    verdicts = []
    for mutant in mutants:
        if time.monotonic() > end:
            verdicts.append((mutant, None))
            continue
        seen = States(work / "states", mutant, HEALTHY.latches)
        verdicts.append((mutant, judge(HEALTHY, mutant, seen, bank, effort, seconds, own, limit, end)))
    return verdicts, bank.cubes[len(cubes):], bank.states[len(states):]


def of_killed(comparison, mutants, work, limit):
    """What the judge says of mutants that were killed, if it is not told of a state in which they
    are apart."""
    global HEALTHY
    HEALTHY = learn.Healthy(comparison)
    asked = [(mutant, work, limit) for mutant in mutants]
    # Forked: the graphs are there already.
    with multiprocessing.get_context("fork").Pool() as pool:
        return list(zip(mutants, pool.starmap(one_of_killed, asked, chunksize=1)))


def one_of_killed(mutant, work, limit):
    return judge(HEALTHY, mutant, States(work / "states", None, HEALTHY.latches), learn.Bank(),
                 EFFORTS[0][0], KILLED_SECONDS, prover.own_folder(work), limit)


def judged(comparison, mutants, work, limit, end):
    """Yields (mutant, verdict), and again after a longer look at those that are unknown."""
    global HEALTHY
    HEALTHY = learn.Healthy(comparison)
    bank = learn.Bank()
    hands = os.cpu_count() or 1
    for effort, seconds in EFFORTS:
        parts = [mutants[i::hands] for i in range(hands)]
        asked = [(bank.cubes, bank.states, part, effort, seconds, work, limit, end) for part in parts if part]
        # Forked: the graphs are there already.
        with multiprocessing.get_context("fork").Pool(hands) as pool:
            done = pool.map(one_hand, asked, chunksize=1)
        mutants = []
        for verdicts, cubes, states in done:
            bank.cubes += cubes
            bank.states += states
            for mutant, verdict in verdicts:
                if verdict is not None:
                    yield mutant, verdict
                if verdict is None or verdict[0] == "unknown":
                    mutants.append(mutant)
