// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/cudnn/library.h"
#include "backends/cuda/cudnn/planner.h"
#include "backends/cuda/device.h"
#include "backends/cuda/device_memory.h"
#include "backends/cuda/error.h"
#include "backends/cuda/host_copy.h"
#include "backends/cuda/kernels/reorder.h"
#include "backends/cuda/lowering/lowering.h"
#include "backends/cuda/monitor.h"
#include "backends/cuda/peak.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/staging.h"
#include "backends/plugin.h"
#include "base/error.h"

#include <cstring>
#include <utility>

namespace espalier {
namespace {

using namespace cuda;

/// Engines that turn groups into dense blocks ask for far more than they are worth.
constexpr std::size_t workspace_cap = std::size_t{256} << 20;

class TensorDownload final : public Download {
public:
    TensorDownload(cudaStream_t stream, Tensor tensor, Layout layout)
        : tensor_(std::move(tensor)), layout_(std::move(layout)), bytes_(stream, layout_.bytes) {}
    void start(const std::byte* device) override { bytes_.start(device); }
    [[nodiscard]] bool ready() const override { return bytes_.ready(); }
    void finish(void* host) override { unpack(tensor_, layout_, bytes_.wait(), host); }
    [[nodiscard]] bool pinned() const { return bytes_.pinned(); }

private:
    Tensor tensor_;
    Layout layout_;
    HostDownload bytes_;
};

/// What algorithms are chosen for: timings of another card, driver or library mean nothing here.
std::string tuning_key(const DeviceInfo& device) {
    const auto found = versions();
    return device.name + ", compute capability " + std::to_string(device.major) + "." + std::to_string(device.minor) +
           ", " + std::to_string(device.multiprocessors) + " multiprocessors, driver " + found.driver + " for CUDA " +
           found.served + ", cuDNN " + found.cudnn + ", workspace " + std::to_string(workspace_cap);
}

std::vector<DeviceDescription> descriptions() {
    const auto found = versions();
    std::vector<DeviceDescription> result;
    for (auto& device : devices())
        result.push_back({.name = device.name,
                          .uuid = device.uuid,
                          .compute_capability = std::to_string(device.major) + "." + std::to_string(device.minor),
                          .driver = found.driver.empty() ? "CUDA " + found.served : found.driver,
                          .library = "cuDNN " + found.cudnn,
                          .memory_bytes = device.memory,
                          .free_bytes = device.free,
                          .usable = device.usable});
    return result;
}

/// Memory of the GPU where NVML did not tell it.
void complete_memory(DeviceState& state, int device) {
    std::size_t free = 0, total = 0;
    if (state.memory_used || !succeeded(cudaSetDevice(device)) || !succeeded(cudaMemGetInfo(&free, &total)))
        return;
    state.memory_total = total;
    state.memory_used = total - free;
}

class CudaBackend final : public Backend {
public:
    explicit CudaBackend(const BackendOptions& options)
        : device_(choose_device(options.device)), streams_(device_.architecture >= 90), staging_(streams_.main()),
          planner_(streams_.main(), workspace_cap, options.tune ? tuning_key(device_) : std::string()) {
        settings_.options = options;
        settings_.device = device_;
        settings_.stream = &streams_.current;
        settings_.planner = &planner_;
    }

    [[nodiscard]] std::string_view name() const override { return "cuda"; }
    void enter_thread() override { ESPALIER_CUDA(cudaSetDevice(device_.index)); } // each thread has a current device

    // Halves double the throughput of tensor cores against tf32 from compute capability 7.5 on.
    [[nodiscard]] std::vector<std::string> automatic_precisions() const override {
        return device_.major >= 8 ? std::vector<std::string>{"fp16", "bf16", "fp32"}
                                  : std::vector<std::string>{"fp16", "fp32"};
    }
    [[nodiscard]] bool in_host_memory() const override { return false; }

    [[nodiscard]] std::optional<std::size_t> free_memory() const override {
        std::size_t free = 0, total = 0;
        ESPALIER_CUDA(cudaMemGetInfo(&free, &total));
        return free;
    }

    [[nodiscard]] DeviceFacts device() const override {
        int kilohertz = 0; // the highest that the card allows
        ESPALIER_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device_.index));
        const auto found = versions();
        return {
            .name = device_.name,
            .memory = device_.memory,
            .peak_flops =
                peak_flops(device_.major, device_.minor, device_.multiprocessors, 1e3 * kilohertz, device_.name),
            .identity = {{"uuid", device_.uuid},
                         {"compute_capability", std::to_string(device_.major) + "." + std::to_string(device_.minor)},
                         {"driver", found.driver.empty() ? "CUDA " + found.served : found.driver},
                         {"cuda", found.runtime},
                         {"library", "cuDNN " + found.cudnn}}};
    }
    [[nodiscard]] std::unique_ptr<DeviceMonitor> monitor() const override {
        return watch_gpu(device_.uuid,
                         {.complete = [index = device_.index](DeviceState& state) { complete_memory(state, index); }});
    }

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

    bool tune(double seconds) override { return planner_.tune(seconds); }
    [[nodiscard]] Tuning tuning() const override { return planner_.tuning(); }
    void trim_caches() override {
        planner_.trim();
        staging_.trim();
    }

    [[nodiscard]] std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout) override {
        auto download = std::make_unique<TensorDownload>(streams_.main(), tensor, layout);
        was_pageable_ = was_pageable_ || !download->pinned();
        return download;
    }

    [[nodiscard]] std::vector<std::string> take_warnings() override {
        auto warnings = planner_.take_warnings();
        if ((was_pageable_ || staging_.was_pageable()) && !std::exchange(pageable_told_, true))
            warnings.emplace_back("The system gives no pinned memory, so copies to and from the GPU are slower (the "
                                  "results are the same): if that matters, stop the run, free memory (under WSL2 "
                                  "raise \"memory\" in .wslconfig) and resume it.");
        return warnings;
    }

    void synchronize() override { ESPALIER_CUDA(cudaStreamSynchronize(streams_.main())); }

    void poison(std::byte* device, std::size_t bytes) override {
        ESPALIER_CUDA(cudaMemsetAsync(device, 0xff, bytes, streams_.main()));
    }

    [[nodiscard]] std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                    std::span<const std::vector<std::int32_t>> after) override {
        return record_graph(streams_, kernels, after);
    }
    [[nodiscard]] int steps_side_by_side() const override { return 12; }
    [[nodiscard]] std::vector<double> time(std::span<Kernel* const> kernels,
                                           const std::function<bool(std::size_t)>& leave) override {
        return settings_.options.graphs ? time_kernels(streams_, kernels) : Backend::time(kernels, leave);
    }

private:
    DeviceInfo device_;
    Streams streams_;
    Staging staging_;
    cudnn::Planner planner_;
    Settings settings_;
    bool was_pageable_ = false; ///< memory of a download
    bool pageable_told_ = false;
};

} // namespace

BackendDefinition cuda_backend() {
    // Asks nothing of the driver: the definition is made in every process that lists backends.
    return {"cuda",
            "NVIDIA GPU, CUDA " + std::to_string(CUDART_VERSION / 1000) + ", cuDNN " + cudnn::version(),
            plugin_preference,
            [](const BackendOptions& options) { return std::make_unique<CudaBackend>(options); },
            [](const BackendOptions& options) { return available(options.device); },
            descriptions,
            {"fp16", "bf16", "tf32", "fp32"}};
}

} // namespace espalier
