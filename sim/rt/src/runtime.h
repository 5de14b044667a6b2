// SPDX-License-Identifier: Apache-2.0
//
// Where the Verilator runtime and the models put their messages: into a buffer of the
// calling thread, since the process's stdout belongs to the program that embeds them.
// Included before everything else in every object (-include).
#pragma once

#include <cstdarg>
#include <string>

// printf of the runtime (VL_PRINTF).
void rnic_vl_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Takes what this thread's models have printed since the last call.
std::string rnic_rt_take_messages();
