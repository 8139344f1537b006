// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/kernels/cast.h"

#include "backends/cuda/kernels/loss_scale.h"
#include "backends/cuda/lowering/convolution_orders.h"
#include "backends/cuda/lowering/lowering.h"
#include "graph/ops/separable.h"

#include <map>

namespace espalier::cuda {
namespace {

/// The order that the readers of each cast filter want, from one walk over the graph.
std::map<TensorId, Order> filter_orders(const Settings& settings, const Graph& graph) {
    std::map<TensorId, Order> result;
    for (const auto& op : graph.ops()) {
        if (op.kind == "conv2d" || op.kind == "conv_transpose2d")
            result.emplace(op.inputs[1], filter_order(settings, op, graph.shape(op.inputs[1])));
        else if (op.kind == "separable_conv2d") {
            result.emplace(op.inputs[Separable::filter], Order::depthwise_filter);
            result.emplace(op.inputs[Separable::matrix], Order::filter);
        }
    }
    return result;
}

/// Parameters together, each in the order of its readers: the first op of a step that names them chooses their layout.
Lowered lower_cast_of_many(const Context& c) {
    Lowered result = c.plain();
    const auto orders = filter_orders(c.settings, c.graph);
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
        auto order = c.input(i).shape.rank() == 4 ? Order::channels_last : Order::plain;
        if (c.given(i).defined())
            order = description(c.given(i)).order;
        else if (const auto found = orders.find(c.op.outputs[i]); found != orders.end())
            order = found->second;
        result.inputs[i] = make_layout(c.input(i).shape, c.input(i).type, order);
        if (c.has_output(i))
            result.outputs[i] = make_layout(c.output(i).shape, c.output(i).type, order);
        counts.push_back(description(result.inputs[i]).elements);
    }
    const auto from = c.input(0).type, to = c.output(0).type;
    result.kernel = launch_kernel(c, "cast", [counts, from, to](const Arguments& a) {
        std::vector<CastItem> items;
        for (std::size_t i = 0; i < counts.size(); ++i)
            if (a.out(i) != nullptr)
                items.push_back({a.in(i), a.out(i), counts[i]});
        launch_cast(items, from, to, a.stream);
    });
    return result;
}

/// Row-major images become channels last on the way.
Lowered lower_cast_of_images(const Context& c) {
    Lowered result = c.plain();
    result.outputs[0] = make_layout(c.output(0).shape, c.output(0).type, Order::channels_last);
    result.kernel = launch_kernel(c, "cast images",
                                  [from = c.input(0).type, to = c.output(0).type, source = strides_of(result.inputs[0]),
                                   target = strides_of(result.outputs[0]),
                                   n = description(result.outputs[0]).elements](const Arguments& a) {
                                      launch_cast_reorder(a.in(0), from, a.out(0), to, source, target, n, a.stream);
                                  });
    return result;
}

Lowered lower_cast(const Context& c) {
    const bool images = c.op.inputs.size() == 1 && c.input(0).shape.rank() == 4 && c.given(0).defined() &&
                        description(c.given(0)).order == Order::plain;
    return images ? lower_cast_of_images(c) : lower_cast_of_many(c);
}

Lowered lower_loss_scale(const Context& c) {
    Lowered result = c.plain();
    result.kernel = launch_kernel(c, "loss scale", [](const Arguments& a) {
        launch_loss_scale(a.in_f32(1), a.out_f32(0), a.out_f32(1), a.stream);
    });
    return result;
}

Lowered lower_update_loss_scale(const Context& c) {
    Lowered result = c.plain();
    const auto interval = static_cast<float>(c.op.attributes.integer("interval", 2000));
    result.kernel = launch_kernel(c, "update loss scale", [interval](const Arguments& a) {
        launch_update_loss_scale(a.in_f32(0), a.out_f32(0), a.out_f32(1), interval, a.stream);
    });
    return result;
}

} // namespace

void add_cast(LoweringTable& table) {
    table["cast"] = {lower_cast, {}};
    table["loss_scale"] = {lower_loss_scale, {}};
    table["update_loss_scale"] = {lower_update_loss_scale, {}};
}

} // namespace espalier::cuda
