// SPDX-License-Identifier: Apache-2.0
//
// Replays recorded inputs into each mutant of the RTL and compares every output of every
// clock with the healthy one: exactly what the scoreboard would see, since it predicts them
// all. A mutant is killed by the first difference.
//
//   mutants_replay INPUTS FIRST LAST    prints "<mutant> <clock of the first difference or ->"
//
// INPUTS is written by testbench/mutants_stimulus.rs: 'R' and the policies, 'S' and one clock.
#include "Vmutants.h"
#include "rnic_abi.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr uint64_t kFnvStart = 0xcbf29ce484222325ull;

template <class Port, class Record>
void copy_in(Port& port, const Record& record) {
    static_assert(sizeof(Port) == sizeof(Record), "port and C record differ in size");
    std::memcpy(static_cast<void*>(&port), &record, sizeof record);
}

struct Hash {
    uint64_t value = kFnvStart;
    template <class T>
    void add(const T& data) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&data);
        for (size_t i = 0; i < sizeof data; ++i) value = (value ^ bytes[i]) * 0x100000001b3ull;
    }
};

struct Event {
    bool reset;
    const unsigned char* data;
};

std::vector<unsigned char> file;

std::vector<Event> load(const char* path) {
    FILE* in = std::fopen(path, "rb");
    if (!in) {
        std::fprintf(stderr, "%s cannot be read\n", path);
        std::exit(2);
    }
    unsigned char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, in)) > 0;)
        file.insert(file.end(), buffer, buffer + n);
    std::fclose(in);
    std::vector<Event> events;
    for (size_t at = 0; at < file.size();) {
        const bool reset = file[at] == 'R';
        const size_t size = reset ? sizeof(rnic_policy) : sizeof(rnic_stim);
        if ((!reset && file[at] != 'S') || at + 1 + size > file.size()) {
            std::fprintf(stderr, "%s: byte %zu: not a record of inputs\n", path, at);
            std::exit(2);
        }
        events.push_back({reset, &file[at + 1]});
        at += 1 + size;
    }
    return events;
}

class Machine {
public:
    explicit Machine(unsigned mutant) {
        context_.randReset(0);
        model_ = std::make_unique<Vmutants>(&context_);
        model_->mutsel = mutant;
    }

    void clock() {
        model_->clk_i = 0;
        model_->eval();
        model_->clk_i = 1;
        model_->eval();
    }

    void reset(const rnic_policy& policy) {
        Vmutants& m = *model_;
        copy_in(m.policy_i, policy);
        apply(rnic_stim{});
        m.rst_ni = 0;
        clock();
        clock();
        m.rst_ni = 1;
    }

    // The outputs just before the edge; a payload only where its valid is 1.
    uint64_t step(const rnic_stim& stim) {
        Vmutants& m = *model_;
        apply(stim);
        m.clk_i = 0;
        m.eval();
        Hash hash;
        hash.add(m.cmd_ready_o);
        hash.add(m.post_ready_o);
        hash.add(m.wire_ready_o);
        hash.add(m.cqdb_ready_o);
        hash.add(m.wqe_ready_o);
        hash.add(m.unit_ready_o);
        hash.add(m.rsp_valid_o);
        hash.add(m.issue_valid_o);
        hash.add(m.cqe_valid_o);
        hash.add(m.event_valid_o);
        hash.add(m.retire_valid_o);
        hash.add(m.fetch_valid_o);
        if (m.rsp_valid_o) hash.add(m.rsp_o);
        if (m.issue_valid_o) hash.add(m.issue_o);
        if (m.cqe_valid_o) hash.add(m.cqe_o);
        if (m.event_valid_o) hash.add(m.event_o);
        if (m.retire_valid_o) hash.add(m.retire_o);
        if (m.fetch_valid_o) hash.add(m.fetch_o);
        m.clk_i = 1;
        m.eval();
        return hash.value;
    }

private:
    void apply(const rnic_stim& stim) {
        Vmutants& m = *model_;
        m.cmd_valid_i = stim.cmd_valid != 0;
        m.post_valid_i = stim.post_valid != 0;
        m.wire_valid_i = stim.wire_valid != 0;
        m.cqdb_valid_i = stim.cqdb_valid != 0;
        m.wqe_valid_i = stim.wqe_valid != 0;
        m.unit_valid_i = stim.unit_valid != 0;
        m.fetch_ready_i = stim.fetch_ready != 0;
        m.rsp_ready_i = stim.rsp_ready != 0;
        m.issue_ready_i = stim.issue_ready != 0;
        m.cqe_ready_i = stim.cqe_ready != 0;
        m.event_ready_i = stim.event_ready != 0;
        m.retire_ready_i = stim.retire_ready != 0;
        m.hold_internal_i = stim.hold_internal & 7;
        if (stim.cmd_valid) copy_in(m.cmd_i, stim.cmd);
        if (stim.post_valid) copy_in(m.post_i, stim.post);
        if (stim.wire_valid) copy_in(m.wire_i, stim.wire);
        if (stim.cqdb_valid) copy_in(m.cqdb_i, stim.cqdb);
        if (stim.wqe_valid) copy_in(m.wqe_i, stim.wqe);
        if (stim.unit_valid) copy_in(m.unit_i, stim.unit);
    }

    VerilatedContext context_;
    std::unique_ptr<Vmutants> model_;
};

// Hashes of the healthy hardware, or the first clock in which `expected` differs.
long run(unsigned mutant, const std::vector<Event>& events, std::vector<uint64_t>& hashes) {
    Machine machine{mutant};
    const bool reference = mutant == 0 && hashes.empty();
    size_t clock = 0;
    for (const Event& event : events) {
        if (event.reset) {
            rnic_policy policy;
            std::memcpy(&policy, event.data, sizeof policy);
            machine.reset(policy);
            continue;
        }
        rnic_stim stim;
        std::memcpy(&stim, event.data, sizeof stim);
        const uint64_t hash = machine.step(stim);
        if (reference) hashes.push_back(hash);
        else if (hashes[clock] != hash) return static_cast<long>(clock);
        ++clock;
    }
    return -1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s INPUTS FIRST LAST\n", argv[0]);
        return 2;
    }
    const std::vector<Event> events = load(argv[1]);
    std::vector<uint64_t> hashes;
    run(0, events, hashes);
    std::printf("clocks %zu\n", hashes.size());
    if (const long differs = run(0, events, hashes); differs >= 0) {
        std::fprintf(stderr, "the healthy hardware differs from itself in clock %ld\n", differs);
        return 2;
    }
    const unsigned last = static_cast<unsigned>(std::atoi(argv[3]));
    for (unsigned k = static_cast<unsigned>(std::atoi(argv[2])); k <= last; ++k) {
        const long differs = run(k, events, hashes);
        if (differs < 0) std::printf("%u -\n", k);
        else std::printf("%u %ld\n", k, differs);
        std::fflush(stdout);
    }
    return 0;
}
