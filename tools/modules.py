#!/usr/bin/env python3
"""Write docs/modules.md: what each module of the RTL is for, its parameters and its ports.

usage: modules.py [--check]

Types and widths come from elaborating the sources with slang, everything else from their
comments: the one before a module, and the one beside a parameter or a port. A module without
`Latency:` and `Throughput:`, and a parameter or port without a comment, is an error. Exit code 1
on an error, and with --check also if the page is not what it would write.
"""
import pathlib
import re
import sys

from pyslang.driver import Driver

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/modules.md"
# Said once for all modules at the top of the page.
CONVENTIONAL = {"clk_i", "rst_ni"}

INTRODUCTION = """# Modules

What each module of `rtl/` is for, in the order of `rtl/rnic.f`. Written by `make modules` from
the sources and their comments; `make lint` fails when it is out of date. How to put them into a
design: [integration.md](integration.md).

Everywhere: `clk_i` counts by its rising edge, `rst_ni` is a synchronous reset, active low. Three
ports in one row are a stream: a record is transferred at the rising edge at which `valid` and
`ready` are both 1. Records (`..._t`) and enums (`..._e`) are those of `rnic_pkg.sv`. Widths are
in bits, for the default parameters.
"""


class Source:
    """A file, its comments by line."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines()

    def beside(self, number):
        """The comment at the end of that line and what continues it in the lines below."""
        _, slashes, text = self.lines[number - 1].partition("//")
        if not slashes:
            return ""
        parts = [text.strip()]
        for line in self.lines[number:]:
            # A line of its own continues only where it stands under the comment above it.
            if not re.match(r"\s{30,}//", line):
                break
            parts.append(line.partition("//")[2].strip())
        return " ".join(parts)

    def before(self, name):
        """The paragraphs of the comment before `module name`."""
        start = next(i for i, line in enumerate(self.lines) if re.match(rf"module {name}\b", line))
        block = []
        while start and self.lines[start - 1].startswith("//"):
            start -= 1
            block.insert(0, self.lines[start][2:].removeprefix(" "))
        text = "\n".join(line for line in block if "SPDX" not in line).strip("\n")
        return re.split(r"\n\s*\n", text)


def prose(paragraph):
    """Indented lines stay as they are: a list of stages."""
    if re.search(r"^ {2}", paragraph, re.M):
        return f"```\n{paragraph}\n```"
    return " ".join(paragraph.split())


def elaborated():
    """Every module of the file list, each as a top with its default parameters."""
    files = (ROOT / "rtl/rnic.f").read_text().split()
    names = [f.removesuffix(".sv") for f in files if not f.endswith("_pkg.sv")]
    driver = Driver()
    driver.addStandardArgs()
    tops = " ".join(f"--top {name}" for name in names)
    paths = " ".join(f'"{ROOT / "rtl" / f}"' for f in files)
    ok = driver.parseCommandLine(f"slang {tops} {paths}") and driver.processOptions()
    if not (ok and driver.parseAllSources()):
        sys.exit(1)
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    if not driver.reportDiagnostics(True):
        sys.exit(1)
    tops = {top.name: top for top in compilation.getRoot().topInstances}
    return [(name, tops[name]) for name in names], driver.sourceManager


def rows_of_ports(ports):
    """Ports by rows: the three of a stream together, every other one alone."""
    by_name = {p.name: p for p in ports}
    taken = set()
    for port in ports:
        if port.name in taken:
            continue
        row = [port]
        stream = re.fullmatch(r"(|.*_)valid_([io])", port.name)
        if stream:
            stem, way = stream.groups()
            back = {"i": "o", "o": "i"}[way]
            data = [stem + "data_" + way, stem.removesuffix("_") + "_" + way]
            others = [by_name.get(f"{stem}ready_{back}")]
            others += [by_name[name] for name in data if name in by_name][:1]
            if others[0] and len(others) == 2:
                row += others
        taken.update(p.name for p in row)
        yield row


def tables(name, top, inherited, manager, errors):
    """The two tables of a module. What has no comment of its own has the meaning that a
    parameter or port of that name has at `rnic_top`: `inherited`, filled by that module."""
    source = Source(ROOT / f"rtl/{name}.sv")

    def meaning(symbol, *numbers):
        text = next(filter(None, (source.beside(n) for n in numbers)), "")
        if name == "rnic_top":
            inherited[symbol] = text
        return text or inherited.get(symbol, "")

    out = []
    declared = [p for p in top.body.parameters if p.isPortParam]
    if declared:
        out += ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    for p in declared:
        number = manager.getLineNumber(p.location)
        code = source.lines[number - 1].partition("//")[0]
        found = re.search(rf"parameter\s+(.*?)\s*\b{p.name}\s*=\s*(.*?)\s*,?\s*$", code)
        if not found:
            # A localparam between the parameters follows from them.
            continue
        text = meaning(p.name, number)
        if not text:
            errors.append(f"rtl/{name}.sv:{number}: parameter {p.name} has no comment")
        out.append(f"| `{p.name}` | `{found[1]}` | `{found[2]}` | {text} |")
    if declared:
        out.append("")

    out += ["| port | direction | type | bits | meaning |", "|---|---|---|---|---|"]
    for row in rows_of_ports(top.body.portList):
        numbers = [manager.getLineNumber(p.location) for p in row]
        record = row[-1]
        number = numbers[-1]
        if row[0].name in CONVENTIONAL:
            continue
        code = source.lines[number - 1].partition("//")[0]
        kind = re.search(rf"(?:input|output)\s+(.*?)\s*\b{record.name}\b", code)[1]
        text = meaning(row[0].name, *numbers)
        if not text:
            errors.append(f"rtl/{name}.sv:{numbers[0]}: port {row[0].name} has no comment")
        names = " ".join(f"`{p.name}`" for p in row)
        way = "in" if row[0].direction.name == "In" else "out"
        if len(row) > 1:
            way = f"stream {way}"
        out.append(f"| {names} | {way} | `{kind}` | {record.type.bitWidth} | {text} |")
    return out


def main():
    modules, manager = elaborated()
    errors, inherited, page = [], {}, [INTRODUCTION]
    tables("rnic_top", dict(modules)["rnic_top"], inherited, manager, [])
    for name, top in modules:
        paragraphs = Source(ROOT / f"rtl/{name}.sv").before(name)
        timing = [p for p in paragraphs if p.startswith("Latency:")]
        if len(timing) != 1 or "Throughput:" not in timing[0]:
            errors.append(f"rtl/{name}.sv: the comment before the module has no paragraph "
                          "`Latency: ... Throughput: ...`")
        page += [f"## {name}\n"]
        page += [prose(p) + "\n" for p in paragraphs if p not in timing]
        page += [prose(p).replace(" Throughput:", "\n\nThroughput:") + "\n" for p in timing]
        page += tables(name, top, inherited, manager, errors) + [""]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    if errors:
        return 1
    text = "\n".join(page).rstrip("\n") + "\n"
    if "--check" in sys.argv[1:]:
        if PAGE.read_text() != text:
            print("error: docs/modules.md is not what the sources say: make modules",
                  file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
