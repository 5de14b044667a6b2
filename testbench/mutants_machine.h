// SPDX-License-Identifier: Apache-2.0
//
// Mutants of the RTL as an and-inverter graph, 64 at a time: one mutant per bit of a word. The
// graph and the map of its ports are written by yosys, the runs by
// testbench/hardware/mutants_stimulus.rs: 'R' and the policies, or 'S', the inputs and the outputs
// of one clock.
#pragma once

#include "rnic_abi.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace mutants {

using Word = uint64_t;

[[noreturn]] inline void die(const std::string& why) {
    std::fprintf(stderr, "mutants: %s\n", why.c_str());
    std::exit(2);
}

inline std::vector<unsigned char> read_file(const char* path) {
    FILE* in = std::fopen(path, "rb");
    if (!in) die(std::string(path) + " cannot be read");
    std::vector<unsigned char> data;
    unsigned char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, in)) > 0;)
        data.insert(data.end(), buffer, buffer + n);
    std::fclose(in);
    return data;
}

struct Gate {
    uint32_t a, b;
};

struct Graph {
    uint32_t inputs = 0, latches = 0;
    std::vector<uint32_t> next, outputs;
    std::vector<Gate> gates;

    explicit Graph(const char* path) {
        const auto data = read_file(path);
        size_t at = 0;
        auto line = [&] {
            std::string text;
            while (at < data.size() && data[at] != '\n') text += static_cast<char>(data[at++]);
            ++at;
            return text;
        };
        unsigned max, count_out, count_and;
        if (std::sscanf(line().c_str(), "aig %u %u %u %u %u", &max, &inputs, &latches, &count_out,
                        &count_and) != 5)
            die(std::string(path) + " is not a binary AIGER file");
        for (unsigned i = 0; i < latches; ++i) next.push_back(std::strtoul(line().c_str(), nullptr, 10));
        for (unsigned i = 0; i < count_out; ++i)
            outputs.push_back(std::strtoul(line().c_str(), nullptr, 10));
        auto delta = [&] {
            uint32_t value = 0;
            for (int shift = 0;; shift += 7) {
                if (at >= data.size()) die(std::string(path) + " ends too early");
                const unsigned char byte = data[at++];
                value |= static_cast<uint32_t>(byte & 0x7f) << shift;
                if (byte < 0x80) return value;
            }
        };
        for (uint32_t i = 0; i < count_and; ++i) {
            const uint32_t a = 2 * (1 + inputs + latches + i) - delta();
            const uint32_t b = a - delta();
            gates.push_back({a, b});
        }
    }
};

// Which bit of a C record a port bit is.
struct Field {
    size_t byte;
    bool flag;  // a byte that is 0 or 1
};

inline const std::map<std::string, Field> kInputs = {
    {"cmd_valid_i", {offsetof(rnic_stim, cmd_valid), true}},
    {"post_valid_i", {offsetof(rnic_stim, post_valid), true}},
    {"wire_valid_i", {offsetof(rnic_stim, wire_valid), true}},
    {"cqdb_valid_i", {offsetof(rnic_stim, cqdb_valid), true}},
    {"wqe_valid_i", {offsetof(rnic_stim, wqe_valid), true}},
    {"unit_valid_i", {offsetof(rnic_stim, unit_valid), true}},
    {"fetch_ready_i", {offsetof(rnic_stim, fetch_ready), true}},
    {"rsp_ready_i", {offsetof(rnic_stim, rsp_ready), true}},
    {"issue_ready_i", {offsetof(rnic_stim, issue_ready), true}},
    {"cqe_ready_i", {offsetof(rnic_stim, cqe_ready), true}},
    {"event_ready_i", {offsetof(rnic_stim, event_ready), true}},
    {"retire_ready_i", {offsetof(rnic_stim, retire_ready), true}},
    {"hold_internal_i", {offsetof(rnic_stim, hold_internal), false}},
    {"cmd_i", {offsetof(rnic_stim, cmd), false}},
    {"post_i", {offsetof(rnic_stim, post), false}},
    {"wire_i", {offsetof(rnic_stim, wire), false}},
    {"cqdb_i", {offsetof(rnic_stim, cqdb), false}},
    {"wqe_i", {offsetof(rnic_stim, wqe), false}},
    {"unit_i", {offsetof(rnic_stim, unit), false}},
};

