"""States that a mutant and the healthy machine were in at the same time, as rows of bits: one row
per latch, one bit per state. Whether a set of latch values was ever seen is an `and` of rows."""
import mmap


class States:
    def __init__(self, folder, mutant, latches):
        """Those that testbench/mutants_states.cpp wrote. Without a mutant, or for one that it was
        not asked for: of the healthy machine and one that is never apart from it."""
        path = folder / "states"
        self.latches, self.width = latches, path.stat().st_size // latches
        with path.open("rb") as file:
            self.file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.written = self.count = 8 * self.width
        self.added = []
        self.rows = {}   # of the healthy machine; read when asked for
        self.apart = {}  # the states in which the latch is apart, for each that ever is
        apart = folder / f"{mutant}.apart"
        data = apart.read_bytes() if apart.exists() else b""
        for at in range(0, len(data), 4 + self.width):
            latch = int.from_bytes(data[at:at + 4], "little")
            self.apart[latch] = int.from_bytes(data[at + 4:at + 4 + self.width], "little")

    def healthy(self, latch):
        row = self.rows.get(latch)
        if row is None:
            row = int.from_bytes(self.file[latch * self.width:(latch + 1) * self.width], "little")
            for n, state in enumerate(self.added, self.written):
                row |= state[latch] << n
            self.rows[latch] = row
        return row

    def within(self, literal):
        """The states in which a literal of a cube holds."""
        latch, of_apart, value = literal
        row = self.apart.get(latch, 0) if of_apart else self.healthy(latch)
        return row if value else row ^ ((1 << self.count) - 1)

    def state(self, number):
        """One state: a value per latch, and the latches that are apart."""
        apart = {latch for latch, row in self.apart.items() if row >> number & 1}
        if number >= self.written:
            return self.added[number - self.written], apart
        at, bit = divmod(number, 8)
        return bytes(byte >> bit & 1 for byte in self.file[at::self.width]), apart

    def add(self, state, apart):
        bit = 1 << self.count
        for latch in self.rows:
            if state[latch]:
                self.rows[latch] |= bit
        for latch in apart:
            self.apart[latch] = self.apart.get(latch, 0) | bit
        self.added.append(state)
        self.count += 1
