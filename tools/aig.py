"""And-inverter graphs in memory: read what yosys writes, fix inputs, compare two machines."""


class Aig:
    """A machine: inputs, latches with their next state, outputs; literals as in AIGER."""

    def __init__(self, path):
        data = path.read_bytes()
        end = data.index(b"\n")
        head = data[:end].split()
        if head[0] != b"aig":
            raise ValueError(f"{path} is not a binary AIGER file")
        # Outputs, then bad states (violated assertions), then constraints (assumptions).
        counts = [int(n) for n in head[2:]] + [0, 0]
        self.inputs, self.latches, outputs, ands, bad, constraints = counts[:6]
        at = end + 1
        lines = []
        for _ in range(self.latches + outputs + bad + constraints):
            stop = data.index(b"\n", at)
            lines.append(data[at:stop].split())
            at = stop + 1
        self.next = [int(line[0]) for line in lines[:self.latches]]
        rest = [int(line[0]) for line in lines[self.latches:]]
        self.outputs, rest = rest[:outputs], rest[outputs:]
        self.bad, self.constraints = rest[:bad], rest[bad:]
        self.ands = []
        for n in range(ands):
            deltas = []
            for _ in range(2):
                value = shift = 0
                while True:
                    byte = data[at]
                    at += 1
                    value |= (byte & 0x7F) << shift
                    shift += 7
                    if byte < 0x80:
                        break
                deltas.append(value)
            left = 2 * (1 + self.inputs + self.latches + n) - deltas[0]
            self.ands.append((left, left - deltas[1]))


class Builder:
    """A graph under construction in which equal gates are one."""

    def __init__(self, inputs, latches=0):
        self.inputs, self.latches = inputs, latches
        self.gates, self.known = [], {}

    def gate(self, a, b):
        if a > b:
            a, b = b, a
        if a == 0 or a == b ^ 1:
            return 0
        if a == 1 or a == b:
            return b
        found = self.known.get((a, b))
        if found is None:
            found = 2 * (1 + self.inputs + self.latches + len(self.gates))
            self.gates.append((b, a))
            self.known[a, b] = found
        return found

    def either(self, a, b):
        return self.gate(a ^ 1, b ^ 1) ^ 1

    def differs(self, a, b):
        return self.either(self.gate(a, b ^ 1), self.gate(a ^ 1, b))

    def copy(self):
        other = Builder(self.inputs, self.latches)
        other.gates, other.known = list(self.gates), dict(self.known)
        return other

    def add(self, aig, leaves):
        """A copy of the machine's logic; `leaves` are the literals of its inputs and latches.
        Gives a function from its literals to ours."""
        here = [0, *leaves]
        gate = self.gate
        for a, b in aig.ands:
            here.append(gate(here[a >> 1] ^ (a & 1), here[b >> 1] ^ (b & 1)))
        return lambda literal: here[literal >> 1] ^ (literal & 1)

    def write(self, path, next_states, *outputs):
        """Only what the outputs and the next states need is written."""
        base = 1 + self.inputs + self.latches
        needed, stack = set(), [*outputs, *next_states]
        while stack:
            node = stack.pop() >> 1
            if node >= base and node not in needed:
                needed.add(node)
                stack += self.gates[node - base]
        number = {node: base + n for n, node in enumerate(sorted(needed))}

        def renumber(literal):
            node = literal >> 1
            return 2 * number.get(node, node) | (literal & 1)

        out = bytearray(b"aig %d %d %d %d %d\n" % (base - 1 + len(needed), self.inputs, self.latches,
                                                   len(outputs), len(needed)))
        for literal in [*next_states, *outputs]:
            out += b"%d\n" % renumber(literal)
        for node in sorted(needed):
            left, right = sorted((renumber(x) for x in self.gates[node - base]), reverse=True)
            for delta in (2 * number[node] - left, left - right):
                while delta >= 0x80:
                    out.append(delta & 0x7F | 0x80)
                    delta >>= 7
                out.append(delta)
        path.write_bytes(bytes(out))


