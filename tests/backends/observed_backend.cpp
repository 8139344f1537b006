// SPDX-License-Identifier: Apache-2.0
#include "backends/observed_backend.h"

namespace espalier::testing {
namespace {

/// A tensor of an op and where the kernel finds it.
struct Place {
    Tensor tensor;
    Layout layout;
    std::byte* address = nullptr;

    [[nodiscard]] bool holds_floats() const { return address != nullptr && tensor.type == DType::f32; }
};

class ObservedKernel final : public Kernel {
public:
    ObservedKernel(std::unique_ptr<Kernel> kernel, Backend& backend, const Graph& graph, const Op& op,
                   const Lowered& lowered, const ObservedBackend::Observer& observer)
        : kernel_(std::move(kernel)), backend_(backend), op_(op), observer_(observer),
          inputs_(places(graph, op.inputs, lowered.inputs)), outputs_(places(graph, op.outputs, lowered.outputs)) {}

    void bind(const Binding& binding) override {
        for (std::size_t i = 0; i < inputs_.size(); ++i)
            inputs_[i].address = binding.inputs[i];
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            outputs_[i].address = binding.outputs[i];
        kernel_->bind(binding);
    }

    void run() override {
        backend_.synchronize();
        Observation observation{op_, read(inputs_), {}};
        kernel_->run();
        backend_.synchronize();
        observation.outputs = read(outputs_);
        if (!observer_(observation))
            return;
        for (std::size_t i = 0; i < outputs_.size(); ++i)
            if (const auto& place = outputs_[i]; place.holds_floats())
                backend_.upload(place.tensor, place.layout, observation.outputs[i].data(), place.address);
    }

    [[nodiscard]] std::string name() const override { return kernel_->name(); }

private:
    static std::vector<Place> places(const Graph& graph, const std::vector<TensorId>& ids,
                                     const std::vector<Layout>& layouts) {
        std::vector<Place> places;
        for (std::size_t i = 0; i < ids.size(); ++i)
            places.push_back({ids[i] == no_tensor ? Tensor{} : graph.tensor(ids[i]), layouts[i]});
        return places;
    }

    [[nodiscard]] std::vector<std::vector<float>> read(const std::vector<Place>& places) const {
        std::vector<std::vector<float>> values(places.size());
        for (std::size_t i = 0; i < places.size(); ++i)
            if (const auto& place = places[i]; place.holds_floats()) {
                values[i].resize(static_cast<std::size_t>(place.tensor.shape.count()));
                backend_.download(place.tensor, place.layout, place.address, values[i].data());
            }
        return values;
    }

    std::unique_ptr<Kernel> kernel_;
    Backend& backend_;
    const Op op_;
    ObservedBackend::Observer observer_;
    std::vector<Place> inputs_, outputs_;
};

} // namespace

Lowered ObservedBackend::lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                               std::span<const Layout> given_outputs) {
    auto lowered = inner().lower(graph, op, given, given_outputs);
    if (wanted_(op))
        lowered.kernel =
            std::make_unique<ObservedKernel>(std::move(lowered.kernel), inner(), graph, op, lowered, observer_);
    return lowered;
}

} // namespace espalier::testing
