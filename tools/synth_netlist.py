#!/usr/bin/env python3
"""Synthesize one module of the RTL; a program of its own, since yosys ends it where it errs.

usage: synth_netlist.py TOP FAMILY OUT [--registered] [--file FILE]... [-G NAME=VALUE]...

FAMILY is ecp5 or xcup. Writes OUT.stat (cell counts), OUT.log and, for ecp5, OUT.json.
"""
import argparse
import pathlib

from pyosys import libyosys as ys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def registers_around(module):
    """A Verilog module `registered`: `block` between registers on all its ports but the clock."""
    ports, body, inside = [], [], []
    for name in module.ports:
        wire, port = module.wire(name), name.str().lstrip("\\")
        if port == "clk_i":
            inside.append(".clk_i(clk_i)")
            continue
        inside.append(f".{port}(s_{port})")
        width = f"[{wire.width - 1}:0]"
        if wire.port_input:
            ports.append(f"input {width} {port}")
            body += [f"reg {width} s_{port};", f"always @(posedge clk_i) s_{port} <= {port};"]
        else:
            ports.append(f"output reg {width} {port}")
            body += [f"wire {width} s_{port};", f"always @(posedge clk_i) {port} <= s_{port};"]
    return "\n".join([f"module registered(input clk_i, {', '.join(ports)});", *body,
                      f"block u_block({', '.join(inside)});", "endmodule\n"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("top")
    parser.add_argument("family", choices=["ecp5", "xcup"])
    parser.add_argument("out")
    parser.add_argument("--registered", action="store_true")
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("-G", action="append", default=[])
    asked = parser.parse_args()

    files = [f"rtl/{f}" for f in (ROOT / "rtl/rnic.f").read_text().split()] + asked.file
    parameters = " ".join(f"-G {one}" for one in asked.G)
    log = pathlib.Path(asked.out + ".log")
    log.write_text("")
    design = ys.Design()

    def run(command):
        ys.run_pass(f"tee -q -a {log} {command}", design)

    run(f"read_slang --top {asked.top} {parameters} {' '.join(str(ROOT / f) for f in files)}")
    run(f"hierarchy -check -top {asked.top}")
    top = asked.top
    if asked.registered:
        wrapper = pathlib.Path(asked.out + ".v")
        text = registers_around(design.top_module())
        run(f"rename {design.top_module().name.str()} block")
        wrapper.write_text(text)
        run(f"read_verilog {wrapper}")
        top = "registered"
    if asked.family == "ecp5":
        run(f"synth_ecp5 -top {top} -json {asked.out}.json")
    else:
        run(f"synth_xilinx -family xcup -flatten -top {top}")
    run(f"tee -q -o {asked.out}.stat stat -json")


main()
