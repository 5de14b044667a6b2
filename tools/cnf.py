"""A graph of aig.Builder as clauses of a solver: only the gates that are asked for."""
from pysat.solvers import Solver


class Encoded:
    def __init__(self, builder):
        self.builder = builder
        self.solver = Solver(name="cadical153")
        self.first_gate = 1 + builder.inputs + builder.latches
        self.variable = {0: 1}  # of a node; node 0 is false
        self.top = 1
        self.solver.add_clause([-1])

    def new(self):
        """A variable that is no node."""
        self.top += 1
        return self.top

    def literal(self, literal):
        """The solver's literal of the graph's."""
        known, stack = self.variable, [literal >> 1]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
            elif node < self.first_gate:
                known[node] = self.new()
            else:
                sides = self.builder.gates[node - self.first_gate]
                missing = [x >> 1 for x in sides if x >> 1 not in known]
                if missing:
                    stack += missing
                    continue
                a, b = (-known[x >> 1] if x & 1 else known[x >> 1] for x in sides)
                known[node] = out = self.new()
                self.solver.add_clause([-out, a])
                self.solver.add_clause([-out, b])
                self.solver.add_clause([out, -a, -b])
        return -known[literal >> 1] if literal & 1 else known[literal >> 1]

    def true(self, model, literal):
        """Is a literal of the graph, which is known, true in the solver's model? A model ends with
        the last variable that any clause has; those beyond can be what they like, and are false."""
        variable = self.variable[literal >> 1]
        return (variable <= len(model) and model[variable - 1] > 0) != bool(literal & 1)
