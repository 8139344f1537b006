// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/optimizer.h"

#include "backends/cuda/lowering/lowering.h"
#include "base/error.h"

#include <algorithm>

namespace espalier::cuda {
namespace {

// Updates go entry by entry: any order is right, as long as all tensors of one parameter have the same.

/// The order of the first of these tensors that has one.
Order order_of(const Context& c, std::initializer_list<std::size_t> inputs) {
    for (const auto i : inputs)
        if (c.given(i).defined())
            return description(c.given(i)).order;
    return Order::plain;
}

Layout in_order(const Tensor& tensor, Order order) {
    return make_layout(tensor.shape, tensor.type, tensor.shape.rank() == 4 ? order : Order::plain);
}

/// Elements to visit. The padding of filters is visited too: its gradients are zero. That behind one dimension is not.
std::int64_t elements_of(const Layout& layout) {
    const auto& d = description(layout);
    const auto count = d.order == Order::plain ? d.shape.count() : d.elements;
    if (count >= std::int64_t{1} << 31)
        throw ConfigError("A parameter of shape " + d.shape.text() +
                          " is too large for the GPU: it must have fewer than 2^31 elements.");
    return count;
}

Lowered lower_record(const Context& c) {
    Lowered result = c.plain();
    const std::int64_t rows = c.output(0).shape[0], columns = c.output(0).shape[1];
    result.kernel = launch_kernel(c, "record", [rows, columns](const Arguments& a) {
        std::vector<const float*> values;
        for (std::size_t i = 1; i < a.inputs.size(); ++i)
            values.push_back(a.in_f32(i));
        const std::span<const float* const> all(values);
        for (std::size_t first = 0; first < all.size(); first += most_recorded)
            launch_record(all.subspan(first, std::min(most_recorded, all.size() - first)), a.in_f32(0), a.out_f32(0),
                          rows, columns, static_cast<std::int64_t>(first), a.stream);
    });
    return result;
}

Lowered lower_accumulate(const Context& c) {
    Lowered result = c.plain();
    std::vector<AccumulatedTensor> tensors;
    for (std::size_t i = 1; i + 1 < c.op.inputs.size(); i += 2) {
        const auto order = order_of(c, {i + 1, i});
        result.inputs[i] = in_order(c.input(i), order);
        result.inputs[i + 1] = result.outputs[i / 2] = in_order(c.input(i + 1), order);
        tensors.push_back({{nullptr, c.input(i).type, elements_of(result.inputs[i])}, nullptr});
    }
    result.kernel = launch_kernel(c, "accumulate", [tensors](const Arguments& a) mutable {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            tensors[i].gradient.data = a.in(1 + 2 * i);
            tensors[i].sum = a.out_f32(i);
        }
        launch_accumulate(tensors, a.in_f32(0), a.stream);
    });
    return result;
}

Lowered lower_gradient_norm(const Context& c) {
    Lowered result = c.plain();
    std::vector<GradientTensor> gradients;
    std::int64_t partials = 0;
    for (std::size_t i = 1; i < c.op.inputs.size(); ++i) {
        if (c.given(i).defined())
            result.inputs[i] = c.given(i);
        gradients.push_back({nullptr, c.input(i).type, elements_of(result.inputs[i])});
        partials += norm_partials(gradients.back().count);
    }
    result.workspace = static_cast<std::size_t>(partials) * sizeof(double);
    result.kernel = launch_kernel(c, "gradient norm", [gradients](const Arguments& a) mutable {
        for (std::size_t i = 0; i < gradients.size(); ++i)
            gradients[i].data = a.in(1 + i);
        launch_gradient_norm(gradients, a.in_f32(0), a.scratch<double>(), a.out_f32(0), a.stream);
    });
    return result;
}

/// sgd and adam: step, norm?, then groups of a parameter, its gradient and `slots` more. Chooses the layouts and
/// returns what is known of every parameter before its addresses.
std::vector<TrainedTensor> plan_update(const Context& c, std::size_t slots, Lowered& result) {
    result = c.plain();
    std::vector<TrainedTensor> tensors;
    const std::size_t group = 2 + slots;
    for (std::size_t at = 2; at + group <= c.op.inputs.size(); at += group) {
        // Of the tensors that stay, the slots are as old as the parameter.
        const auto order = order_of(c, {at, at + 2, at + 1});
        for (std::size_t i = 0; i < group; ++i)
            result.inputs[at + i] = in_order(c.input(at + i), order);
        const std::size_t first_output = tensors.size() * (1 + slots);
        for (std::size_t i = 0; i < 1 + slots; ++i)
            result.outputs[first_output + i] = result.inputs[at + (i == 0 ? 0 : 1 + i)];
        TrainedTensor tensor;
        tensor.gradient = {nullptr, c.input(at + 1).type, elements_of(result.inputs[at])};
        tensors.push_back(tensor);
    }
    for (const auto position : c.op.attributes.integers("no_decay"))
        tensors.at(static_cast<std::size_t>(position)).decay = false;
    return tensors;
}

void set_addresses(std::vector<TrainedTensor>& tensors, std::size_t slots, const Arguments& a) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].gradient.data = a.in(3 + i * (2 + slots));
        tensors[i].parameter = a.out_f32(i * (1 + slots));
        for (std::size_t slot = 0; slot < slots; ++slot)
            tensors[i].slots[slot] = a.out_f32(i * (1 + slots) + 1 + slot);
    }
}

