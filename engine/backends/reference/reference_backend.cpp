// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/reference_backend.h"

#include "backends/reference/family.h"
#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace espalier {
namespace reference {
namespace {

const Kinds& kinds() {
    static const Kinds all = [] {
        Kinds kinds;
        add_activation(kinds);
        add_concat(kinds);
        add_convolution(kinds);
        add_data(kinds);
        add_elementwise(kinds);
        add_linear(kinds);
        add_loss(kinds);
        add_normalization(kinds);
        add_pooling(kinds);
        add_separable(kinds);
        add_softmax(kinds);
        add_update(kinds);
        add_weighted_sum(kinds);
        return kinds;
    }();
    return all;
}

class ReferenceKernel final : public Kernel {
public:
    explicit ReferenceKernel(Compute compute) : compute_(std::move(compute)) {}

    void bind(const Binding& binding) override {
        inputs_.assign(binding.inputs.begin(), binding.inputs.end());
        outputs_.assign(binding.outputs.begin(), binding.outputs.end());
    }
    void run() override { compute_(Arrays(inputs_, outputs_)); }
    [[nodiscard]] std::string name() const override { return "reference"; }

private:
    Compute compute_;
    std::vector<std::byte*> inputs_;
    std::vector<std::byte*> outputs_;
};

class HostMemory final : public Memory {
public:
    explicit HostMemory(std::size_t bytes)
        : data_(static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow))), bytes_(bytes) {
        if (!data_)
            throw OutOfMemory("The system did not give " + std::to_string(bytes) +
                              " bytes of memory. Take a smaller batch.");
    }
    ~HostMemory() override { ::operator delete(data_, alignment); }
    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t bytes() const override { return bytes_; }

private:
    static constexpr std::align_val_t alignment{64};
    std::byte* data_;
    std::size_t bytes_;
};

class ReferenceBackend final : public Backend {
public:
    [[nodiscard]] std::string_view name() const override { return "reference"; }

    /// Halves are kept as doubles too: a cast rounds its values, and what is computed from them is not rounded again.
    [[nodiscard]] Support supports(const Graph&, const Op& op) const override {
        return kinds().contains(op.kind) ? Support{} : Support::no("it has no op of this kind.");
    }

    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override {
        const auto count = static_cast<std::size_t>(shape.count());
        switch (type) {
        case DType::i32:
            return {"i32", count * sizeof(std::int32_t), {}};
        case DType::u8:
            return {"u8", count, {}};
        default:
            return {"f64", count * sizeof(double), {}};
        }
    }

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout>,
                                std::span<const Layout>) override {
        Lowered lowered;
        lowered.kernel = std::make_unique<ReferenceKernel>(kinds().at(op.kind)(graph, op));
        const auto layouts = [&](const std::vector<TensorId>& ids, std::vector<Layout>& to) {
            for (auto id : ids)
                to.push_back(id == no_tensor ? Layout{} : plain(graph.shape(id), graph.tensor(id).type));
        };
        layouts(op.inputs, lowered.inputs);
        layouts(op.outputs, lowered.outputs);
        return lowered;
    }

    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        throw Error("The reference backend has one layout a type; it was asked to reorder '" + tensor.name + "' from " +
                    from.key + " to " + to.key + ".");
    }

    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        return std::make_unique<HostMemory>(bytes);
    }

    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        if (layout.key != "f64") {
            std::memcpy(device, host, layout.bytes);
            return;
        }
        const auto* from = static_cast<const float*>(host);
        std::copy(from, from + tensor.shape.count(), reinterpret_cast<double*>(device));
    }

    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        if (layout.key != "f64") {
            std::memcpy(host, device, layout.bytes);
            return;
        }
        const auto* from = reinterpret_cast<const double*>(device);
        std::transform(from, from + tensor.shape.count(), static_cast<float*>(host),
                       [](double value) { return static_cast<float>(value); });
    }

    void synchronize() override {}
    void poison(std::byte* device, std::size_t bytes) override { std::memset(device, 0xff, bytes); }
};

} // namespace
} // namespace reference

BackendDefinition reference_backend() {
    return {
        .name = "reference",
        .description = "plain loops in double precision: slow, to compare with",
        .preference = 0,
        .make = [](const BackendOptions&) { return std::make_unique<reference::ReferenceBackend>(); },
        .available = {},
    };
}

} // namespace espalier
