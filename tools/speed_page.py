#!/usr/bin/env python3
"""Write docs/speed.md from the results of tools/bench.sh in out/.

A result that is not there is said to be not there.
"""
import json
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out"

HEAD = """# Speed

Written by `make bench` (`tools/bench.sh --cocotb` for all of it); nobody edits this page. Ratios
are of things that took turns on one machine, in CPU time, medians over the rounds; the absolute
numbers are that machine's ({machine}).
"""


def lines(name):
    path = OUT / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def load(name):
    path = OUT / name
    return json.loads(path.read_text()) if path.exists() and path.stat().st_size else None


def missing(what, how="make bench"):
    return f"{what}: not measured (`{how}`).\n"


def harness(result, name):
    return next(h for h in result["harnesses"] if h["harness"].startswith(name))


def goal(met, wanted):
    return f"(goal: {wanted}, {'met' if met else 'missed'})"


def simulation(out):
    out.append("\n## Simulation\n")
    result = load("bench.json")
    if not result:
        out.append(missing("Harnesses"))
        return
    out.append(f"Configuration {result['config']}, profile {result['profile']}, "
               f"{result['rounds']} rounds of {result['clocks_per_round']:.0f} clocks, "
               f"{result['operations_per_clock']:.2f} operations per clock.\n")
    out.append("| harness | ratio |\n|---|---|")
    for h in result["harnesses"]:
        out.append(f"| {h['harness']} | {h['ratio']:.2f} |")
    out.append("")
    checked = harness(result, "checked")["ratio"]
    out.append(f"The bare C++ loop took {harness(result, 'bare')['cpu_ns_per_clock']:.0f} ns per clock "
               "(median of the rounds); a ratio is the median of the ratios in each round, since the "
               "machine is not as fast in one as in the next. Checked co-simulation "
               f"{goal(checked <= 1.7, 'at most 1.7')}.\n")


def against(out):
    large = load("bench_large.json")
    if large:
        ratio = large["clocks_per_second_ratio"]
        out.append(f"65,536 QPs against 64: clocks per second times {ratio['bare']:.2f} in the bare "
                   f"loop and {ratio['checked']:.2f} checked {goal(min(ratio['bare'], ratio['checked']) >= 0.8, 'at least 0.8')}.\n")
    else:
        out.append(missing("65,536 QPs against 64"))
    rounds = lines("bench_trace.jsonl")
    if rounds:
        ratio = statistics.median(
            harness(r["with"], "bare")["cpu_ns_per_clock"]
            / harness(r["without"], "bare")["cpu_ns_per_clock"] for r in rounds)
        out.append(f"Waveforms compiled in (and not written) against a build without: times "
                   f"{ratio:.2f} of the bare loop, {len(rounds)} rounds {goal(ratio <= 1.05, 'at most 1.05')}.\n")
    else:
        out.append(missing("Waveforms compiled in against not"))
    cocotb = load("bench_cocotb.json")
    if cocotb:
        out.append(f"cocotb 1.8.1 on the same RTL, Verilator and stimulus, outputs compared with a "
                   f"recording: {cocotb['cocotb_us_per_clock']:.0f} us per clock, "
                   f"{cocotb['ratio']:.0f} times the checked co-simulation {goal(cocotb['ratio'] >= 500, 'at least 500')}, "
                   f"{len(cocotb['rounds'])} rounds.\n")
    else:
        out.append(missing("cocotb", "tools/bench.sh --cocotb"))


def per_clock(name):
    """Instructions per clock of the bare loop, or None."""
    result, log = load(f"{name}.json"), OUT / f"{name}.log"
    found = re.search(r"Collected\s*:\s*(\d+)", log.read_text()) if log.exists() else None
    return int(found[1]) / result["clocks_per_round"] if result and found else None


def instructions(out):
    traced, without = per_clock("bench_callgrind"), per_clock("bench_callgrind_no_trace")
    if traced and without:
        out.append(f"Instructions per clock of the bare loop, by callgrind: {traced:.0f}; {without:.0f} "
                   f"without waveforms compiled in, so they cost times {traced / without:.2f}. Other "
                   "than times these do not depend on what else the machine does.\n")
    else:
        out.append(missing("Instructions per clock", "make bench, with valgrind installed"))


def throughput(out):
    out.append("\n## Throughput of the hardware\n")
    mixes = lines("throughput.jsonl")
    if not mixes:
        out.append(missing("Operations per clock"))
        return
    out.append("Counted by the execute stage in every clock (`slot_kind`). A slot without an "
               "operation is empty, the first of the two beats of CREATE and DESTROY, a visit of a "
               "work list that found nothing to do, or a probe of the cascade walk that found the QP "
               "on another CQ. Two clocks fill the pipeline.\n")
    out.append("| mix | clocks | operations | per clock | empty | first beats | idle visits | "
               "idle probes |\n|---|---|---|---|---|---|---|---|")
    for m in mixes:
        out.append(f"| {m['mix']} | {m['clocks']} | {m['operations']} | "
                   f"{m['operations'] / m['clocks']:.4f} | {m['empty']} | {m['first_beats']} | "
                   f"{m['idle_visits']} | {m['idle_probes']} |")
    out.append("")


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
             if line.startswith("model name")]
    version = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=False)
    return ", ".join([names[0] if names else "unknown processor", f"{len(names)} cores",
                      " ".join(version.stdout.split()[:2])])


def main():
    out = [HEAD.format(machine=machine())]
    simulation(out)
    against(out)
    instructions(out)
    throughput(out)
    (ROOT / "docs/speed.md").write_text("\n".join(out).replace("\n\n\n", "\n\n"))


main()