inline const std::map<std::string, Field> kOutputs = {
    {"cmd_ready_o", {offsetof(rnic_resp, cmd_ready), true}},
    {"post_ready_o", {offsetof(rnic_resp, post_ready), true}},
    {"wire_ready_o", {offsetof(rnic_resp, wire_ready), true}},
    {"cqdb_ready_o", {offsetof(rnic_resp, cqdb_ready), true}},
    {"wqe_ready_o", {offsetof(rnic_resp, wqe_ready), true}},
    {"unit_ready_o", {offsetof(rnic_resp, unit_ready), true}},
    {"rsp_valid_o", {offsetof(rnic_resp, rsp_valid), true}},
    {"issue_valid_o", {offsetof(rnic_resp, issue_valid), true}},
    {"cqe_valid_o", {offsetof(rnic_resp, cqe_valid), true}},
    {"event_valid_o", {offsetof(rnic_resp, event_valid), true}},
    {"retire_valid_o", {offsetof(rnic_resp, retire_valid), true}},
    {"fetch_valid_o", {offsetof(rnic_resp, fetch_valid), true}},
    {"rsp_o", {offsetof(rnic_resp, rsp), false}},
    {"issue_o", {offsetof(rnic_resp, issue), false}},
    {"cqe_o", {offsetof(rnic_resp, cqe), false}},
    {"event_o", {offsetof(rnic_resp, event), false}},
    {"retire_o", {offsetof(rnic_resp, retire), false}},
    {"fetch_o", {offsetof(rnic_resp, fetch), false}},
};

struct Bit {
    uint32_t index;  // of the input or output
    size_t byte;
    unsigned bit;
    bool flag;
    size_t valid;  // outputs: byte of the valid that goes with it, or none
};
constexpr size_t kNone = ~size_t{0};

struct Ports {
    std::vector<Bit> stim, policy, resp;
    std::vector<std::pair<uint32_t, unsigned>> select;  // input, bit
    uint32_t reset = ~0u;

    explicit Ports(const char* path) {
        FILE* in = std::fopen(path, "r");
        if (!in) die(std::string(path) + " cannot be read");
        char kind[16], name[256];
        unsigned index, bit;
        while (std::fscanf(in, "%15s %u %u %255s", kind, &index, &bit, name) == 4) {
            const std::string port = name;
            if (std::string(kind) == "input") {
                if (port == "mutsel") select.push_back({index, bit});
                else if (port == "rst_ni") reset = index;
                else if (port == "policy_i") policy.push_back({index, bit / 8, bit % 8, false, kNone});
                else if (const auto f = kInputs.find(port); f != kInputs.end())
                    stim.push_back({index, f->second.byte + bit / 8, bit % 8, f->second.flag, kNone});
                else if (port != "clk_i") die("unknown input " + port);
            } else if (std::string(kind) == "output") {
                const auto f = kOutputs.find(port);
                if (f == kOutputs.end()) {
                    if (port != "slot_kind_o") die("unknown output " + port);
                    continue;
                }
                const auto v = kOutputs.find(port.substr(0, port.size() - 2) + "_valid_o");
                const bool guarded = !f->second.flag && v != kOutputs.end();
                resp.push_back({index, f->second.byte + bit / 8, bit % 8, f->second.flag,
                                guarded ? v->second.byte : kNone});
            }
        }
        std::fclose(in);
        if (select.empty() || reset == ~0u) die(std::string(path) + " names no mutsel or no rst_ni");
    }
};

inline bool bit_of(const unsigned char* record, const Bit& b) {
    return b.flag ? record[b.byte] != 0 : (record[b.byte] >> b.bit) & 1;
}

class Machines {
public:
    Machines(const Graph& graph, const Ports& ports)
        : graph_{graph}, ports_{ports}, value_(1 + graph.inputs + graph.latches + graph.gates.size()),
          next_(graph.latches) {}