class Comparison:
    """Two settings of one machine's `mutsel` inputs, side by side.

    An output named X_o is looked at where X_valid_o is 1, if the machine has that; slot_kind_o
    says how busy the pipeline is and is not looked at.
    """

    def __init__(self, machine, names):
        """`names` is the map file that yosys writes beside the machine."""
        self.machine = machine
        self.select, self.reset, outputs = {}, None, {}
        self.register = {}  # name of the register or word that a latch is in, where it has one
        self.latch_of = {}  # the latch of (name, bit)
        self.rules = None  # what is proved of the states of the machine (known.Rules)
        for line in names.read_text().splitlines():
            kind, index, bit, *name = line.split()
            if kind == "input" and name == ["mutsel"]:
                self.select[int(index)] = int(bit)
            elif kind == "input" and name == ["rst_ni"]:
                self.reset = int(index)
            elif kind == "output":
                outputs[int(index)] = name[0]
            elif kind == "latch":
                self.register.setdefault(int(index), name[0])
                self.latch_of[name[0], int(bit)] = int(index)
        number = {name: n for n, name in outputs.items()}
        self.looked_at = [(n, number.get(name.removesuffix("_o") + "_valid_o"))
                          for n, name in sorted(outputs.items()) if name != "slot_kind_o"]

    def in_reset(self, ports):
        """The literals of the inputs without mutsel, with rst_ni 0 if the machine has it."""
        if self.reset is None:
            return list(ports)
        place = self.reset - sum(n < self.reset for n in self.select)
        return [*ports[:place], 0, *ports[place + 1:]]

    def unknown(self):
        """How many literals more a question needs that assumes what is proved of the states."""
        return len(self.rules.free) if self.rules else 0

    def possible(self, builder, latches, free):
        """Can the machine be in this state, as far as is proved?"""
        return self.rules.hold(builder, latches, free) if self.rules else 1

    def sides(self, builder, settings, inputs, latches):
        """Both copies; `inputs` are shared, `latches` each side's own."""
        for side, setting in enumerate(settings):
            shared = iter(inputs)
            leaves = [(setting >> self.select[n]) & 1 if n in self.select else next(shared)
                      for n in range(self.machine.inputs)]
            yield builder.add(self.machine, leaves + latches[side])

    def shown(self, builder, sides):
        """For each output that is looked at: its number, and what each side shows."""
        for n, valid in self.looked_at:
            shown = [side(self.machine.outputs[n]) for side in sides]
            if valid is not None:
                shown = [builder.gate(x, side(self.machine.outputs[valid])) for x, side in zip(shown, sides)]
            yield n, *shown

    def _difference(self, builder, sides, latches):
        """Is one of the outputs, or of the next states of these latches, not the same?"""
        different = 0
        pairs = [shown for _, *shown in self.shown(builder, sides)]
        pairs += [[side(self.machine.next[n]) for side in sides] for n in latches]
        for a, b in pairs:
            different = builder.either(different, builder.differs(a, b))
        return different

    def one_step(self, a, b, path):
        """From one state and with one input, does an output or the next state ever differ?
        False if never; else the question is written as a graph of one output."""
        inputs = self.machine.inputs - len(self.select)
        free = inputs + self.machine.latches
        builder = Builder(free + self.unknown())
        latches = list(range(2 * (1 + inputs), 2 * (1 + free), 2))
        sides = list(self.sides(builder, (a, b), range(2, 2 * (1 + inputs), 2), (latches, latches)))
        different = self._difference(builder, sides, range(self.machine.latches))
        for literal in self.machine.constraints:
            different = builder.gate(different, sides[0](literal))
        if different == 0:
            return False
        more = range(2 * (1 + free), 2 * (1 + builder.inputs), 2)
        different = builder.gate(different, self.possible(builder, latches, more))
        if different == 0:
            return False
        builder.write(path, [], different)
        return True

    def _begins(self, free, apart, start):
        """The states of both sides before a step: from power-up, or any that differ in no latch
        but those in `apart`."""
        left = [0 if start else next(free) for _ in range(self.machine.latches)]
        right = list(left)
        if not start:
            for n in sorted(apart):
                right[n] = next(free)
        return left, right

    def induction(self, a, b, apart, start, path, clocks=None):
        """Two clocks of a proof that no output ever differs, though the latches `apart` may.

        Claim of a clock: same outputs, and the same next state in all other latches. From
        power-up (`start`): can the claim fail in the first clock, in which reset is active? Else:
        can it fail behind a clock in which it held, whatever `apart` holds on each side? False if
        never; else the question is written as a graph of one output. Also the other latches whose
        next state is not the same logic.

        What is proved of the states is proved of those behind a clock of reset: where that is
        assumed, the second clock from power-up is a question of its own (`clocks` 2).
        """
        machine = self.machine
        inputs, clocks = machine.inputs - len(self.select), clocks or (1 if start else 2)
        builder = Builder(clocks * inputs + (0 if start else machine.latches + len(apart) + self.unknown()))
        free = iter(range(2, 2 * (1 + builder.inputs), 2))
        ports = [[next(free) for _ in range(inputs)] for _ in range(clocks)]
        if start:
            ports[0] = self.in_reset(ports[0])
        left, right = self._begins(free, apart, start)
        others = [n for n in range(machine.latches) if n not in apart]
        assumed, fails, more = 1, 0, set()
        if not start:
            assumed = self.possible(builder, left, free)
        for clock in range(clocks):
            assumed = builder.gate(assumed, fails ^ 1)
            sides = list(self.sides(builder, (a, b), ports[clock], (left, right)))
            for literal in machine.constraints:
                assumed = builder.gate(assumed, sides[0](literal))
            fails = self._difference(builder, sides, others)
            left, right = ([side(n) for n in machine.next] for side in sides)
            if clock == 0:
                more = {n for n in others if left[n] != right[n]}
            # The claim of this clock is what the next one starts from.
            right = [right[n] if n in apart else left[n] for n in range(machine.latches)]
        question = builder.gate(assumed, fails)
        if question:
            builder.write(path, [], question)
        return question != 0, more

    def unseen(self, a, b, apart, start, path, alone=False, models=None):
        """A step of a proof that no output ever differs, though what nobody looks at (known.Rules)
        may. From two states that differ in the latches `apart` alone, and there only where nobody
        looks: does an output differ, or the next state of a latch where somebody does, or with
        `alone` of any other latch? With `start`: in the first two clocks from power-up, in the first
        of which reset is active. False if never; else the question is written as a graph of one
        output. Also the other latches whose next state is not the same logic.

        With `models` a second graph is written there: behind the question, for each latch of what
        is then given in place of these, whether it differs and whether somebody looks at it.
        """
        machine, rules = self.machine, self.rules
        inputs = machine.inputs - len(self.select)
        clocks = 2 if start else 1
        builder = Builder(clocks * inputs + (0 if start else machine.latches + len(apart) + self.unknown()))
        free = iter(range(2, 2 * (1 + builder.inputs), 2))
        ports = [[next(free) for _ in range(inputs)] for _ in range(clocks)]
        if start:
            ports[0] = self.in_reset(ports[0])
        left = [0 if start else next(free) for _ in range(machine.latches)]
        right, assumed, fails, more = list(left), 1, 0, set()
        if not start:
            unseen = rules.unseen_in(builder, left)
            for n in sorted(apart):
                right[n] = builder.differs(left[n], builder.gate(unseen[n], next(free)))
            assumed = self.possible(builder, left, free)
        for clock in range(clocks):
            sides = list(self.sides(builder, (a, b), ports[clock], (left, right)))
            for literal in machine.constraints:
                assumed = builder.gate(assumed, sides[0](literal))
            fails = builder.either(fails, self._difference(builder, sides, ()))
            left, right = ([side(n) for n in machine.next] for side in sides)
            unseen = rules.unseen_in(builder, left)
            shown = {}
            for n in range(machine.latches):
                if differs := builder.differs(left[n], right[n]):
                    more.add(n)
                    may = unseen.get(n, 0) if n in apart or not alone else 0
                    fails = builder.either(fails, builder.gate(differs, may ^ 1))
                    shown[n] = (differs, builder.gate(differs, unseen.get(n, 0) ^ 1))
        question = builder.gate(assumed, fails)
        if question:
            builder.write(path, [], question)
            if models:
                builder.write(models, [], question, *(x for pair in shown.values() for x in pair))
        if models:
            return question != 0, list(shown)
        return question != 0, (more - apart) & rules.unseen.keys()

    def claim(self, a, b, apart, cubes, known, start, path):
        """A step of a proof by induction that no output ever differs. The claim of a pair of
        states: it is in none of the `cubes`, and only latches in `apart` are not the same. A cube
        is a set of (latch, of_apart, value): the latch of a has the value, or whether b has
        another one is the value. States of a are in none of the `known` cubes, by a proof of its own.

        `start`: can the claim fail after the first clock from power-up, in which reset is active?
        Else: can it, or the outputs, fail in a clock that began with it? False if never; else
        the question is written as a graph of one output.
        """
        machine = self.machine
        inputs = machine.inputs - len(self.select)
        builder = Builder(inputs + (0 if start else machine.latches + len(apart) + self.unknown()))
        free = iter(range(2, 2 * (1 + builder.inputs), 2))
        ports = [next(free) for _ in range(inputs)]
        if start:
            ports = self.in_reset(ports)
        left, right = self._begins(free, apart, start)

        def within(cube, left, right):
            inside = 1
            for latch, of_apart, value in sorted(cube):
                bit = builder.differs(left[latch], right[latch]) if of_apart else left[latch]
                inside = builder.gate(inside, bit ^ (not value))
            return inside

        assumed = 1
        if not start:
            assumed = self.possible(builder, left, free)
            for cube in [*cubes, *known]:
                assumed = builder.gate(assumed, within(cube, left, right) ^ 1)
        sides = list(self.sides(builder, (a, b), ports, (left, right)))
        for literal in machine.constraints:
            assumed = builder.gate(assumed, sides[0](literal))
        fails = 0 if start else self._difference(builder, sides, ())
        left, right = ([side(n) for n in machine.next] for side in sides)
        for n in range(machine.latches):
            if n not in apart:
                fails = builder.either(fails, builder.differs(left[n], right[n]))
        for cube in cubes:
            fails = builder.either(fails, within(cube, left, right))
        question = builder.gate(assumed, fails)
        if question:
            builder.write(path, [], question)
        return question != 0

    def _assumed(self, builder, side, kept):
        """Have all assumptions held up to now? `kept` is a latch that starts with 0 for yes."""
        fine = kept ^ 1
        for literal in self.machine.constraints:
            fine = builder.gate(fine, side(literal))
        return fine

    def machines(self, a, b, path):
        """As a machine: in the first clock of all runs reset is active, all else is free. Is
        there a run in which an output differs while the assumptions hold for a?"""
        inputs = self.machine.inputs - len(self.select)
        count = self.machine.latches
        builder = Builder(inputs, 2 * count + 2)
        first = 2 * (1 + inputs)
        started = first + 4 * count
        free = range(2, first, 2)
        shared = [builder.gate(x, started) if y == 0 else x for x, y in zip(free, self.in_reset(free))]
        latches = [list(range(first + 2 * count * side, first + 2 * count * (side + 1), 2))
                   for side in (0, 1)]
        sides = list(self.sides(builder, (a, b), shared, latches))
        fine = self._assumed(builder, sides[0], started + 2)
        different = builder.gate(self._difference(builder, sides, ()), started)
        builder.write(path, [s(n) for s in sides for n in self.machine.next] + [1, fine ^ 1],
                      builder.gate(different, fine))

    def violation(self, setting, path):
        """Can the machine of this setting violate one of its assertions?"""
        inputs = self.machine.inputs - len(self.select)
        count = self.machine.latches
        builder = Builder(inputs, count + 1)
        first = 2 * (1 + inputs)
        [side] = self.sides(builder, (setting,), range(2, first, 2),
                             [list(range(first, first + 2 * count, 2))])
        fine = self._assumed(builder, side, first + 2 * count)
        bad = 0
        for literal in self.machine.bad:
            bad = builder.either(bad, side(literal))
        builder.write(path, [side(n) for n in self.machine.next] + [fine ^ 1],
                      builder.gate(bad, fine))
