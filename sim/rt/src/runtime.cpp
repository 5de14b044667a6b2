// SPDX-License-Identifier: Apache-2.0
#include "verilated.h"

#include <cstdio>
#include <stdexcept>

namespace {
// A model that only chats must not eat the memory of a long run.
constexpr size_t kKeep = 1 << 16;
thread_local std::string messages;
}  // namespace

void rnic_vl_printf(const char* format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    const int length = std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length <= 0) return;
    if (messages.size() > kKeep) messages.erase(0, kKeep / 2);
    messages += text;
}

std::string rnic_rt_take_messages() {
    std::string taken;
    taken.swap(messages);
    return taken;
}

// The runtime's own ending of a fatal error is abort(), which would take every other test of
// the process along. The text reaches the caller of the shim as an exception instead.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    Verilated::threadContextp()->gotError(true);
    std::string text = rnic_rt_take_messages();
    if (file && file[0]) text += std::string{file} + ":" + std::to_string(line) + ": ";
    throw std::runtime_error{text + message};
}