    // Registers and memories hold zeros, or with a seed what chance has left in them, in all
    // mutants alike.
    void power_up(const std::vector<unsigned>& mutants, unsigned long seed = 0) {
        std::fill(value_.begin(), value_.end(), 0);
        if (seed) {
            std::mt19937_64 chance{seed};
            for (size_t n = 0; n < graph_.latches; ++n)
                value_[1 + graph_.inputs + n] = (chance() & 1) ? ~Word{0} : Word{0};
        }
        for (const auto& [input, bit] : ports_.select) {
            Word word = 0;
            for (size_t lane = 0; lane < mutants.size(); ++lane)
                word |= Word{(mutants[lane] >> bit) & 1} << lane;
            value_[1 + input] = word;
        }
    }

    // `seen` is told after every clock.
    template <class Seen>
    void reset(const unsigned char* policy, Seen seen) {
        static const rnic_stim idle{};
        drive(ports_.policy, policy);
        value_[1 + ports_.reset] = 0;
        for (int i = 0; i < 2; ++i) {
            drive(ports_.stim, reinterpret_cast<const unsigned char*>(&idle));
            evaluate();
            edge();
            seen();
        }
        value_[1 + ports_.reset] = ~Word{0};
    }

    void reset(const unsigned char* policy) {
        reset(policy, [] {});
    }

    // The latches.
    const Word* state() const { return &value_[1 + graph_.inputs]; }

    // Lanes whose outputs differ from the recorded ones.
    Word step(const unsigned char* stim, const unsigned char* resp) {
        drive(ports_.stim, stim);
        evaluate();
        const Word different = differing(resp);
        edge();
        return different;
    }

    // Lanes whose outputs differ from those of the first.
    Word step(const unsigned char* stim) {
        drive(ports_.stim, stim);
        evaluate();
        unsigned char resp[sizeof(rnic_resp)] = {};
        for (const Bit& b : ports_.resp)
            if (at(graph_.outputs[b.index]) & 1) resp[b.byte] |= b.flag ? 1 : 1 << b.bit;
        const Word different = differing(resp);
        edge();
        return different;
    }

private:
    Word at(uint32_t literal) const { return value_[literal >> 1] ^ (Word{0} - (literal & 1)); }

    Word differing(const unsigned char* resp) const {
        Word different = 0;
        for (const Bit& b : ports_.resp) {
            if (b.valid != kNone && !resp[b.valid]) continue;
            different |= at(graph_.outputs[b.index]) ^ (bit_of(resp, b) ? ~Word{0} : 0);
        }
        return different;
    }

    void drive(const std::vector<Bit>& bits, const unsigned char* record) {
        for (const Bit& b : bits) value_[1 + b.index] = bit_of(record, b) ? ~Word{0} : 0;
    }

    void evaluate() {
        Word* out = &value_[1 + graph_.inputs + graph_.latches];
        for (const Gate& g : graph_.gates) *out++ = at(g.a) & at(g.b);
    }

    void edge() {
        for (uint32_t i = 0; i < graph_.latches; ++i) next_[i] = at(graph_.next[i]);
        std::memcpy(&value_[1 + graph_.inputs], next_.data(), next_.size() * sizeof(Word));
    }

    const Graph& graph_;
    const Ports& ports_;
    std::vector<Word> value_, next_;
};

struct Event {
    bool reset;
    const unsigned char* data;
};

inline std::vector<Event> events_of(const std::vector<unsigned char>& file, const char* path) {
    std::vector<Event> events;
    for (size_t at = 0; at < file.size();) {
        const bool reset = file[at] == 'R';
        const size_t size = reset ? sizeof(rnic_policy) : sizeof(rnic_stim) + sizeof(rnic_resp);
        if ((!reset && file[at] != 'S') || at + 1 + size > file.size())
            die(std::string(path) + ": byte " + std::to_string(at) + ": not a record of a clock");
        events.push_back({reset, &file[at + 1]});
        at += 1 + size;
    }
    return events;
}

}  // namespace mutants
