"""Logic depth of a netlist that synth_ecp5 wrote: the most LUTs in a row between two registers.

A LUT4 counts one, as does each entry into a carry chain, the select of a slice's wide
multiplexer and the read of a distributed RAM; a carry along its chain and the data of a wide multiplexer
count nothing.
"""
import json
import re

# Of each cell: its outputs, and for each output what an input costs that leads to it.
LOGIC = {
    "LUT4": {"Z": {"A": 1, "B": 1, "C": 1, "D": 1}},
    "PFUMX": {"Z": {"ALUT": 0, "BLUT": 0, "C0": 1}},
    "L6MUX21": {"Z": {"D0": 0, "D1": 0, "SD": 1}},
    "CCU2C": {out: {"CIN": 0, **{f"{p}{n}": 1 for p in "ABCD" for n in "01"}}
              for out in ("S0", "S1", "COUT")},
    "TRELLIS_DPR16X4": {"DO": {"RAD": 1}},
}
REGISTERS = {"TRELLIS_FF", "DP16KD", "PDPW16KD"}


def plain(name):
    """The signal of the RTL after which a cell is named."""
    name = re.sub(r"_(TRELLIS|LUT4|PFUMX|L6MUX21|CCU2C)_.*", "", name.lstrip("\\"))
    # The data register of a block RAM or a distributed one: the memory is what says something.
    name = re.sub(r"\.mem\.\d+\.\d+.*", ".mem", name)
    return re.sub(r"^(u_block\.|s_)", "", name)


def depth(path):
    """(LUTs in a row, name of the first register, name of the last) of the worst path."""
    modules = json.loads(path.read_text())["modules"]
    module = next(m for m in modules.values() if int(m.get("attributes", {}).get("top", "0"), 2))
    drives, ends = {}, []
    for name, cell in module["cells"].items():
        kind, wires = cell["type"], cell["connections"]
        if kind in LOGIC:
            for out, costs in LOGIC[kind].items():
                inputs = [(bit, cost) for port, cost in costs.items() for bit in wires.get(port, [])]
                for bit in wires.get(out, []):
                    drives[bit] = inputs
            if kind == "TRELLIS_DPR16X4":
                ends += [(bit, name) for port in ("DI", "WAD", "WRE") for bit in wires.get(port, [])]
        elif kind in REGISTERS:
            for port, bits in wires.items():
                if cell["port_directions"][port] == "output":
                    drives.update((bit, name) for bit in bits)
                elif port not in ("CLK", "CLKA", "CLKB", "CLKW", "CLKR"):
                    ends += [(bit, name) for bit in bits]
        elif kind not in ("$scopeinfo",):
            raise ValueError(f"{path}: no rule for a cell of type {kind}")

    known = {}  # bit -> (depth, name of the register where it begins)
    for start, _ in ends:
        stack = [start]
        while stack:
            bit = stack[-1]
            source = drives.get(bit)
            if bit in known:
                stack.pop()
            elif not isinstance(source, list):
                known[bit] = (0, source or "an input")
                stack.pop()
            elif missing := [b for b, _ in source if b not in known]:
                if len(stack) > 10_000:
                    raise ValueError(f"{path}: a combinational loop")
                stack += missing
            else:
                known[bit] = max(((known[b][0] + cost, known[b][1]) for b, cost in source),
                                 default=(0, "a constant"))
                stack.pop()
    levels, first, last = max((*known[bit], name) for bit, name in ends)
    return levels, plain(first), plain(last)
