"""Can the first output of a graph without registers be true, and which of the others are then? For
questions that are too hard for abc's first effort, in a process of its own that can be stopped.

usage: sat.py GRAPH.aig
"""
import pathlib
import sys

from aig import Aig, Builder
from cnf import Encoded


def model(graph):
    """The numbers of the other outputs that are true in a model; None if there is none."""
    builder = Builder(graph.inputs)
    literal = builder.add(graph, range(2, 2 * (1 + graph.inputs), 2))
    encoded = Encoded(builder)
    outputs = [literal(x) for x in graph.outputs]
    for x in outputs:
        encoded.literal(x)
    encoded.solver.add_clause([encoded.literal(outputs[0])])
    if not encoded.solver.solve():
        return None
    found = encoded.solver.get_model()
    return [n for n, x in enumerate(outputs[1:]) if encoded.true(found, x)]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    machine = Aig(pathlib.Path(sys.argv[1]))
    if machine.latches:
        sys.exit(f"sat: {sys.argv[1]} has registers")
    others = model(machine)
    print("unsatisfiable" if others is None else " ".join(map(str, ["satisfiable", *others])))
