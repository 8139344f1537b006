// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/aligned_memory.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/lowering/lowering.h"
#include "backends/cpu/team.h"
#include "base/error.h"
#include "base/threads.h"

#include <algorithm>
#include <cstring>

namespace espalier {

namespace {

using namespace cpu;

/// A reorder between row-major and an order of the library, or between two of the library's.
class LibraryReorder final : public Kernel {
public:
    LibraryReorder(std::unique_ptr<onednn::Reorder> reorder, int threads)
        : reorder_(std::move(reorder)), threads_(threads) {}
    void bind(const Binding& b) override { reorder_->bind(b.inputs[0], b.outputs[0], b.workspace); }
    void run() override {
        set_team(threads_);
        reorder_->run();
    }
    [[nodiscard]] std::string name() const override { return "onednn reorder"; }

private:
    std::unique_ptr<onednn::Reorder> reorder_;
    int threads_;
};

/// The library's description of a layout, in the dimensions of `like` (weights of groups have one more).
onednn::DescriptionPtr description_of(const Layout& layout, const onednn::Description& like) {
    const auto& library = detail_of(layout).library;
    return library != nullptr ? library : onednn::row_major(onednn::extents(like));
}

std::unique_ptr<onednn::Reorder> library_reorder(const Layout& from, const Layout& to) {
    const auto& like = is_library_layout(from) ? *detail_of(from).library : *detail_of(to).library;
    return std::make_unique<onednn::Reorder>(description_of(from, like), description_of(to, like));
}

class CpuBackend final : public Backend {
public:
    CpuBackend(const BackendOptions& options, InstructionSet set) {
        settings_.kernels = &kernel_table(set);
        settings_.options = options;
        settings_.threads = usable_threads(options.threads);
    }

    [[nodiscard]] std::string_view name() const override { return "cpu"; }

    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        for (const auto& ids : {op.inputs, op.outputs}) { // a cast to halves is told of as what is wished for with it
            for (const TensorId id : ids) {
                if (id != no_tensor && (graph.tensor(id).type == DType::f16 || graph.tensor(id).type == DType::bf16)) {
                    return Support::no("the CPU backend computes in fp32, not in " +
                                       std::string(graph.tensor(id).type == DType::f16 ? "fp16" : "bf16") +
                                       ". Choose the precision auto or fp32.");
                }
            }
        }
        const auto rule = lowering_table().find(op.kind);
        if (rule == lowering_table().end()) {
            return Support::no("the CPU backend has no kernel for '" + op.kind + "'");
        }
        return rule->second.supports ? rule->second.supports(Context(settings_, graph, op, {}, {})) : Support{};
    }

    [[nodiscard]] DeviceFacts device() const override {
        return {.identity = {{"instructions", std::string(settings_.kernels->name)},
                             {"library", "oneDNN " + onednn::version()}}};
    }

    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override { return plain_layout(shape, type); }

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        const auto rule = lowering_table().find(op.kind);
        if (rule == lowering_table().end()) {
            throw ConfigError("The CPU backend has no kernel for '" + op.kind +
                              "'. Choose the reference backend for it.");
        }
        return rule->second.lower(Context(settings_, graph, op, given, given_outputs));
    }

    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        Lowered result;
        result.inputs = {from};
        result.outputs = {to};
        if (is_library_layout(from) || is_library_layout(to)) {
            set_team(settings_.threads);
            auto reorder = library_reorder(from, to);
            result.workspace = reorder->workspace();
            result.kernel = std::make_unique<LibraryReorder>(std::move(reorder), settings_.threads);
            return result;
        }
        const ActivationShape source = activation_shape(tensor.shape, from);
        const ActivationShape target = activation_shape(tensor.shape, to);
        const Graph graph;
        const Op op;
        const Context context(settings_, graph, op, {}, {});
        result.kernel =
            loop_kernel(context, "reorder",
                        [source, target, element = size_of(tensor.type), t = settings_.threads](const Arguments& a) {
                            copy_channels(source, 0, a.inputs[0], target, 0, a.outputs[0], source.c, element, t);
                            zero_channels(target, target.c, target.padded_channels(), a.outputs[0], element, t);
                        });
        return result;
    }

    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override { return allocate_aligned(bytes); }

    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        copy(tensor, plain_layout(tensor.shape, tensor.type), layout, static_cast<const std::byte*>(host), device);
    }

    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        copy(tensor, layout, plain_layout(tensor.shape, tensor.type), device, static_cast<std::byte*>(host));
    }

    void trim_caches() override { onednn::trim_cache(); }

    void synchronize() override {} // kernels have run when run() returns

    void poison(std::byte* device, std::size_t bytes) override { std::memset(device, 0xff, bytes); }

private:
    void copy(const Tensor& tensor, const Layout& from, const Layout& to, const std::byte* source,
              std::byte* target) const {
        if (from == to) {
            std::memcpy(target, source, from.bytes);
            return;
        }
        if (is_library_layout(from) || is_library_layout(to)) {
            set_team(settings_.threads);
            const auto reorder = library_reorder(from, to);
            std::vector<std::byte> scratch(reorder->workspace());
            reorder->bind(source, target, scratch.data());
            reorder->run();
            return;
        }
        const ActivationShape a = activation_shape(tensor.shape, from);
        const ActivationShape b = activation_shape(tensor.shape, to);
        const std::size_t element = size_of(tensor.type);
        copy_channels(a, 0, source, b, 0, target, a.c, element, settings_.threads);
        zero_channels(b, b.c, b.padded_channels(), target, element, settings_.threads);
    }

    Settings settings_;
};

} // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options, std::optional<cpu::InstructionSet> set) {
    return std::make_unique<CpuBackend>(options, set.value_or(cpu::best_instruction_set()));
}

BackendDefinition cpu_backend() {
    const KernelTable& kernels = kernel_table(best_instruction_set());
    return {"cpu",
            "processor, " + std::string(kernels.name) + ", oneDNN " + onednn::version(),
            0,
            [](const BackendOptions& options) { return make_cpu_backend(options); },
            {}};
}

} // namespace espalier
