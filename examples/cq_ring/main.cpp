// SPDX-License-Identifier: Apache-2.0
//
// A queue of three entries: completions until it is full, one too many, reading, the next lap.
#include "Vcq_ring_alone.h"
#include "verilated.h"

#include <cstdio>

namespace {

constexpr unsigned kDepth = 3;

void edge(Vcq_ring_alone& ring) {
    ring.clk_i = 0;
    ring.eval();
    ring.clk_i = 1;
    ring.eval();
}

// The verdict stands in the clock of the attempt, the new context one clock later.
void complete(Vcq_ring_alone& ring, const char* what) {
    ring.attempt_i = 1;
    ring.eval();
    std::printf("%s: ", what);
    if (ring.written_o) {
        std::printf("written to slot %u with phase %u", ring.slot_o, ring.phase_o);
    } else {
        std::printf("the queue is full");
    }
    const bool failed = ring.failed_o;
    edge(ring);
    ring.attempt_i = 0;
    ring.eval();
    std::printf("; %u unread, %u lost%s\n", ring.occupancy_o, ring.lost_o,
                failed ? "; the QP goes to ERR" : "");
}

void consume(Vcq_ring_alone& ring, unsigned index) {
    ring.consume_i = 1;
    ring.index_i = index;
    ring.eval();
    const bool ok = ring.consume_ok_o;
    edge(ring);
    ring.consume_i = 0;
    ring.eval();
    std::printf("consumer index %u: %s; %u unread\n", index, ok ? "taken" : "refused",
                ring.occupancy_o);
}

}  // namespace

int main() {
    Vcq_ring_alone ring;
    ring.depth_i = kDepth;
    ring.rst_ni = 0;
    edge(ring);
    ring.rst_ni = 1;
    edge(ring);

    std::printf("a ring of %u entries\n", kDepth);
    complete(ring, "completion 0");
    complete(ring, "completion 1");
    complete(ring, "completion 2");
    complete(ring, "completion 3");
    consume(ring, 4);
    consume(ring, 2);
    complete(ring, "completion 4");
    complete(ring, "completion 5");
    consume(ring, 5);
    complete(ring, "completion 6");
    ring.final();
    return 0;
}
