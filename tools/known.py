"""What is proved of the states of the machine that is mutated (formal/states.sv): a pair of states
need not be looked at where the healthy machine cannot be. And what nobody will look at, as
formal/unseen.sv guesses."""
import formal
import unseen

from aig import Aig, Builder

PROOF = "states"
# The machine of the proof, inside the one that guesses.
INSIDE = "u_states."


def written(work):
    """Writes the assertions of that proof, and the guesses, as a graph over registers; gives graph
    and map file."""
    [proof] = [p for p in formal.proofs() if p["name"] == PROOF]
    proof = {**proof, "top": "unseen_fv", "files": [*proof["files"], "formal/unseen.sv"],
             "passes": ["expose w:unseen_* w:g_*.unseen*"]}
    folder = work / PROOF
    folder.mkdir(exist_ok=True)
    formal.tables(work)
    formal.quiet(formal.read, proof, folder)
    design = formal.ys.Design()
    graph, names = folder / "states.aig", folder / "states.aim"
    # As the netlist of the mutants is made: a register is its latch, whatever it starts with.
    formal.quiet(formal.run, design, folder / "aiger.log", f"read_rtlil {folder / 'gates.il'}",
                 "chformal -cover -assume -remove", "setundef -init -zero", "setundef -undriven -zero",
                 "simplemap", "opt_clean", "aigmap", "opt_clean",
                 f"write_aiger -zinit -no-startoffset -map {names} {graph}")
    return graph, names


class Rules:
    """The assertions as one condition on the latches of another machine, what that machine has no
    latch for being anything; and for latches that nobody may look at, the condition for that."""

    def __init__(self, graph, names, latch_of):
        """`latch_of`: the latch that holds a bit of a register, by (name, bit)."""
        self.graph = Aig(graph)
        self.place = [None] * (self.graph.inputs + self.graph.latches)
        self.unseen = {}
        # Registers that are one here and several there: each holds what the others hold.
        self.same = set()
        for line in names.read_text().splitlines():
            kind, index, bit, *name = line.split()
            if kind == "latch":
                at = self.graph.inputs + int(index)
                inside = name[0].removeprefix(INSIDE)
                if inside == "started_q":
                    self.place[at] = "started"
                elif inside.startswith("u_top."):
                    inside = inside.removeprefix("u_top.")
                    latch = latch_of.get((inside, int(bit)))
                    if latch is None:
                        latch = self.element(latch_of, inside, int(bit))
                    if self.place[at] is None:
                        self.place[at] = latch
                    elif latch not in (None, self.place[at]):
                        self.same.add((self.place[at], latch))
            elif kind == "output":
                for register in unseen.registers(name[0]):
                    if (latch := latch_of.get((register, int(bit)))) is not None:
                        self.unseen[latch] = self.graph.outputs[int(index)]
        self.needed = self.cone(self.graph.bad)
        # A condition must say the same of the same state.
        self.unseen = {latch: x for latch, x in self.unseen.items()
                       if not any(0 < n <= len(self.place) and self.place[n - 1] is None
                                  for n in self.cone([x]))}
        self.needed_unseen = self.cone(self.unseen.values())
        leaves = [n for n in self.needed if 0 < n <= len(self.place)]
        self.found = sum(self.place[n - 1] is not None for n in leaves)
        self.free = [n for n in leaves if self.place[n - 1] is None]

    @staticmethod
    def element(latch_of, name, bit):
        """The latch of a bit of an array, whose elements are registers of their own there: element 0
        comes last."""
        if (f"{name}[0]", 0) not in latch_of:
            return None
        width = sum((f"{name}[0]", n) in latch_of for n in range(64))
        count = sum((f"{name}[{n}]", 0) in latch_of for n in range(64))
        return latch_of.get((f"{name}[{count - 1 - bit // width}]", bit % width))

    def refuted(self, states, numbers):
        """The first of these states, which were seen, that it says cannot be."""
        for number in numbers:
            state, _ = states.state(number)
            builder = Builder(len(self.free))
            if self.hold(builder, list(state), range(2, 2 * (1 + builder.inputs), 2)) == 0:
                return number
        return None

    def cone(self, roots):
        """The nodes that these literals depend on."""
        base, seen = 1 + len(self.place), {0}
        stack = [x >> 1 for x in roots]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                if node >= base:
                    stack += [x >> 1 for x in self.graph.ands[node - base]]
        return sorted(seen)

    def within(self, builder, nodes, latches, free=()):
        """These nodes in another graph: a function from our literals to its."""
        here = {0: 0}
        unknown = dict(zip(self.free, free))
        base = 1 + len(self.place)

        def literal(x):
            return here[x >> 1] ^ (x & 1)

        for node in nodes[1:]:
            if node < base:
                place = self.place[node - 1]
                here[node] = 1 if place == "started" else unknown[node] if place is None else latches[place]
            else:
                a, b = self.graph.ands[node - base]
                here[node] = builder.gate(literal(a), literal(b))
        return literal

    def hold(self, builder, latches, free):
        """The literal that says so; `free` yields a literal for each of self.free."""
        literal = self.within(builder, self.needed, latches, free)
        fine = 1
        for bad in self.graph.bad:
            fine = builder.gate(fine, literal(bad) ^ 1)
        for one, other in self.same:
            fine = builder.gate(fine, builder.differs(latches[one], latches[other]) ^ 1)
        return fine

    def unseen_in(self, builder, latches):
        """For each latch that nobody may look at in some state: whether this is one."""
        literal = self.within(builder, self.needed_unseen, latches)
        return {latch: literal(x) for latch, x in self.unseen.items()}
