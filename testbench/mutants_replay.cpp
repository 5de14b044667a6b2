// SPDX-License-Identifier: Apache-2.0
//
// Replays the recorded inputs of co-simulation runs into mutants of the RTL, 64 at a time: the
// netlist as and-inverter graph, one mutant per bit of a word. A mutant is killed in the first
// clock in which an output differs from what the co-simulation saw, which is what its
// scoreboard would have seen, since it predicts every output. Payloads count where valid is 1.
//
//   mutants_replay GRAPH MAP RUNS MUTANT...
//
// prints "clocks N" and for each mutant "K CLOCK", CLOCK being "-" for a survivor. Mutant 0 is
// the healthy hardware: if it differs from the recording, nothing here means anything, and the
// program ends with 2.
//
// GRAPH, MAP and RUNS: see mutants_machine.h.
#include "mutants_machine.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace mutants;

// The clock in which each of up to 64 mutants first differs, or -1; at most `limit` clocks.
std::vector<long> run(Machines& machines, const std::vector<Event>& events,
                      const std::vector<unsigned>& mutants, long limit) {
    const Word all = mutants.size() == 64 ? ~Word{0} : (Word{1} << mutants.size()) - 1;
    std::vector<long> first(mutants.size(), -1);
    Word dead = 0;
    long clock = 0;
    // The hardware owes nothing to what its memories held before.
    machines.power_up(mutants, 1);
    for (const Event& event : events) {
        if (event.reset) {
            machines.reset(event.data);
            continue;
        }
        Word news = machines.step(event.data, event.data + sizeof(rnic_stim)) & all & ~dead;
        dead |= news;
        for (; news; news &= news - 1) first[__builtin_ctzll(news)] = clock;
        ++clock;
        if (dead == all || clock == limit) break;
    }
    return first;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: %s GRAPH MAP RUNS MUTANT...\n", argv[0]);
        return 2;
    }
    const Graph graph{argv[1]};
    const Ports ports{argv[2]};
    const auto file = read_file(argv[3]);
    const auto events = events_of(file, argv[3]);
    long clocks = 0;
    for (const Event& e : events) clocks += !e.reset;
    Machines machines{graph, ports};

    std::vector<unsigned> open;
    for (int i = 4; i < argc; ++i) open.push_back(std::strtoul(argv[i], nullptr, 10));
    std::printf("clocks %ld\n", clocks);
    // Most mutants die early: the others are packed together before the long run.
    for (const long limit : {300L, 3000L, clocks}) {
        std::vector<unsigned> rest;
        for (size_t at = 0; at < open.size(); at += 63) {
            std::vector<unsigned> batch{0};
            for (size_t i = at; i < open.size() && i < at + 63; ++i) batch.push_back(open[i]);
            const auto first = run(machines, events, batch, limit);
            if (first[0] >= 0) die("the healthy netlist differs from the recording in clock " + std::to_string(first[0]));
            for (size_t i = 1; i < batch.size(); ++i) {
                if (first[i] >= 0) std::printf("%u %ld\n", batch[i], first[i]);
                else rest.push_back(batch[i]);
            }
            std::fflush(stdout);
        }
        open = rest;
        if (limit >= clocks) break;
    }
    for (const unsigned k : open) std::printf("%u -\n", k);
    return 0;
}
