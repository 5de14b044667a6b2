// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "models.h"
#include "verilated_context.h"

#include <stdexcept>
#include <string>

namespace rnic {

std::mutex& runtime_mutex() {
    static std::mutex mutex;
    return mutex;
}

std::unique_ptr<Device> new_device(rust::Str configuration, uint64_t seed) {
    const std::string name{configuration};
    for (const DeviceEntry& entry : kDevices)
        if (entry.name && name == entry.name) return entry.make(seed);
    throw std::runtime_error{"no hardware was built for the configuration " + name};
}

std::unique_ptr<Block> new_block(rust::Str name, uint64_t seed) {
    const std::string wanted{name};
    for (const BlockEntry& entry : kBlocks)
        if (entry.name && wanted == entry.name) return entry.make(seed);
    throw std::runtime_error{"no bench was built for the block " + wanted};
}

}  // namespace rnic