UpdateSettings update_settings(const Context& c) {
    UpdateSettings settings;
    settings.clip_norm = static_cast<float>(c.op.attributes.real("clip_norm", 0.0));
    settings.weight_decay = static_cast<float>(c.op.attributes.real("weight_decay", 0.0));
    return settings;
}

Lowered lower_sgd(const Context& c) {
    Lowered result;
    SgdSettings settings;
    settings.update = update_settings(c);
    settings.momentum = static_cast<float>(c.op.attributes.real("momentum", 0.0));
    settings.nesterov = c.op.attributes.flag("nesterov", false);
    auto tensors = plan_update(c, 1, result);
    result.kernel = launch_kernel(c, "sgd", [tensors, settings](const Arguments& a) mutable {
        set_addresses(tensors, 1, a);
        settings.update.step = a.in_f32(0);
        settings.update.norm = a.in_f32(1);
        launch_sgd(tensors, settings, a.stream);
    });
    return result;
}

Lowered lower_adam(const Context& c) {
    Lowered result;
    AdamSettings settings;
    settings.update = update_settings(c);
    settings.beta1 = c.op.attributes.real("beta1", 0.9);
    settings.beta2 = c.op.attributes.real("beta2", 0.999);
    settings.eps = c.op.attributes.real("eps", 1e-8);
    settings.decoupled = c.op.attributes.flag("decoupled", false);
    auto tensors = plan_update(c, 3, result);
    result.kernel = launch_kernel(c, "adam", [tensors, settings](const Arguments& a) mutable {
        set_addresses(tensors, 3, a);
        settings.update.step = a.in_f32(0);
        settings.update.norm = a.in_f32(1);
        launch_adam(tensors, settings, a.stream);
    });
    return result;
}

/// Everything but the gradients must be f32.
Support supports_updates(const Context& c) {
    for (const auto output : c.op.outputs)
        if (output != no_tensor && c.graph.tensor(output).type != DType::f32)
            return Support::no("'" + c.graph.tensor(output).name +
                               "' must be f32: updates are computed and kept in single precision");
    return {};
}

} // namespace

void add_optimizer(LoweringTable& table) {
    table["record"] = {lower_record, supports_updates};
    table["accumulate"] = {lower_accumulate, supports_updates};
    table["gradient_norm"] = {lower_gradient_norm, {}};
    table["sgd"] = {lower_sgd, supports_updates};
    table["adam"] = {lower_adam, supports_updates};
}

} // namespace espalier::cuda
