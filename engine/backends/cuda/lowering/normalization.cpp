// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"

#include "backends/cuda/lowering/batch_statistics.h"

#include <optional>

namespace espalier::cuda {
namespace {

/// Rows of channels, if that is how x lies: images, and [N,C] of whole eights of channels.
std::optional<Rows> channel_rows(const Layout& x) {
    const auto& d = description(x);
    if (d.order == Order::channels_last)
        return rows_of(x);
    if (d.shape.rank() == 2 && d.shape[1] % channel_block == 0)
        return Rows{d.shape[0], 1, 1, d.shape[1], d.shape[1]};
    return std::nullopt;
}

ChannelTiles cut_reduction(const Context& c, const Rows& rows, std::size_t tensors) {
    const auto bytes = static_cast<int>(size_of(c.input(0).type) * tensors);
    return cuda::cut_reduction(rows.count(), static_cast<int>(rows.channels), static_cast<int>(rows.pitch), bytes,
                               c.settings.device.multiprocessors);
}
ChannelTiles cut_map(const Context& c, const Rows& rows) {
    return cuda::cut_map(rows.count(), static_cast<int>(rows.channels), static_cast<int>(rows.pitch),
                         c.settings.device.multiprocessors);
}

PlainChannels plain_channels(const Context& c) {
    const auto& shape = c.input(0).shape;
    std::int64_t inner = 1;
    for (std::size_t i = 2; i < shape.rank(); ++i)
        inner *= shape[i];
    return cut_plain(shape[0], shape[1], inner, c.settings.device.multiprocessors);
}

Lowered lower_batch_norm(const Context& c) {
    const auto norm = BatchNorm::from(c.op.attributes);
    Lowered result = c.natural_like(0);
    result.in_place = {{BatchNorm::y, BatchNorm::residual}, {BatchNorm::y, BatchNorm::x}};
    const auto arguments = [norm, type = c.input(0).type](const Arguments& a) {
        const NormalizeRows rows{a.in(BatchNorm::x),
                                 a.in(BatchNorm::residual),
                                 a.out(BatchNorm::y),
                                 a.in_f32(BatchNorm::weight),
                                 a.in_f32(BatchNorm::bias),
                                 norm.relu,
                                 type};
        return std::pair{rows, batch_statistics(a, norm, BatchNorm::running_mean, BatchNorm::mean)};
    };
    if (const auto rows = channel_rows(result.inputs[0])) {
        const auto tiles = cut_reduction(c, *rows, 1);
        result.workspace = partial_floats(tiles) * sizeof(float);
        result.kernel = launch_kernel(c, tiles.once ? "batch norm, one launch" : "batch norm",
                                      [arguments, tiles](const Arguments& a) {
                                          const auto [given, statistics] = arguments(a);
                                          launch_batch_norm(given, statistics, tiles, a.scratch<float>(), a.stream);
                                      });
    } else {
        const auto shape = plain_channels(c);
        result.workspace = partial_floats(shape) * sizeof(float);
        result.kernel = launch_kernel(c, "batch norm, row-major", [arguments, shape](const Arguments& a) {
            const auto [given, statistics] = arguments(a);
            launch_batch_norm(given, statistics, shape, a.scratch<float>(), a.stream);
        });
    }
    return result;
}

/// batch_norm_apply and batch_norm_inference: x, mean, inv_std or variance, weight?, bias?, residual?.
Lowered lower_normalize(const Context& c, const std::string& name, float eps) {
    const auto relu = BatchNorm::from(c.op.attributes).relu;
    Lowered result = c.natural_like(0);
    result.in_place = {{0, 5}, {0, 0}};
    const auto arguments = [relu, type = c.input(0).type](const Arguments& a) {
        return NormalizeRows{a.in(0), a.in(5), a.out(0), a.in_f32(3), a.in_f32(4), relu, type};
    };
    if (const auto rows = channel_rows(result.inputs[0]))
        result.kernel = launch_kernel(c, name, [arguments, eps, tiles = cut_map(c, *rows)](const Arguments& a) {
            launch_normalize(arguments(a), a.in_f32(1), a.in_f32(2), eps, tiles, a.stream);
        });
    else
        result.kernel =
            launch_kernel(c, name + ", row-major", [arguments, eps, shape = plain_channels(c)](const Arguments& a) {
                launch_normalize(arguments(a), a.in_f32(1), a.in_f32(2), eps, shape, a.stream);
            });
    return result;
}

Lowered lower_batch_norm_apply(const Context& c) { return lower_normalize(c, "batch norm apply", 0.0F); }
Lowered lower_batch_norm_inference(const Context& c) {
    return lower_normalize(c, "batch norm inference", static_cast<float>(BatchNorm::from(c.op.attributes).eps));
}

/// x, gy, mean, inv_std, weight?, bias?, y? -> gx, gweight?, gbias?, gresidual?.
Lowered lower_batch_norm_gradient(const Context& c) {
    const auto relu = BatchNorm::from(c.op.attributes).relu;
    Lowered result = c.natural_like(0);
    result.in_place = {{0, 1}, {0, 0}, {3, 6}, {3, 1}, {0, 6}};
    const auto arguments = [relu, type = c.input(0).type](const Arguments& a) {
        NormalizeGradient g;
        g.x = a.in(0);
        g.gy = a.in(1);
        g.y = relu ? a.in(6) : nullptr;
        g.gx = a.out(0);
        g.gresidual = a.out(3);
        g.mean = a.in_f32(2);
        g.inv_std = a.in_f32(3);
        g.weight = a.in_f32(4);
        g.gweight = a.out_f32(1);
        g.gbias = a.out_f32(2);
        g.type = type;
        return g;
    };
    if (const auto rows = channel_rows(result.inputs[0])) {
        const auto tiles = cut_reduction(c, *rows, relu ? 3 : 2);
        result.workspace = partial_floats(tiles) * sizeof(float);
        result.kernel = launch_kernel(c, tiles.once ? "batch norm gradient, one launch" : "batch norm gradient",
                                      [arguments, tiles](const Arguments& a) {
                                          launch_batch_norm_gradient(arguments(a), tiles, a.scratch<float>(), a.stream);
                                      });
    } else {
        const auto shape = plain_channels(c);
        result.workspace = partial_floats(shape) * sizeof(float);
        result.kernel = launch_kernel(c, "batch norm gradient, row-major", [arguments, shape](const Arguments& a) {
            launch_batch_norm_gradient(arguments(a), shape, a.scratch<float>(), a.stream);
        });
    }
    return result;
}

Lowered lower_channel_sum(const Context& c) {
    Lowered result = c.natural_like(0);
    if (const auto rows = channel_rows(result.inputs[0])) {
        const auto tiles = cut_reduction(c, *rows, 1);
        result.workspace = partial_floats(tiles) * sizeof(float);
        result.kernel = launch_kernel(c, "channel sum", [tiles, type = c.input(0).type](const Arguments& a) {
            launch_channel_sum(a.in(0), a.out_f32(0), type, tiles, a.scratch<float>(), a.stream);
        });
    } else {
        const auto shape = plain_channels(c);
        result.workspace = partial_floats(shape) * sizeof(float);
        result.kernel = launch_kernel(c, "channel sum, row-major", [shape, type = c.input(0).type](const Arguments& a) {
            launch_channel_sum(a.in(0), a.out_f32(0), type, shape, a.scratch<float>(), a.stream);
        });
    }
    return result;
}

} // namespace

void add_normalization(LoweringTable& table) {
    table["batch_norm"] = {lower_batch_norm, {}};
    table["batch_norm_apply"] = {lower_batch_norm_apply, {}};
    table["batch_norm_inference"] = {lower_batch_norm_inference, {}};
    table["batch_norm_gradient"] = {lower_batch_norm_gradient, {}};
    table["channel_sum"] = {lower_channel_sum, {}};
}

} // namespace espalier::cuda
