// SPDX-License-Identifier: Apache-2.0
//
// Device over any verilated model with the ports of rnic_top.
#pragma once

#include "device.h"
#include "rnic-cosim/src/hw/ffi.rs.h"
#include "runtime.h"
#include "verilated_context.h"

#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#if VM_COVERAGE
#include "verilated_cov.h"

#include <cstdlib>
#include <unistd.h>
#endif

#include <chrono>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace rnic {

// A record and its port are the same bits: the packed struct of the RTL is the C struct.
template <class Port, class Record>
inline void copy_in(Port& port, const Record& record) {
    static_assert(sizeof(Port) == sizeof(Record), "port and C record differ in size");
    static_assert(std::is_trivially_copyable<Record>::value, "");
    std::memcpy(static_cast<void*>(&port), &record, sizeof record);
}

template <class Port, class Record>
inline void copy_out(Record& record, const Port& port) {
    static_assert(sizeof(Port) == sizeof(Record), "port and C record differ in size");
    static_assert(std::is_trivially_copyable<Record>::value, "");
    std::memcpy(&record, static_cast<const void*>(&port), sizeof record);
}

template <class Model>
class VerilatedDevice final : public Device {
public:
    explicit VerilatedDevice(uint64_t seed) {
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        context_ = new_context(seed);
#if VM_TRACE
        context_->traceEverOn(true);
#endif
        model_ = std::make_unique<Model>(context_.get(), "TOP");
    }

    ~VerilatedDevice() override {
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        Verilated::threadContextp(context_.get());
#if VM_TRACE
        waves_.reset();  // closes the file
#endif
#if VM_COVERAGE
        write_coverage();
#endif
        model_.reset();
    }

    VerilatedDevice(const VerilatedDevice&) = delete;
    VerilatedDevice& operator=(const VerilatedDevice&) = delete;

    void reset(const rnic_policy& policy) override {
        Model& m = *model_;
        enter(*context_);
        copy_in(m.policy_i, policy);
        const rnic_stim idle{};
        apply(idle);
        m.rst_ni = 0;
        rnic_resp ignored;
        for (int i = 0; i < 2; ++i) clock_once(ignored);
        m.rst_ni = 1;
    }

    void step(const rnic_stim& stim, rnic_resp& resp) override {
        enter(*context_);
        apply(stim);
        clock_once(resp);
    }

    void run(rust::Slice<const rnic_stim> stim, rust::Slice<rnic_resp> resp) override {
        enter(*context_);
        const size_t clocks = std::min(stim.size(), resp.size());
        for (size_t i = 0; i < clocks; ++i) {
            apply(stim[i]);
            clock_once(resp[i]);
        }
    }

    BareLoop bare_loop(const rnic_policy& policy, rust::Slice<const rnic_stim> stim,
                       uint64_t rounds) override;

#if VM_TRACE
    void open_waves(rust::Str path) override {
        close_waves();
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        Verilated::threadContextp(context_.get());
        // One writer per file: 5.006 can open another file with the same one, 5.048 aborts.
        waves_ = std::make_unique<VerilatedFstC>();
        model_->trace(waves_.get(), 99);
        waves_->open(std::string(path).c_str());
        if (!waves_->isOpen()) {
            waves_.reset();
            throw std::runtime_error{"the file cannot be written"};
        }
    }

    void close_waves() override {
        if (!waves_) return;
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        Verilated::threadContextp(context_.get());
        waves_.reset();  // closes the file
    }
#else
    // Rust has said so long before.
    void open_waves(rust::Str) override { throw std::runtime_error{"built without waveforms"}; }
    void close_waves() override {}
#endif

    uint64_t clock() const override { return clock_; }

private:
    void apply(const rnic_stim& stim) {
        Model& m = *model_;
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
        m.hold_internal_i = stim.hold_internal & 7;  // bits beyond a port's width are not masked
        if (stim.cmd_valid) copy_in(m.cmd_i, stim.cmd);
        if (stim.post_valid) copy_in(m.post_i, stim.post);
        if (stim.wire_valid) copy_in(m.wire_i, stim.wire);
        if (stim.cqdb_valid) copy_in(m.cqdb_i, stim.cqdb);
        if (stim.wqe_valid) copy_in(m.wqe_i, stim.wqe);
        if (stim.unit_valid) copy_in(m.unit_i, stim.unit);
    }

