// SPDX-License-Identifier: Apache-2.0
#include "backends/op_case.h"
#include "graph/step_block.h"

#include <limits>

namespace espalier::testing {
namespace {

CaseInput step(float micro_step = 0, float history_row = 0) {
    std::vector<float> values(step_block::size);
    values[step_block::learning_rate] = 0.05F;
    values[step_block::step] = 3;
    values[step_block::loss_scale] = 8;
    values[step_block::micro_step] = micro_step;
    values[step_block::micro_steps] = 2;
    values[step_block::history_row] = history_row;
    return given({step_block::size}, values, Role::buffer);
}

CaseInput buffer(Shape shape, std::vector<float> values = {}) { return given(shape, std::move(values), Role::buffer); }

CaseInput trained(Shape shape) { return given(shape, {}, Role::parameter); }

/// Two parameters of different shapes with their gradients and momentum buffers.
OpCase sgd(const std::string& name, std::optional<CaseInput> norm, Attributes attributes) {
    const Shape a{4, 3, 3, 3}, b{5};
    attributes.set("momentum", 0.9);
    return {"sgd " + name,
            "sgd",
            {step(), std::move(norm), trained(a), given(a), buffer(a), trained(b), given(b), buffer(b)},
            std::move(attributes),
            {2, 4, 5, 7}};
}

OpCase adam(const std::string& name, std::optional<CaseInput> norm, Attributes attributes) {
    const Shape a{6, 5}, b{1};
    const std::vector<float> squares(30, 0.25F);
    std::vector<float> steps(30, 4.0F); // counted by element: some entries are new
    steps[3] = steps[17] = 0;
    attributes.set("beta1", 0.5);
    attributes.set("beta2", 0.99);
    attributes.set("eps", 1e-6);
    return {"adam " + name,
            "adam",
            {step(), std::move(norm), trained(a), given(a), buffer(a), buffer(a, squares), buffer(a, steps), trained(b),
             given(b), buffer(b), buffer(b, {0.0F}), buffer(b, {0.0F})},
            std::move(attributes),
            {2, 4, 5, 6, 7, 9, 10, 11}};
}

} // namespace

void add_update_cases(std::vector<OpCase>& cases) {
    const auto one = [](float value) { return given({1}, {value}); };
    const auto infinite = std::numeric_limits<float>::infinity();
    cases.push_back({"record", "record", {step(0, 2), one(1.5F), one(-2)}, {}, {}, {{4, 2}}});
    cases.push_back({"record wraps", "record", {step(0, 9), one(1.5F), one(-2)}, {}, {}, {{4, 2}}});
    cases.push_back({"accumulate first",
                     "accumulate",
                     {step(0), given({3, 4}), buffer({3, 4}), given({5}), buffer({5})},
                     {},
                     {2, 4}});
    cases.push_back({"accumulate next",
                     "accumulate",
                     {step(1), given({3, 4}), buffer({3, 4}), given({5}), buffer({5})},
                     {},
                     {2, 4}});
    cases.push_back({"gradient_norm", "gradient_norm", {step(), given({3, 4, 3, 3}), given({7}), given({2, 2})}});
    cases.push_back({"loss_scale", "loss_scale", {step(), buffer({1}, {1024})}, {}, {0}});
    cases.push_back({"update_loss_scale: overflow",
                     "update_loss_scale",
                     {one(infinite), buffer({1}, {1024}), buffer({1}, {7})},
                     {},
                     {1, 2}});
    cases.push_back({"update_loss_scale: at the floor",
                     "update_loss_scale",
                     {one(infinite), buffer({1}, {1}), buffer({1}, {7})},
                     {},
                     {1, 2}});
    cases.push_back(
        {"update_loss_scale: good", "update_loss_scale", {one(3), buffer({1}, {1024}), buffer({1}, {7})}, {}, {1, 2}});
    cases.push_back({"update_loss_scale: doubles",
                     "update_loss_scale",
                     {one(3), buffer({1}, {1024}), buffer({1}, {7})},
                     {{"interval", std::int64_t{8}}},
                     {1, 2}});
    cases.push_back(sgd("plain", std::nullopt, {}));
    cases.push_back(sgd("decay", std::nullopt, {{"weight_decay", 0.01}}));
    cases.push_back(sgd("decay but not of the second", std::nullopt,
                        {{"weight_decay", 0.1}, {"no_decay", std::vector<std::int64_t>{1}}}));
    cases.push_back(sgd("nesterov", std::nullopt, {{"nesterov", true}, {"weight_decay", 0.01}}));
    cases.push_back(sgd("clipped", one(20), {{"clip_norm", 5.0}}));
    cases.push_back(sgd("below the clip", one(2), {{"clip_norm", 5.0}}));
    cases.push_back(sgd("norm not finite", one(infinite), {{"clip_norm", 5.0}}));
    cases.push_back(adam("plain", std::nullopt, {}));
    cases.push_back(adam("decay", std::nullopt, {{"weight_decay", 0.1}}));
    cases.push_back(adam("decoupled", std::nullopt, {{"weight_decay", 0.1}, {"decoupled", true}}));
    cases.push_back(adam("clipped", one(20),
                         {{"clip_norm", 5.0}, {"weight_decay", 0.1}, {"no_decay", std::vector<std::int64_t>{0}}}));
    cases.push_back(adam("norm not a number", one(std::numeric_limits<float>::quiet_NaN()), {}));
}

} // namespace espalier::testing
