#!/usr/bin/env python3
"""Does the judge that learns tell what can be seen from what cannot, in a machine of two latches?"""
import pathlib
import sys
import tempfile

import aig
import claims
import learn
from states import States

# valid' = rst & v, data' = d. Mutant 1 stores another data while v is 0, mutant 2 while it is 1;
# mutant 4 shows one output more if d is 1 and another if it is 0: something differs in any case.
MAP = """input 0 0 rst_ni
input 1 0 d_i
input 2 0 v_i
input 3 0 mutsel
input 4 1 mutsel
input 5 2 mutsel
latch 0 0 valid_q
latch 1 0 data_q
output 0 0 x_valid_o
output 1 0 x_o
output 2 0 one_o
output 3 0 zero_o
"""
RST, D, V, ONE, TWO, FOUR, VALID, DATA = range(2, 18, 2)


def machine():
    found = aig.Aig.__new__(aig.Aig)
    found.inputs, found.latches, found.bad, found.constraints = 6, 2, [], []
    builder = aig.Builder(6, 2)
    apart = builder.either(builder.gate(ONE, V ^ 1), builder.gate(TWO, V))
    found.next = [builder.gate(RST, V), builder.differs(D, apart)]
    found.outputs = [VALID, DATA, builder.gate(FOUR, D), builder.gate(FOUR, D ^ 1)]
    found.ands = builder.gates
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "map").write_text(MAP)
        # The state behind the reset, 64 times.
        (work / "states").write_bytes(bytes(16))
        comparison = aig.Comparison(machine(), work / "map")
        healthy = learn.Healthy(comparison)

        def fate(mutant):
            return claims.judge(healthy, mutant, States(work, None, 2), learn.Bank(), 100, 10, work, 10)[0]

        seen_apart = frozenset({(0, False, True), (1, True, True)})
        checks = {
            "what is stored while nothing is valid is not seen": fate(1) == "equivalent",
            "what is stored while it is valid is seen": fate(2) == "missed",
            "what is seen in any case is seen": fate(4) == "missed",
            "the claim of mutant 1 holds": claims.holds(comparison, 1, {1}, [seen_apart], [], work, 10),
            "it does not hold of mutant 2": not claims.holds(comparison, 2, {1}, [seen_apart], [], work, 10),
            "nothing holds of mutant 1 without it": not claims.holds(comparison, 1, {1}, [], [], work, 10),
        }
    for what, true in checks.items():
        if not true:
            sys.exit(f"learn_test: not so: {what}")


if __name__ == "__main__":
    main()
