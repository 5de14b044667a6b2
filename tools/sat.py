"""Can one of the outputs of a graph without registers be true? For questions that are too hard for
abc's first effort, in a process of its own that can be stopped.

usage: sat.py GRAPH.aig
"""
import pathlib
import sys

from aig import Aig, Builder
from cnf import Encoded


def satisfiable(graph):
    builder = Builder(graph.inputs)
    literal = builder.add(graph, range(2, 2 * (1 + graph.inputs), 2))
    encoded = Encoded(builder)
    encoded.solver.add_clause([encoded.literal(literal(x)) for x in graph.outputs])
    return encoded.solver.solve()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    machine = Aig(pathlib.Path(sys.argv[1]))
    if machine.latches:
        sys.exit(f"sat: {sys.argv[1]} has registers")
    print("satisfiable" if satisfiable(machine) else "unsatisfiable")
