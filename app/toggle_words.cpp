// SPDX-License-Identifier: GPL-3.0-or-later
#include "toggle_words.h"

#include "device_summary.h"
#include "json_convert.h"
#include "words.h"

#include <QStringList>

namespace espalier {

namespace {

bool is_gpu(const DeviceSummary& device) { return device.backend == u"cuda"; }

} // namespace

const std::vector<Toggle>& toggles() {
    static const std::vector<Toggle> table{
        {"safe_mode", tr("Safe mode"),
         tr("When something looks wrong: fp32, nothing fused, nothing recorded, every step checked. The slowest way.")},
        {"precision", tr("Precision"),
         tr("Automatic is the fastest that trains well on the device. Take fp32 (strict) to rule out rounding as a "
            "cause: slower, with more memory. Weights are kept in fp32 in any case.")},
        {"fused", tr("Fused kernels"),
         tr("Off when a fused kernel is suspected of a wrong number: every operation by itself, slower, with more "
            "memory.")},
        {"cuda_graphs", tr("CUDA graphs"),
         tr("Off to see which kernel fails, or where a driver has trouble with graphs: kernels are launched one by "
            "one, "
            "which costs most in small networks.")},
        {"recompute", tr("Recompute"),
         tr("On when memory is short: part of the forward is computed again in the backward instead of being kept.")},
        {"deterministic", tr("Deterministic"),
         tr("On when two runs must give the same bits: only algorithms that do, which may be slower.")},
        {"reference_separable", tr("Reference separable"),
         tr("On to check our own kernels of separable convolutions against the library's, which are slower.")},
    };
    return table;
}

QString toggle_title(const QString& name) {
    for (const Toggle& toggle : toggles())
        if (toggle.name == name)
            return toggle.title;
    return name == u"batch" ? tr("Batch") : name == u"cpu" ? tr("Device") : name == u"kernel" ? tr("Kernel") : name;
}

QString toggle_refusal(const QString& name, const DeviceSummary& device) {
    if (device.backend.isEmpty() || is_gpu(device))
        return {};
    if (name == u"cuda_graphs")
        return tr("Only on an NVIDIA GPU: the processor runs its kernels directly.");
    if (name == u"deterministic")
        return tr("The processor gives the same bits in any case.");
    return {};
}

QString precision_refusal(const QString& precision, const DeviceSummary& device) {
    if (precision == u"auto" || device.precisions.isEmpty() || device.precisions.contains(precision))
        return {};
    return is_gpu(device) ? tr("not on this GPU") : tr("on an NVIDIA GPU");
}

QString throttle_words(unsigned bits) {
    QStringList words;
    for (const auto& [bit, text] : {std::pair{1U, tr("power limit")},
                                    {2U, tr("temperature")},
                                    {4U, tr("hardware slow-down")},
                                    {8U, tr("clocks set by hand")},
                                    {16U, tr("held to other GPUs")}})
        if (bits & bit)
            words.append(text);
    return words.join(QStringLiteral(", "));
}

} // namespace espalier