    // Both evals are needed: without the one at clk = 0 no edge is ever seen.
    void clock_once(rnic_resp& resp) {
        Model& m = *model_;
        m.clk_i = 0;
        eval(2 * clock_);
        resp.cmd_ready = m.cmd_ready_o;
        resp.post_ready = m.post_ready_o;
        resp.wire_ready = m.wire_ready_o;
        resp.cqdb_ready = m.cqdb_ready_o;
        resp.rsp_valid = m.rsp_valid_o;
        resp.issue_valid = m.issue_valid_o;
        resp.cqe_valid = m.cqe_valid_o;
        resp.event_valid = m.event_valid_o;
        resp.retire_valid = m.retire_valid_o;
        resp.slot_kind = m.slot_kind_o;
        resp.wqe_ready = m.wqe_ready_o;
        resp.unit_ready = m.unit_ready_o;
        resp.fetch_valid = m.fetch_valid_o;
        if (m.rsp_valid_o) copy_out(resp.rsp, m.rsp_o);
        if (m.issue_valid_o) copy_out(resp.issue, m.issue_o);
        if (m.cqe_valid_o) copy_out(resp.cqe, m.cqe_o);
        if (m.event_valid_o) copy_out(resp.event, m.event_o);
        if (m.retire_valid_o) copy_out(resp.retire, m.retire_o);
        if (m.fetch_valid_o) copy_out(resp.fetch, m.fetch_o);
        m.clk_i = 1;
        eval(2 * clock_ + 1);
        ++clock_;
        if (__builtin_expect(context_->gotError(), 0)) fail();
    }

    void eval(uint64_t time) {
        context_->time(time);
        model_->eval();
#if VM_TRACE
        if (__builtin_expect(waves_ != nullptr, 0)) waves_->dump(time);
#endif
    }

#if VM_COVERAGE
    // The counters lie in the model: one file per instance, to be merged by verilator_coverage.
    void write_coverage() {
        const char* folder = std::getenv("RNIC_COVERAGE_DIR");
        if (!folder || !*folder) return;
        static unsigned instances = 0;  // guarded by runtime_mutex()
        const std::string file = std::string(folder) + "/" + std::to_string(getpid()) + "-"
                                 + std::to_string(instances++) + ".dat";
        context_->coveragep()->write(file.c_str());
    }
#endif

    [[noreturn]] void fail() {
        context_->gotError(false);
        context_->gotFinish(false);
        throw std::runtime_error{rnic_rt_take_messages()};
    }

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Model> model_;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> waves_;
#endif
    uint64_t clock_ = 0;
};

// Folds whatever a clock showed into `hash`, so that no eval can be optimised away and two
// runs can be compared.
inline void fold(uint64_t& hash, const void* bytes, size_t size) {
    const auto* word = static_cast<const unsigned char*>(bytes);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t w;
        std::memcpy(&w, word + i, 4);
        hash = (hash ^ w) * 0x100000001b3u;
    }
}

template <class Model>
BareLoop VerilatedDevice<Model>::bare_loop(const rnic_policy& policy,
                                           rust::Slice<const rnic_stim> stim, uint64_t rounds) {
    uint64_t hash = 0xcbf29ce484222325u;
    rnic_resp resp{};
    const auto wall = std::chrono::steady_clock::now();
    timespec cpu0, cpu1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu0);
    for (uint64_t round = 0; round < rounds; ++round) {
        reset(policy);
        for (const rnic_stim& s : stim) {
            apply(s);
            clock_once(resp);
            fold(hash, &resp, offsetof(rnic_resp, rsp));
            if (resp.rsp_valid) fold(hash, &resp.rsp, sizeof resp.rsp);
            if (resp.issue_valid) fold(hash, &resp.issue, sizeof resp.issue);
            if (resp.cqe_valid) fold(hash, &resp.cqe, sizeof resp.cqe);
            if (resp.event_valid) fold(hash, &resp.event, sizeof resp.event);
            if (resp.retire_valid) fold(hash, &resp.retire, sizeof resp.retire);
            if (resp.fetch_valid) fold(hash, &resp.fetch, sizeof resp.fetch);
        }
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu1);
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - wall;
    BareLoop result;
    result.hash = hash;
    result.clocks = rounds * stim.size();
    result.wall_ns = static_cast<uint64_t>(elapsed.count());
    result.cpu_ns = static_cast<uint64_t>((cpu1.tv_sec - cpu0.tv_sec) * 1000000000LL +
                                          (cpu1.tv_nsec - cpu0.tv_nsec));
    return result;
}

}  // namespace rnic
