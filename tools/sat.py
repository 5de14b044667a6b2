"""Can one of the outputs of a graph without registers be true? For questions that are too hard for
abc's first effort, in a process of its own that can be stopped.

usage: sat.py GRAPH.aig
"""
import pathlib
import sys

from pysat.solvers import Solver

from aig import Aig


def satisfiable(graph):
    first_gate = 1 + graph.inputs

    def literal(x):
        return -(1 + (x >> 1)) if x & 1 else 1 + (x >> 1)

    with Solver(name="cadical153") as solver:
        solver.add_clause([-1])
        for n, (a, b) in enumerate(graph.ands, first_gate):
            out, a, b = literal(2 * n), literal(a), literal(b)
            solver.append_formula([[-out, a], [-out, b], [out, -a, -b]])
        solver.add_clause([literal(x) for x in graph.outputs])
        return solver.solve()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    machine = Aig(pathlib.Path(sys.argv[1]))
    if machine.latches:
        sys.exit(f"sat: {sys.argv[1]} has registers")
    print("satisfiable" if satisfiable(machine) else "unsatisfiable")
