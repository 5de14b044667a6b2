#!/usr/bin/env python3
"""Write the public tables of testbench/data as SystemVerilog packages for the proofs.

usage: formal_tables.py OUT_DIR
"""
import csv
import pathlib
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "testbench" / "data"
STATES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"]
TRANSPORTS = ["RC", "UC", "UD"]
# mlx5 opcodes of the operations of opcode_transport.csv.
OPCODES = {
    "SEND_WITH_INV": 1, "RDMA_WRITE": 8, "RDMA_WRITE_WITH_IMM": 9, "SEND": 10,
    "SEND_WITH_IMM": 11, "RDMA_READ": 16, "ATOMIC_CMP_AND_SWP": 17, "ATOMIC_FETCH_AND_ADD": 18,
}


def rows(name):
    text = (DATA / name).read_text().splitlines()
    return list(csv.DictReader(line for line in text if not line.startswith("#")))


def qp_table():
    out = ["// Written by tools/formal_tables.py from testbench/data/qp_transitions.csv.",
           "package qp_table_pkg;",
           "  typedef struct packed {",
           "    logic        legal;",
           "    logic [31:0] required;",
           "    logic [31:0] optional;",
           "  } entry_t;",
           "  function automatic entry_t entry(logic [1:0] transport, logic [7:0] from, logic [7:0] to);",
           "    case ({transport, from, to})"]
    table = rows("qp_transitions.csv")
    if len(table) != 66:
        sys.exit(f"qp_transitions.csv: 66 rows expected, {len(table)} found")
    for r in table:
        key = (TRANSPORTS.index(r["transport"]), STATES.index(r["from"]), STATES.index(r["to"]))
        req, opt = int(r["required_mask_hex"], 16), int(r["optional_mask_hex"], 16)
        out.append("      {2'd%d, 8'd%d, 8'd%d}: entry = {1'b1, 32'h%08x, 32'h%08x};"
                   % (*key, req, opt))
    out += ["      default: entry = '0;", "    endcase", "  endfunction", "endpackage", ""]
    return "\n".join(out)


def opcode_table():
    table = rows("opcode_transport.csv")
    out = ["// Written by tools/formal_tables.py from testbench/data/opcode_transport.csv.",
           "package opcode_table_pkg;",
           "  function automatic logic known(logic [7:0] opcode);",
           "    case (opcode)"]
    out += [f"      8'd{OPCODES[name]}: known = 1'b1;" for name in {r["opcode"]: 1 for r in table}]
    out += ["      default: known = 1'b0;", "    endcase", "  endfunction",
            "  function automatic logic carried(logic [7:0] opcode, logic [1:0] transport);",
            "    case ({opcode, transport})"]
    out += ["      {8'd%d, 2'd%d}: carried = 1'b%s;"
            % (OPCODES[r["opcode"]], TRANSPORTS.index(r["transport"]), r["exists"]) for r in table]
    out += ["      default: carried = 1'b0;", "    endcase", "  endfunction", "endpackage", ""]
    return "\n".join(out)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    (out / "qp_table_pkg.sv").write_text(qp_table())
    (out / "opcode_table_pkg.sv").write_text(opcode_table())


main()
