// SPDX-License-Identifier: Apache-2.0
//
// One verilated device as Rust sees it: one call per clock with the records of the ABI.
#pragma once

#include "rnic_abi.h"
#include "rust/cxx.h"

#include <cstdint>
#include <memory>

namespace rnic {

struct BareLoop;

// Not thread-safe, but may move between threads. Every member function that returns normally
// leaves the device usable; one that throws std::exception says why in the text.
class Device {
public:
    virtual ~Device() = default;

    // Holds reset for two clocks with these straps, then releases it.
    virtual void reset(const rnic_policy& policy) = 0;

    // One clock: applies `stim`, shows the ports just before the rising edge in `resp`, makes
    // the edge. Payloads in `resp` are written only where valid is 1. Throws if an assertion
    // of the RTL failed; the clock has then happened all the same.
    virtual void step(const rnic_stim& stim, rnic_resp& resp) = 0;

    // As many clocks as both slices have elements. Throws at the first failing one.
    virtual void run(rust::Slice<const rnic_stim> stim, rust::Slice<rnic_resp> resp) = 0;

    // Resets and drives `stim`, `rounds` times, looking at nothing: the limit for any harness.
    virtual BareLoop bare_loop(const rnic_policy& policy, rust::Slice<const rnic_stim> stim,
                               uint64_t rounds) = 0;

    // Starts a waveform file, ending one that is being written. The path must be writable.
    virtual void open_waves(rust::Str path) = 0;
    virtual void close_waves() = 0;

    // Clocks made so far, those of resets included.
    virtual uint64_t clock() const = 0;
};

// Throws if there is no configuration of that name. The seed decides every power-up value.
std::unique_ptr<Device> new_device(rust::Str configuration, uint64_t seed);

}  // namespace rnic
