#!/usr/bin/env python3
"""Write docs/evidence.md from out/formal.json, out/mutants.json, out/property_mutants.json and
out/model_mutants.json.

Of a result that is not there the page keeps what an earlier run said, and says so.
"""
import json
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/evidence.md"
OLD = "*Of an earlier run than the rest of this page.*"

HEAD = """# Evidence

How sure can one be that the tests and the checks would have noticed? This page is written by
`make evidence` from the results of `make formal`, `make mutants`, `make property-mutants` and
`make model-mutants`; nobody edits it.

* **proved**: for all inputs and all times, from reset, at the sizes in the table, under the
  assumptions written as `assume` in the property file (free inputs otherwise).
* **bounded**: for all inputs, in every run of so many clocks after reset; nothing is said
  about longer runs.
* **open**: neither proved nor refuted within the time limit. Not evidence.
* **reached**: a cover statement that was reached, so the assertions beside it are not about
  an empty set.
"""

NON_CLAIMS = """## What is not claimed

* Sizes: proofs hold at the sizes in the tables. Larger ones are tested (`make test`), not proved.
* The proofs start with free contents of memories and registers without reset; they do not speak of
  power-up before the first reset.
* `contexts` and `containment` speak of the execute stage with contexts around it, one operation
  per clock and no stages; `pipeline` shows that the stage in the whole top meets just that: newest
  contexts, own command, right CQ. That the three together say what the top does is an argument,
  not a fourth proof, and it holds for 2 QPs and 2 CQs.
* The bounded check of the top (`rnic_top`) covers the first operations after reset only. It is
  there because it needs no such argument.
* The proof tools (slang, yosys, abc, CaDiCaL, bitwuzla) are trusted.
* A mutant is one changed cell of the netlist. Faults that need two changes, and faults of the
  specification, are not among them.
* `equivalent` means that no output, looked at where its valid is 1, can differ in any clock after
  the first, in which reset is active, whatever the inputs: the same logic, an induction over
  one clock or two, or a proof of abc over all runs. Inductions of mutants against the co-simulation
  take as known of the healthy machine what the proof `states` shows. What an induction claims of the states may be
  learned by a search, or guessed (`formal/unseen.sv`, the registers that nobody looks at); each
  claim is confirmed by itself, so neither need be trusted.
* The runs against the mutants are those of the random co-simulation, and for those that they and
  the quick proofs leave the far runs of `testbench/hardware/far_runs.rs`.
* `missed` means that some input, perhaps one that no host or memory ever gives, shows a
  difference: every input of the miter is free.
"""


def load(name):
    path = ROOT / "out" / name
    return json.loads(path.read_text()) if path.exists() else None


def section(out, name, title, command):
    """Begins a section; gives the result that it tells of, if there is one."""
    data = load(name)
    out.append(f"\n## {title}\n")
    if not data:
        out.append(earlier(title) or f"No result: `{command}` was not run.\n")
    return data


def earlier(title):
    """What the page says under this title now, marked as old."""
    page = PAGE.read_text() if PAGE.exists() else ""
    _, _, found = page.partition(f"\n## {title}\n")
    body = found.partition("\n## ")[0].strip("\n")
    if not body or body.startswith("No result"):
        return None
    return f"\n{body}\n" if body.startswith(OLD) else f"\n{OLD}\n\n{body}\n"


def formal(out):
    data = section(out, "formal.json", "Proofs", "make formal")
    if not data:
        return
    for proof in tomllib.loads((ROOT / "formal/proofs.toml").read_text())["proof"]:
        rows = [r for r in data["properties"] if r["proof"] == proof["name"]]
        out.append(f"### {proof['name']}\n\n{proof['says'][0].upper()}{proof['says'][1:]}.\n")
        if not rows:
            out.append("Not run.\n")
            continue
        sizes = proof.get("sizes", rows[0]["configuration"])
        out.append(f"Sizes: {sizes if sizes != '-' else 'the block has none'}.\n")
        out.append("| property | verdict | engine | clocks | seconds |\n|---|---|---|---|---|")
        for r in rows:
            clocks = "all" if r["verdict"] == "proved" else ("" if r["depth"] is None else r["depth"])
            out.append(f"| {r['property']} | {r['verdict']} | {r['engine']} | {clocks} | {r['seconds']:.1f} |")
        out.append("")


def summary(out):
    data = load("formal.json")
    if not data:
        return
    count = {}
    for r in data["properties"]:
        if r["kind"] == "assert":
            count[r["verdict"]] = count.get(r["verdict"], 0) + 1
    total = ", ".join(f"{n} {v}" for v, n in sorted(count.items(), key=lambda p: -p[1]))
    reached = sum(r["verdict"] == "reached" for r in data["properties"])
    covers = sum(r["kind"] == "cover" for r in data["properties"])
    out.append(f"\nAssertions: {total}. Cover statements: {reached} of {covers} reached.\n")


def mutants(out, name, title, command, by):
    data = section(out, name, title, command)
    if not data:
        return
    tried = data["mutants"] - data["equivalent"]
    out.append(f"{data['mutants']} mutants ({by}): {data['killed']} killed, {data['equivalent']} proved "
               f"equivalent, {data['missed']} missed, {data['unknown']} unknown.\n")
    out.append(f"**Score: {data['killed']} of {tried} = {100 * data['score']:.1f} %** of those that are not "
               "proved equivalent; every unknown counts as not killed.\n")
    rest = [m for m in data["survivors"] if m["fate"] != "equivalent"]
    if rest:
        out.append("| mutant | fate | change | source | signal | |\n|---|---|---|---|---|---|")
        for m in rest:
            out.append(f"| {m['mutant']} | {m['fate']} | {m['mode']} | {(m['source'] or ['?'])[-1]} | "
                       f"`{m['wire']}` | {m['why']} |")
        out.append("")


def model_mutants(out):
    data = section(out, "model_mutants.json", "Mutants of the golden model", "make model-mutants")
    if not data:
        return
    part, parts = data["shard"].split("/")
    of = "All mutants" if parts == "1" else f"Every {parts}th mutant (from the {int(part) + 1}. on)"
    killed = data["mutants"] - len(data["survivors"])
    out.append(f"{of} of cargo-mutants: {data['mutants']}, and {data['does_not_compile']} more that do "
               "not compile. Each step is run on what those before it missed.\n")
    out.append("| tests | killed |\n|---|---|")
    for step in data["killed"]:
        out.append(f"| {step['by']} | {step['killed']} |")
    out.append(f"\n**Score: {killed} of {data['mutants']} = {100 * data['score']:.1f} %.**\n")
    known = tomllib.loads((ROOT / "testbench/data/model_mutants.toml").read_text())["equivalent"]
    for name in data["survivors"]:
        why = [k["reason"] for k in known if name.startswith(k["file"] + ":") and name.endswith(k["change"])]
        out.append(f"* `{name}`" + (f": equivalent, {why[0]}" if why else ""))


def main():
    if len(sys.argv) != 1:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    out = [HEAD]
    summary(out)
    formal(out)
    data = load("mutants.json")
    by = f"one changed cell each, {data['clocks']} clocks of co-simulation" if data else ""
    mutants(out, "mutants.json", "Mutants against the co-simulation", "make mutants", by)
    data = load("property_mutants.json")
    by = ", ".join(data["proofs"]) if data else ""
    mutants(out, "property_mutants.json", "Mutants against the proofs", "make property-mutants", by)
    model_mutants(out)
    out.append("")
    out.append(NON_CLAIMS)
    PAGE.write_text("\n".join(out))


main()
