// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "models.h"
#include "verilated_device.h"

namespace rnic {

std::mutex& runtime_mutex() {
    static std::mutex mutex;
    return mutex;
}

std::unique_ptr<Device> new_device(rust::Str configuration, uint64_t seed) {
    const std::string name{configuration};
    for (const ModelEntry& entry : kModels)
        if (name == entry.name) return entry.make(seed);
    throw std::runtime_error{"no hardware was built for the configuration " + name};
}

}  // namespace rnic
