// SPDX-License-Identifier: Apache-2.0
#include "backends/kernel_check.h"

#include "base/error.h"
#include "base/faults.h"
#include "graph/op_registry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace espalier {
namespace {

constexpr double most_flops = 2e6; // some milliseconds in the reference's loops
constexpr std::int64_t most_elements = 200'000;
constexpr double most_seconds = 1;
constexpr double tolerance = 0.05; // of the largest value: halves and tf32 pass, a broken kernel does not

/// Functions of any values: ops that read labels, places of maxima or an optimizer's state are not among them.
const std::set<std::string> checked_kinds{"conv2d",
                                          "conv2d_input_gradient",
                                          "conv2d_weight_gradient",
                                          "conv_transpose2d",
                                          "linear",
                                          "linear_input_gradient",
                                          "linear_weight_gradient",
                                          "avg_pool2d",
                                          "global_avg_pool",
                                          "relu",
                                          "add"};

/// A tensor on a backend, with values of its own.
struct Place {
    Layout layout;
    std::unique_ptr<Memory> memory;

    Place(Backend& backend, Layout given) : layout(std::move(given)) {
        if (layout.bytes > 0)
            memory = backend.allocate(layout.bytes);
    }
    [[nodiscard]] std::byte* data() const { return memory ? memory->data() : nullptr; }
};

std::vector<Place> places(Backend& backend, const std::vector<Layout>& layouts) {
    std::vector<Place> result;
    for (const auto& layout : layouts)
        result.emplace_back(backend, layout);
    return result;
}

std::vector<std::byte*> pointers(const std::vector<Place>& all) {
    std::vector<std::byte*> result;
    for (const auto& one : all)
        result.push_back(one.data());
    return result;
}

/// Output after output, as the kernel computes them from `values`, one an input.
std::vector<std::vector<float>> results(Backend& backend, const Graph& graph, const Op& op, const Lowered& lowered,
                                        const std::vector<std::vector<float>>& values) {
    const auto inputs = places(backend, lowered.inputs);
    const auto outputs = places(backend, lowered.outputs);
    std::unique_ptr<Memory> workspace;
    if (lowered.workspace > 0)
        workspace = backend.allocate(lowered.workspace);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (op.inputs[i] != no_tensor)
            backend.upload(graph.tensor(op.inputs[i]), inputs[i].layout, values[i].data(), inputs[i].data());
    const auto in = pointers(inputs);
    auto out = pointers(outputs);
    std::unique_ptr<Memory> parts;
    std::vector<std::byte*> later;
    if (lowered.finish) {
        parts = backend.allocate(lowered.finish->bytes);
        for (const auto i : lowered.finish->outputs)
            later.push_back(std::exchange(out[i], nullptr));
        out.push_back(parts->data());
    }
    lowered.kernel->bind({in, out, workspace ? workspace->data() : nullptr});
    lowered.kernel->run();
    if (lowered.finish) {
        std::byte* const left = parts->data();
        lowered.finish->kernel->bind({{&left, 1}, later, nullptr});
        lowered.finish->kernel->run();
    }
    backend.synchronize();
    std::vector<std::vector<float>> found;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        found.emplace_back();
        if (op.outputs[i] == no_tensor)
            continue;
        const auto& tensor = graph.tensor(op.outputs[i]);
        found.back().resize(static_cast<std::size_t>(tensor.shape.count()));
        backend.download(tensor, outputs[i].layout, outputs[i].data(), found.back().data());
    }
    return found;
}

/// Largest difference, as a share of the largest value that should be; infinite for a value that is no number.
double difference(const std::vector<float>& found, const std::vector<float>& expected) {
    double largest = 1e-30, apart = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!std::isfinite(found[i]))
            return INFINITY;
        largest = std::max(largest, static_cast<double>(std::abs(expected[i])));
        apart = std::max(apart, static_cast<double>(std::abs(found[i] - expected[i])));
    }
    return apart / largest;
}

} // namespace

bool KernelCheck::is_cheap(const Graph& graph, const Op& op) const {
    if (seconds_ > most_seconds || !checked_kinds.contains(op.kind) || cost_of(graph, op).flops > most_flops)
        return false;
    for (const auto* ids : {&op.inputs, &op.outputs})
        for (const auto id : *ids)
            if (id != no_tensor && (graph.tensor(id).type == DType::i32 || graph.tensor(id).type == DType::u8 ||
                                    graph.shape(id).count() > most_elements))
                return false;
    return true;
}

std::string KernelCheck::fault(const Graph& graph, const Op& op, const Lowered& lowered) {
    const auto kernel = op.kind + ": " + lowered.kernel->name();
    if (const auto known = verdicts_.find(kernel); known != verdicts_.end())
        return known->second;
    if (!is_cheap(graph, op))
        return {};
    try {
        return verdicts_[kernel] = compare(graph, op, lowered);
    } catch (const OutOfMemory&) { // no plan may fail for a check: the next one of its kind is tried
        return {};
    }
}

std::string KernelCheck::compare(const Graph& graph, const Op& op, const Lowered& lowered) {
    const auto start = std::chrono::steady_clock::now();
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> values;
    for (const auto id : op.inputs) {
        values.emplace_back(id == no_tensor ? 0 : static_cast<std::size_t>(graph.shape(id).count()));
        std::ranges::generate(values.back(), [&] { return normal(random); });
    }
    auto found = results(backend_, graph, op, lowered, values);
    const auto exact = reference_.lower(graph, op, {}, {});
    const auto expected = results(reference_, graph, op, exact, values);
    std::string text;
    for (std::size_t i = 0; i < found.size() && text.empty(); ++i) {
        if (faults::spoils(op.kind) && !found[i].empty())
            found[i].front() += 1 + 2 * std::abs(found[i].front());
        if (const auto apart = difference(found[i], expected[i]); apart > tolerance) {
            std::ostringstream words;
            words << "its results are wrong by " << std::lround(100 * std::min(apart, 1e6))
                  << " % of the largest value where they are compared with plain loops.";
            text = words.str();
        }
    }
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return text;
}

} // namespace espalier
