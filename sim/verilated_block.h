// SPDX-License-Identifier: Apache-2.0
//
// Block over any verilated bench with the ports stim_i and resp_o, and clk_i if it has state.
#pragma once

#include "block.h"
#include "runtime.h"
#include "verilated_context.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace rnic {

template <class Model, class = void>
struct HasClock : std::false_type {};
template <class Model>
struct HasClock<Model, std::void_t<decltype(std::declval<Model&>().clk_i)>> : std::true_type {};

template <class Model>
class VerilatedBlock final : public Block {
public:
    explicit VerilatedBlock(uint64_t seed) {
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        context_ = new_context(seed);
        model_ = std::make_unique<Model>(context_.get(), "TOP");
    }

    ~VerilatedBlock() override {
        const std::lock_guard<std::mutex> lock{runtime_mutex()};
        Verilated::threadContextp(context_.get());
        model_.reset();
    }

    VerilatedBlock(const VerilatedBlock&) = delete;
    VerilatedBlock& operator=(const VerilatedBlock&) = delete;

    size_t stim_words() const override { return sizeof model_->stim_i / sizeof(uint32_t); }
    size_t resp_words() const override { return sizeof model_->resp_o / sizeof(uint32_t); }

    void run(rust::Slice<const uint32_t> stim, rust::Slice<uint32_t> resp) override {
        enter(*context_);
        Model& m = *model_;
        const size_t steps = stim.size() / stim_words();
        if (stim.size() % stim_words() != 0 || resp.size() != steps * resp_words())
            throw std::runtime_error{"stimulus and response hold different numbers of steps"};
        for (size_t i = 0; i < steps; ++i) {
            std::memcpy(static_cast<void*>(&m.stim_i), &stim[i * stim_words()], sizeof m.stim_i);
            if constexpr (HasClock<Model>::value) m.clk_i = 0;
            m.eval();
            std::memcpy(&resp[i * resp_words()], static_cast<const void*>(&m.resp_o),
                        sizeof m.resp_o);
            if constexpr (HasClock<Model>::value) {
                m.clk_i = 1;
                m.eval();
            }
        }
        if (context_->gotError()) {
            context_->gotError(false);
            context_->gotFinish(false);
            throw std::runtime_error{rnic_rt_take_messages()};
        }
    }

private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Model> model_;
};

}  // namespace rnic
