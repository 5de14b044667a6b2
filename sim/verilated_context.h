// SPDX-License-Identifier: Apache-2.0
//
// What every verilated model needs of Verilator's runtime.
#pragma once

#include "verilated.h"

#include <cstdint>
#include <memory>
#include <mutex>

namespace rnic {

// Verilator's runtime keeps some state per process (the epoch of the random seeds, the last
// context, the time functions of the FST writer): whoever touches it holds this.
std::mutex& runtime_mutex();

// Verilator takes 0 as "choose one yourself"; seeds that differ must stay different.
inline int seed_of(uint64_t seed) {
    const uint64_t mixed = (seed ^ (seed >> 31) ^ (seed >> 62)) & 0x7fffffff;
    return mixed ? static_cast<int>(mixed) : 0x7fffffff;
}

// A context whose models have random power-up values, made current. The caller holds
// runtime_mutex() and makes the model only then.
inline std::unique_ptr<VerilatedContext> new_context(uint64_t seed) {
    auto context = std::make_unique<VerilatedContext>();
    // Without threads(1) each context starts workers.
    context->threads(1);
    context->fatalOnError(false);
    context->randReset(2);
    context->randSeed(seed_of(seed));
    Verilated::threadContextp(context.get());
    return context;
}

// An error is noted in the thread's context: that must be the model's own before any eval.
// Compared first, since the setter writes process-wide state too.
inline void enter(VerilatedContext& context) {
    if (Verilated::threadContextp() != &context) {
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        Verilated::threadContextp(&context);
    }
}

}  // namespace rnic
