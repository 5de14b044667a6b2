// SPDX-License-Identifier: Apache-2.0
//
// The states that mutants of the RTL pass through when recorded runs are replayed into them, beside
// those of the healthy hardware: what a proof that a mutant is equivalent may claim of them.
//
//   mutants_states GRAPH MAP RUNS FOLDER MUTANT...
//
// writes FOLDER/states: one row per latch, one bit per clock, of the healthy hardware; and
// FOLDER/N.apart for each mutant N: the number of a latch (32 bits) and a row of the clocks in
// which it is not what it is in the healthy hardware, for each latch that ever is not. A row is
// whole words of 64 bits. Prints "clocks N". GRAPH, MAP and RUNS: see mutants_machine.h.
#include "mutants_machine.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace mutants;
using Row = std::vector<Word>;

// Inputs as no host gives them: what hardware can do is more than what a host makes it do.
class Disturbed {
public:
    // Every clock a bit or a word of a port may change, and a valid or ready.
    const unsigned char* stim(const unsigned char* recorded) {
        std::memcpy(&stim_, recorded, sizeof stim_);
        auto* bytes = reinterpret_cast<unsigned char*>(&stim_);
        if (below(4) == 0)
            for (unsigned n = 1 + below(8); n > 0; --n) bytes[flag()] ^= 1;
        if (below(2) == 0) {
            for (const auto& [at, size] : kData) {
                if (below(2)) continue;
                if (below(2)) {
                    for (unsigned n = 1 + below(4); n > 0; --n) bytes[at + below(size)] ^= 1 << below(8);
                } else {
                    const size_t word = below(size / 4) * 4;
                    for (size_t i = 0; i < 4; ++i) bytes[at + word + i] = below(256);
                }
            }
        }
        return bytes;
    }

    bool reset() { return below(1000) == 0; }

    const unsigned char* policy(const unsigned char* recorded) {
        std::memcpy(policy_, recorded, sizeof policy_);
        if (below(2)) policy_[below(sizeof policy_)] ^= 1 << below(8);
        return policy_;
    }

private:
    static constexpr std::pair<size_t, size_t> kData[] = {
        {offsetof(rnic_stim, cmd), sizeof(rnic_stim::cmd)},   {offsetof(rnic_stim, post), sizeof(rnic_stim::post)},
        {offsetof(rnic_stim, wire), sizeof(rnic_stim::wire)}, {offsetof(rnic_stim, cqdb), sizeof(rnic_stim::cqdb)},
        {offsetof(rnic_stim, wqe), sizeof(rnic_stim::wqe)},   {offsetof(rnic_stim, unit), sizeof(rnic_stim::unit)}};

    // xorshift64: the same on every machine.
    unsigned below(unsigned limit) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (state_ >> 32) % limit;
    }

    size_t flag() {
        static const std::vector<size_t> flags = [] {
            std::vector<size_t> found;
            for (const auto& [name, field] : kInputs)
                if (field.flag) found.push_back(field.byte);
            return found;
        }();
        return flags[below(flags.size())];
    }

    uint64_t state_ = 0x9e3779b97f4a7c15;
    rnic_stim stim_;
    unsigned char policy_[sizeof(rnic_policy)];
};

void put(std::FILE* out, const void* data, size_t size) {
    if (std::fwrite(data, 1, size, out) != size) die("a file of states cannot be written");
}

std::FILE* create(const std::string& path) {
    std::FILE* out = std::fopen(path.c_str(), "wb");
    if (!out) die(path + " cannot be written");
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: %s GRAPH MAP RUNS FOLDER MUTANT...\n", argv[0]);
        return 2;
    }
    const Graph graph{argv[1]};
    const Ports ports{argv[2]};
    const auto file = read_file(argv[3]);
    const auto events = events_of(file, argv[3]);
    const std::string folder = argv[4];
    size_t room = 0;
    for (const Event& e : events) room += e.reset ? 2 : 1;
    room += room;
    const size_t words = room / 64;
    std::vector<unsigned> asked;
    for (int i = 5; i < argc; ++i) asked.push_back(std::strtoul(argv[i], nullptr, 10));

    // 63 at a time beside the healthy hardware; the first part writes that, even if it is empty.
    auto part = [&](size_t at) {
        std::vector<unsigned> lanes{0};
        for (size_t i = at; i < asked.size() && i < at + 63; ++i) lanes.push_back(asked[i]);
        std::vector<Row> healthy(at == 0 ? graph.latches : 0, Row(words));
        std::vector<std::map<uint32_t, Row>> apart(lanes.size());
        Machines machines{graph, ports};
        machines.power_up(lanes);
        // Of what an output has shown nothing is claimed.
        const Word all_lanes = lanes.size() < 64 ? (Word{1} << lanes.size()) - 1 : ~Word{0};
        Word open = all_lanes;
        size_t clock = 0;
        auto seen = [&] {
            if (clock == 64 * words) return;
            const Word* state = machines.state();
            const Word bit = Word{1} << (clock % 64);
            for (uint32_t latch = 0; latch < graph.latches; ++latch) {
                const Word all = Word{0} - (state[latch] & 1);
                if (all && at == 0) healthy[latch][clock / 64] |= bit;
                for (Word different = (state[latch] ^ all) & open; different; different &= different - 1) {
                    Row& row = apart[__builtin_ctzll(different)][latch];
                    row.resize(words);
                    row[clock / 64] |= bit;
                }
            }
            ++clock;
        };
        for (const Event& event : events) {
            if (event.reset) {
                machines.reset(event.data, seen);
            } else {
                open &= ~machines.step(event.data, event.data + sizeof(rnic_stim));
                seen();
            }
        }
        Disturbed disturbed;
        const unsigned char* policy = nullptr;
        for (const Event& event : events) {
            if (event.reset || disturbed.reset()) {
                if (event.reset) policy = event.data;
                machines.reset(disturbed.policy(policy), seen);
            }
            if (!event.reset) {
                open &= ~machines.step(disturbed.stim(event.data));
                seen();
            }
        }
        for (size_t lane = 1; lane < lanes.size(); ++lane)
            if (!(open >> lane & 1)) std::printf("%u shown\n", lanes[lane]);
        if (at == 0) {
            std::FILE* out = create(folder + "/states");
            for (const Row& row : healthy) put(out, row.data(), words * sizeof(Word));
            std::fclose(out);
        }
        for (size_t lane = 1; lane < lanes.size(); ++lane) {
            std::FILE* out = create(folder + "/" + std::to_string(lanes[lane]) + ".apart");
            for (const auto& [latch, row] : apart[lane]) {
                put(out, &latch, sizeof latch);
                put(out, row.data(), words * sizeof(Word));
            }
            std::fclose(out);
        }
    };
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < std::max(1u, std::thread::hardware_concurrency()); ++n)
        threads.emplace_back([&] {
            for (size_t at; (at = next.fetch_add(63)) < std::max<size_t>(1, asked.size());) part(at);
        });
    for (std::thread& thread : threads) thread.join();
    return 0;
}
