"""Learns why a mutant cannot be noticed: a claim about the pairs of states that it and the
healthy machine can be in, for a proof by induction.

The claim is a set of cubes that no pair is in. A literal of a cube is (latch, of_apart, value): the
latch of the healthy machine has the value, or whether the mutant's latch is apart from it is the
value. Latches outside `apart` are the same in both. A cube is learned where a step leads out of
the claim: what made the step possible, with as few literals as the states that were seen allow.
If a state that was seen makes it possible, the step is real: what it refutes is forgotten, and the
state behind it is one more that was seen.

Nothing in here has to be believed: a claim counts when Comparison.claim finds it to hold.
"""
import collections
import time

from aig import Builder
from cnf import Encoded
from states import States

APART = 2000  # latches at most
PAIRS = 8  # cubes of two literals that are tried
REGISTERS = 3  # that a cube is looked for in


class Exhausted(Exception):
    """The effort or the time is over."""


class Bank:
    """What one mutant leaves to the next: cubes that are proved of the healthy machine, and states
    that it can be in."""

    def __init__(self, cubes=(), states=()):
        self.cubes, self.states = list(cubes), list(states)


class Healthy:
    """What the questions about all mutants have in common."""

    def __init__(self, comparison):
        self.comparison, self.machine = comparison, comparison.machine
        self.inputs = self.machine.inputs - len(comparison.select)
        self.latches = self.machine.latches
        self.ports = list(range(2, 2 * (1 + self.inputs), 2))
        self.now = list(range(2 * (1 + self.inputs), 2 * (1 + self.inputs + self.latches), 2))
        self.first_apart = 1 + self.inputs + self.latches
        self.step = Builder(self.inputs, self.latches + APART + comparison.unknown())
        [self.side] = comparison.sides(self.step, (0,), self.ports, (self.now,))
        first_free = self.first_apart + APART
        free = range(2 * first_free, 2 * (first_free + comparison.unknown()), 2)
        self.possible = comparison.possible(self.step, self.now, free)
        self.reset_ports = comparison.in_reset(self.ports)
        self.start = Builder(self.inputs)
        [self.start_side] = comparison.sides(self.start, (0,), self.reset_ports, ([0] * self.latches,))


