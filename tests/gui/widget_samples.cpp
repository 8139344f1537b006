// SPDX-License-Identifier: GPL-3.0-or-later
#include "widget_samples.h"

namespace espalier::test {

std::vector<PresetEntry> sample_presets() {
    std::vector<PresetEntry> presets{
        {"quick", "One-minute demo", "train", "demo", "Learns ten kinds of clothing.", true, {}}};
    for (const char* row : {"train", "search", "grow"})
        for (const char* size : {"small", "medium", "large"}) {
            const bool available = QLatin1String(row) != u"grow";
            presets.push_back({QStringLiteral("%1-%2").arg(QLatin1String(row), QLatin1String(size)),
                               QLatin1String(size), QLatin1String(row), QLatin1String(size),
                               QStringLiteral("A summary that is long enough to need a second line on its card."),
                               available, available ? QString() : QStringLiteral("comes with a later version")});
        }
    return presets;
}

std::vector<LayerRow> sample_layers() {
    LayerRow stem{"stem.conv", "conv2d", "64 × 32 × 32", "implicit gemm"};
    stem.parameters = 1728;
    stem.flops = 1.4e9;
    stem.memory = 33.6e6;
    stem.milliseconds = 0.412;
    stem.forward_milliseconds = 0.136;
    stem.gflops = 10230;
    stem.gbps = 812;
    LayerRow norm = stem;
    norm.layer = "a.block.with.quite.a.long.path.to.its.layer.norm";
    norm.kind = "batch_norm";
    norm.kernel = "fused";
    norm.milliseconds = 0.087;
    norm.gflops = 65;
    LayerRow head{"head.linear", "linear", "10", {}};
    head.parameters = 5130;
    head.flops = 1.9e6;
    return {stem, norm, head};
}

std::vector<NetworkNode> sample_network() {
    std::vector<NetworkNode> nodes{{{}, "input", "8×3×32×32", {}, 0, 0}};
    const auto add = [&](const QString& layer, const char* kind, const char* shape, std::vector<std::int32_t> inputs,
                         double parameters) {
        nodes.push_back({layer, kind, shape, std::move(inputs), parameters, parameters * 1024});
        return static_cast<std::int32_t>(nodes.size()) - 1;
    };
    std::int32_t last = add(QStringLiteral("stem.conv"), "conv2d", "8×16×32×32", {0}, 432);
    for (int i = 0; i < 2; ++i) {
        const QString block = QStringLiteral("blocks.%1.").arg(i);
        const std::int32_t first = add(block + QStringLiteral("conv1"), "conv2d", "8×16×32×32", {last}, 2304);
        const std::int32_t second = add(block + QStringLiteral("conv2"), "conv2d", "8×16×32×32", {first}, 2304);
        last = add(block + QStringLiteral("add"), "add", "8×16×32×32", {second, last}, 0);
    }
    last = add(QStringLiteral("head.pool"), "global_pool", "8×16", {last}, 0);
    add(QStringLiteral("head.linear"), "linear", "8×10", {last}, 170);
    return nodes;
}

std::vector<RunEntry> sample_queue() {
    std::vector<RunEntry> runs;
    for (int place = 1; place <= 3; ++place) {
        RunEntry run{
            QStringLiteral("queue-%1").arg(place), QStringLiteral("flowers-%1").arg(place), {}, RunState::queued};
        run.place = place;
        runs.push_back(std::move(run));
    }
    runs.back().name = QStringLiteral("a-run-with-quite-a-long-name");
    return runs;
}

std::vector<ToggleList::Item> sample_toggles() {
    return {{"fused", "Fused kernels", "on", "Off when a fused kernel is suspected of a wrong number.", {}, false},
            {"recompute", "Recompute", "on", "On when memory is short: part of the forward is computed again.",
             "This step needs 9.1 GB, but the limit is 7.2 GB.", true}};
}

} // namespace espalier::test
