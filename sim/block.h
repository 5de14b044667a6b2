// SPDX-License-Identifier: Apache-2.0
//
// A block of the RTL on a bench of its own: words in, words out, many steps per call.
#pragma once

#include "rust/cxx.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rnic {

// As `Device`: not thread-safe, but may move between threads.
class Block {
public:
    virtual ~Block() = default;

    // Words of one step: of the port stim_i, and of the port resp_o.
    virtual size_t stim_words() const = 0;
    virtual size_t resp_words() const = 0;

    // As many steps as `stim` holds: applies each, shows what the block answers before the
    // rising edge, and makes the edge if the bench has a clock. `resp` must hold as many.
    virtual void run(rust::Slice<const uint32_t> stim, rust::Slice<uint32_t> resp) = 0;
};

// Throws if no bench of that name was built. The seed decides every power-up value.
std::unique_ptr<Block> new_block(rust::Str name, uint64_t seed);

}  // namespace rnic