class Learner:
    """One mutant. `learn` gives (True, cubes) or (False, the output that can differ)."""

    def __init__(self, healthy, mutant, states, bank, effort, seconds, end):
        self.healthy, self.mutant, self.states, self.bank = healthy, mutant, states, bank
        self.effort, self.processor_end, self.end = effort, time.process_time() + seconds, end
        self.comparison, self.machine = healthy.comparison, healthy.machine
        for state in bank.states:
            states.add(state, ())
        self.known_states = states.count
        self.cubes = {}  # each with what its proof rests on, or None
        self.apart = set(states.apart)
        self.start_sides = None
        self.build()

    # ---------------------------------------------------------------- the question

    def build(self):
        """The step of both machines, with the latches that may be apart."""
        if len(self.apart) > APART:
            raise Exhausted
        healthy, machine = self.healthy, self.machine
        self.builder = healthy.step.copy()
        self.node_of = {latch: healthy.first_apart + n for n, latch in enumerate(sorted(self.apart))}
        self.latch_of = {node: latch for latch, node in self.node_of.items()}
        differs = self.builder.differs
        mutated = [differs(x, 2 * self.node_of[n]) if n in self.apart else x
                   for n, x in enumerate(healthy.now)]
        [side] = self.comparison.sides(self.builder, (self.mutant,), healthy.ports, (mutated,))
        self.sides = (healthy.side, side)
        # What must not happen: an output differs, or a latch that is the same in both.
        self.targets = []
        for n, *shown in self.comparison.shown(self.builder, self.sides):
            self.targets.append((n, differs(*shown)))
        for n in range(machine.latches):
            if n not in self.apart:
                self.targets.append((None, differs(*(s(machine.next[n]) for s in self.sides))))
        self.targets = [(n, literal) for n, literal in self.targets if literal]
        self.failure = 0
        for _, literal in self.targets:
            self.failure = self.builder.either(self.failure, literal)
        self.failure_rests_on = None
        self.encoded, self.leaves, self.active, self.cube_of = Encoded(self.builder), {}, {}, {}
        # One by one: all together may be simpler, and a model is asked for each.
        for _, literal in self.targets:
            self.encoded.literal(literal)
        self.encoded.solver.add_clause([self.encoded.literal(healthy.possible)])
        for cube in self.bank.cubes:
            self.encoded.solver.add_clause(self.outside(cube))
        for cube in self.cubes:
            self.cubes[cube] = None
            self.activate(cube)

    def at_first(self, literal):
        latch, of_apart, value = literal
        return (2 * self.node_of[latch] if of_apart else self.healthy.now[latch]) ^ (not value)

    def at_last(self, builder, sides, literal):
        latch, of_apart, value = literal
        left, right = (side(self.machine.next[latch]) for side in sides)
        return (builder.differs(left, right) if of_apart else left) ^ (not value)

    def outside(self, cube):
        return [-self.encoded.literal(self.at_first(x)) for x in sorted(cube)]

    def activate(self, cube):
        active = self.encoded.new()
        self.encoded.solver.add_clause([-active, *self.outside(cube)])
        self.active[cube], self.cube_of[active] = active, cube

    def possible(self, roots):
        """A model in which all roots hold, from a pair of states of the claim. None if there is
        none; then `rests_on` are the cubes that were needed for it."""
        self.effort -= 1
        if self.effort < 0 or time.process_time() > self.processor_end or time.monotonic() > self.end:
            raise Exhausted
        solver = self.encoded.solver
        if solver.solve(assumptions=[self.encoded.literal(r) for r in roots] + list(self.active.values())):
            return solver.get_model()
        self.rests_on = [self.cube_of[x] for x in solver.get_core() or () if x in self.cube_of]
        return None

    # ---------------------------------------------------------------- learning

    def support(self, root):
        """The inputs and latches that a literal depends on."""
        found = self.leaves.get(root >> 1)
        if found is None:
            first, gates = self.encoded.first_gate, self.builder.gates
            seen, stack, found = {0}, [root >> 1], set()
            while stack:
                node = stack.pop()
                if node in seen:
                    continue
                seen.add(node)
                if node < first:
                    found.add(node)
                else:
                    stack += (x >> 1 for x in gates[node - first])
            self.leaves[root >> 1] = found
        return found

    def cause(self, roots, model):
        """The inputs, and a cube, which make all roots hold."""
        fixed, inputs, meaning = [], {}, {}
        for node in sorted(set().union(*map(self.support, roots))):
            true = self.encoded.true(model, 2 * node)
            literal = self.encoded.literal(2 * node + (not true))
            if node <= self.healthy.inputs:
                inputs[node - 1] = true
                fixed.append(literal)
            elif node < self.healthy.first_apart:
                meaning[literal] = (node - 1 - self.healthy.inputs, False, true)
            else:
                meaning[literal] = (self.latch_of[node], True, true)
        solver = self.encoded.solver
        question = self.encoded.new()
        solver.add_clause([-question, *(-self.encoded.literal(r) for r in roots)])
        for _ in range(2):
            solver.solve(assumptions=[question, *fixed, *meaning])
            core = set(solver.get_core())
            # In the other order the core is another one.
            meaning = {x: meaning[x] for x in reversed(meaning) if x in core}
        solver.add_clause([-question])
        return inputs, sorted(meaning.values())

    def general(self, cube):
        """Parts of the cube that no state seen is in, best first; or the number of a state in it."""
        states, place = self.states, self.comparison.register.get
        rows = {x: states.within(x) for x in cube}
        share = {x: rows[x].bit_count() / states.count for x in cube}
        near = {place(x[0]) for x in cube if x[1] and x[2]}

        def shrunk(order):
            kept, inside = [], (1 << states.count) - 1
            while inside:
                row = inside
                for n, x in enumerate(order):
                    row &= rows[x]
                    if not row:
                        break
                else:
                    return row.bit_length() - 1
                kept.append(order[n])
                inside &= rows[order[n]]
                order = order[:n]
            return kept

        def rank(part):
            expected = 1
            for x in part:
                expected *= share[x]
            return len(part) + 3 * len({place(x[0]) for x in part}), -expected, sorted(part)

        # Literals that often hold tell more by never holding together; and what holds of one
        # register, or word of a memory, is more often a rule than an accident.
        orders = [sorted(cube, key=lambda x: (x[1] and not x[2], -share[x]))]
        if near:
            orders.append(sorted(cube, key=lambda x: (x[1] and not x[2], not x[1], place(x[0]) not in near, -share[x])))
        held = collections.Counter(place(x[0]) for x in cube)
        for one, _ in held.most_common(REGISTERS):
            orders.append(sorted(cube, key=lambda x: (x[1] and not x[2], place(x[0]) != one, -share[x])))
        parts = []
        for order in orders:
            part = shrunk(order)
            if isinstance(part, int):
                return part
            parts.append(part)
        often = [x for x in cube if rows[x] and not (x[1] and not x[2])]
        pairs = [(x, y) for n, x in enumerate(often) for y in often[:n] if not rows[x] & rows[y]]
        parts = sorted(parts, key=rank) + sorted(pairs, key=rank)[:PAIRS]
        return list(dict.fromkeys(map(frozenset, parts)))

    def learn_from(self, roots, model):
        """Learn a cube without which the roots cannot hold together. If they really can, enter the
        state behind, and give the outputs that differ."""
        inputs, cube = self.cause(roots, model)
        parts = self.general(cube)
        if isinstance(parts, int):
            return self.real_step(*self.states.state(parts), inputs)
        # One that proves itself is worth more than one that is short.
        for part in parts:
            begun = self.begins_within(part)
            if begun:
                self.enter(*begun)
                return []
            self.activate(part)
            self.cubes[part] = None
            if self.possible(self.next_within(part)) is None:
                self.cubes[part] = self.rests_on
                return []
            self.forget(part)
        self.activate(parts[0])
        self.cubes[parts[0]] = None
        return []

    def next_within(self, cube):
        return [self.at_last(self.builder, self.sides, x) for x in sorted(cube)]

    def forget(self, cube):
        del self.cubes[cube]
        self.encoded.solver.add_clause([-self.active.pop(cube)])
        if self.failure_rests_on is not None and cube in self.failure_rests_on:
            self.failure_rests_on = None
        for other, rests_on in self.cubes.items():
            if rests_on is not None and cube in rests_on:
                self.cubes[other] = None

    def enter(self, state, apart):
        """A pair of states that was not seen yet: forget what it refutes."""
        self.states.add(state, apart)
        for cube in [c for c in self.cubes
                     if all((x[0] in apart if x[1] else state[x[0]]) == x[2] for x in c)]:
            self.forget(cube)
        if not apart <= self.apart:
            self.apart |= apart
            self.build()

    def values(self, builder, leaves):
        values = bytearray(1 + builder.inputs + builder.latches + len(builder.gates))
        for node, true in leaves.items():
            values[node] = true
        for n, (a, b) in enumerate(builder.gates, 1 + builder.inputs + builder.latches):
            values[n] = (values[a >> 1] ^ a & 1) & (values[b >> 1] ^ b & 1)
        return lambda literal: values[literal >> 1] ^ literal & 1

    def behind(self, sides, value):
        left, right = (bytes(value(side(n)) for n in self.machine.next) for side in sides)
        return left, {n for n in range(self.machine.latches) if left[n] != right[n]}

    def real_step(self, state, apart, inputs):
        leaves = {1 + n: true for n, true in inputs.items()}
        leaves.update(enumerate(state, 1 + self.healthy.inputs))
        leaves.update((self.node_of[n], 1) for n in apart)
        value = self.values(self.builder, leaves)
        shown = [n for n, literal in self.targets if n is not None and value(literal)]
        self.enter(*self.behind(self.sides, value))
        return shown

    def begins_within(self, cube):
        """A pair of states after the first clock, in which reset is active, that is in the cube."""
        healthy = self.healthy
        if self.start_sides is None:
            self.start_builder = healthy.start.copy()
            [side] = self.comparison.sides(self.start_builder, (self.mutant,), healthy.reset_ports,
                                           ([0] * healthy.latches,))
            self.start_sides = (healthy.start_side, side)
        builder = self.start_builder
        roots = [self.at_last(builder, self.start_sides, x) for x in cube]
        if 0 in roots:
            return None
        encoded = Encoded(builder)
        if not encoded.solver.solve(assumptions=[encoded.literal(r) for r in roots]):
            return None
        model = encoded.solver.get_model()
        leaves = {n: encoded.true(model, 2 * n) for n in range(1, 1 + builder.inputs) if n in encoded.variable}
        return self.behind(self.start_sides, self.values(builder, leaves))

    def unproved(self):
        """Of the cubes that the claim rests on: one that is not proved, or None; and all of them."""
        wanted, stack = set(), list(self.failure_rests_on)
        while stack:
            cube = stack.pop()
            if cube in wanted:
                continue
            wanted.add(cube)
            if self.cubes[cube] is None:
                return cube, wanted
            stack += self.cubes[cube]
        return None, wanted

    def learn(self):
        while True:
            if self.failure_rests_on is None:
                model = self.possible([self.failure]) if self.failure else None
                if model is None:
                    self.failure_rests_on = self.rests_on if self.failure else []
                    continue
                roots = [next(x for _, x in self.targets if self.encoded.true(model, x))]
            else:
                cube, wanted = self.unproved()
                if cube is None:
                    return True, wanted
                roots = self.next_within(cube)
                model = self.possible(roots)
                if model is None:
                    self.cubes[cube] = self.rests_on
                    continue
            shown = self.learn_from(roots, model)
            if shown:
                return False, shown

    def gained(self):
        """For the bank: what was proved of the healthy machine alone, and new states of it."""
        good = {c for c, rests_on in self.cubes.items()
                if rests_on is not None and not any(x[1] for x in c)}
        while rest := {c for c in good if not good.issuperset(self.cubes[c])}:
            good -= rest
        return sorted(good, key=sorted), self.states.added[self.known_states - self.states.written:]
