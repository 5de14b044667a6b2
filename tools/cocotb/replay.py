"""The recorded ports of rnic_top, driven again by cocotb: same inputs, same outputs.

RNIC_RECORD names the recording (rnic-cosim bench --record; the format is that of
src/cosim/port_log.rs). Prints one line of JSON with the CPU time of the loop.
"""
import json
import os
import time

import cocotb
from cocotb.triggers import Timer

# Fields in the order of the C structs rnic_policy, rnic_stim and rnic_resp, in bytes.
POLICY = 16
BITS_IN = ["cmd_valid", "post_valid", "wire_valid", "cqdb_valid", "rsp_ready", "issue_ready",
           "cqe_ready", "event_ready", "retire_ready", "hold_internal", "wqe_valid", "unit_valid",
           "fetch_ready"]
RECORDS_IN = [("cmd", 116), ("post", 32), ("wire", 28), ("cqdb", 16), ("wqe", 16), ("unit", 16)]
BITS_OUT = ["cmd_ready", "post_ready", "wire_ready", "cqdb_ready", "rsp_valid", "issue_valid",
            "cqe_valid", "event_valid", "retire_valid", "slot_kind", "wqe_ready", "unit_ready",
            "fetch_valid"]
RECORDS_OUT = [("rsp", 156), ("issue", 32), ("cqe", 28), ("event", 12), ("retire", 24),
               ("fetch", 12)]
FLAGS = 16


def split(data, bits, records):
    """Flags by name, and the payloads whose valid bit is 1, as numbers."""
    flags = {name: data[at] for at, name in enumerate(bits)}
    payloads, at = {}, FLAGS
    for name, size in records:
        if flags[name + "_valid"]:
            payloads[name] = int.from_bytes(data[at:at + size], "little")
        at += size
    return flags, payloads


def clocks(data):
    """The straps, and the inputs and outputs of each clock."""
    stim = FLAGS + sum(size for _, size in RECORDS_IN)
    resp = FLAGS + sum(size for _, size in RECORDS_OUT)
    assert data[0:1] == b"R", "a recording begins with a reset"
    straps = int.from_bytes(data[1:1 + POLICY], "little")
    steps, at = [], 1 + POLICY
    while at < len(data):
        assert data[at:at + 1] == b"S", "one reset only"
        inputs = split(data[at + 1:at + 1 + stim], BITS_IN, RECORDS_IN)
        outputs = split(data[at + 1 + stim:at + 1 + stim + resp], BITS_OUT, RECORDS_OUT)
        steps.append((inputs, outputs))
        at += 1 + stim + resp
    return straps, steps


@cocotb.test()
async def replay(dut):
    with open(os.environ["RNIC_RECORD"], "rb") as file:
        straps, steps = clocks(file.read())
    pin_in = {name: getattr(dut, name + "_i") for name in BITS_IN}
    pin_in.update({name: getattr(dut, name + "_i") for name, _ in RECORDS_IN})
    pin_out = {name: getattr(dut, name + "_o") for name in BITS_OUT}
    pin_out.update({name: getattr(dut, name + "_o") for name, _ in RECORDS_OUT})
    clock = dut.clk_i

    dut.policy_i.value = straps
    for pin in pin_in.values():
        pin.value = 0
    dut.rst_ni.value = 0
    for _ in range(2):
        clock.value = 0
        await Timer(1, "ns")
        clock.value = 1
        await Timer(1, "ns")
    dut.rst_ni.value = 1

    began = time.process_time()
    for at, ((flags, payloads), (want, want_payloads)) in enumerate(steps):
        clock.value = 0
        for name, value in flags.items():
            pin_in[name].value = value
        for name, value in payloads.items():
            pin_in[name].value = value
        await Timer(1, "ns")
        for name, value in want.items():
            got = pin_out[name].value.integer
            assert got == value, f"clock {at}: {name} is {got}, recorded was {value}"
        for name, value in want_payloads.items():
            got = pin_out[name].value.integer
            assert got == value, f"clock {at}: {name} is {got:#x}, recorded was {value:#x}"
        clock.value = 1
        await Timer(1, "ns")
    spent = time.process_time() - began
    print(json.dumps({"clocks": len(steps), "cpu_ns_per_clock": spent * 1e9 / len(steps)}),
          flush=True)
    with open(os.environ["RNIC_RESULT"], "w") as file:
        json.dump({"clocks": len(steps), "cpu_ns_per_clock": spent * 1e9 / len(steps)}, file)
