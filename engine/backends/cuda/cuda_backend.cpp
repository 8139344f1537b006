// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/cudnn/convolution.h"
#include "backends/cuda/device.h"
#include "backends/cuda/error.h"
#include "backends/cuda/host_copy.h"
#include "backends/cuda/kernels/reorder.h"
#include "backends/cuda/lowering/lowering.h"
#include "backends/cuda/staging.h"
#include "base/error.h"

#include <cstring>

namespace espalier {
namespace {

using namespace cuda;

/// Engines that turn groups into dense blocks ask for far more than they are worth.
constexpr std::size_t workspace_cap = std::size_t{256} << 20;

class DeviceMemory final : public Memory {
public:
    explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
        void* data = nullptr;
        ESPALIER_CUDA(cudaMalloc(&data, bytes));
        data_ = static_cast<std::byte*>(data);
    }
    ~DeviceMemory() override { cudaFree(data_); }
    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t bytes() const override { return bytes_; }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

class Stream {
public:
    explicit Stream(int device) {
        ESPALIER_CUDA(cudaSetDevice(device));
        ESPALIER_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }
    ~Stream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    [[nodiscard]] cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// A step's launches as one CUDA graph.
class GraphRecording final : public Recording {
public:
    GraphRecording(cudaStream_t stream, const std::function<void()>& launch) : stream_(stream) {
        cudaGraph_t graph = nullptr;
        ESPALIER_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        try {
            launch();
        } catch (...) {
            cudaStreamEndCapture(stream, &graph);
            if (graph != nullptr)
                cudaGraphDestroy(graph);
            cudaGetLastError();
            throw;
        }
        ESPALIER_CUDA(cudaStreamEndCapture(stream, &graph));
        const auto error = cudaGraphInstantiate(&executable_, graph, 0);
        cudaGraphDestroy(graph);
        check(error, "cudaGraphInstantiate");
    }
    ~GraphRecording() override {
        if (executable_ != nullptr)
            cudaGraphExecDestroy(executable_);
    }
    void replay() override { ESPALIER_CUDA(cudaGraphLaunch(executable_, stream_)); }

private:
    cudaStream_t stream_;
    cudaGraphExec_t executable_ = nullptr;
};

DeviceInfo first_usable() {
    Support why = available();
    for (auto& device : devices())
        if (device.usable)
            return device;
    throw DeviceError(why.reason.empty() ? "There is no GPU that can be used." : why.reason);
}

class CudaBackend final : public Backend {
public:
    explicit CudaBackend(const BackendOptions& options)
        : device_(first_usable()), stream_(device_.index), staging_(stream_.get()),
          planner_(stream_.get(), workspace_cap, options.tune) {
        settings_.options = options;
        settings_.device = device_;
        settings_.stream = stream_.get();
        settings_.planner = &planner_;
    }

    [[nodiscard]] std::string_view name() const override { return "cuda"; }

    // Halves double the throughput of tensor cores against tf32 from compute capability 7.5 on.
    [[nodiscard]] std::string_view automatic_precision() const override { return "fp16"; }
    [[nodiscard]] bool in_host_memory() const override { return false; }

    [[nodiscard]] Support supports(const Graph& graph, const Op& op) const override {
        const auto rule = lowering_table().find(op.kind);
        if (rule == lowering_table().end())
            return Support::no("the GPU backend has no kernel for '" + op.kind + "'");
        return rule->second.supports ? rule->second.supports(Context(settings_, graph, op, {}, {})) : Support{};
    }

    [[nodiscard]] Layout plain(const Shape& shape, DType type) const override {
        return make_layout(shape, type, Order::plain);
    }

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        const auto rule = lowering_table().find(op.kind);
        if (rule == lowering_table().end())
            throw ConfigError("The GPU backend has no kernel for '" + op.kind +
                              "'. Choose the cpu backend for this network.");
        return rule->second.lower(Context(settings_, graph, op, given, given_outputs));
    }

    [[nodiscard]] Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) override {
        const Graph graph;
        const Op op;
        const Context context(settings_, graph, op, {}, {});
        Lowered result;
        result.inputs = {from};
        result.outputs = {to};
        result.kernel = launch_kernel(context, "reorder", [from, to, type = tensor.type](const cuda::Arguments& a) {
            launch_reorder(a.in(0), a.out(0), strides_of(from), strides_of(to), description(to).elements, type,
                           a.stream);
        });
        return result;
    }

    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        return std::make_unique<DeviceMemory>(bytes);
    }

    void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) override {
        staging_.upload(device, layout.bytes, [&](std::byte* pinned) {
            if (description(layout).order == Order::plain && tensor.type != DType::f16 && tensor.type != DType::bf16) {
                const auto given = static_cast<std::size_t>(tensor.shape.count()) * size_of(tensor.type);
                std::memcpy(pinned, host, given);
                std::memset(pinned + given, 0, layout.bytes - given);
            } else {
                pack(tensor, layout, host, pinned);
            }
        });
    }

    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        staging_.download(device, layout.bytes, [&](const std::byte* pinned) { unpack(tensor, layout, pinned, host); });
    }

    void synchronize() override { ESPALIER_CUDA(cudaStreamSynchronize(stream_.get())); }

    void poison(std::byte* device, std::size_t bytes) override {
        ESPALIER_CUDA(cudaMemsetAsync(device, 0xff, bytes, stream_.get()));
    }

    [[nodiscard]] std::unique_ptr<Recording> record(const std::function<void()>& launch) override {
        return std::make_unique<GraphRecording>(stream_.get(), launch);
    }

private:
    DeviceInfo device_;
    Stream stream_;
    Staging staging_;
    cudnn::Planner planner_;
    Settings settings_;
};

} // namespace

BackendDefinition cuda_backend() {
    return {"cuda", "NVIDIA GPU, CUDA " + versions().runtime + ", cuDNN " + versions().cudnn, 10,
            [](const BackendOptions& options) { return std::make_unique<CudaBackend>(options); }, available};
}

} // namespace espalier
