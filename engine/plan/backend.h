// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/device_state.h"
#include "plan/kernel.h"
#include "plan/layout.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

/// A backend's answer to "can you run this op?".
struct Support {
    bool yes = true;
    std::string reason; ///< why not, one sentence

    static Support no(std::string reason) { return {false, std::move(reason)}; }
    explicit operator bool() const { return yes; }
};

/// The end of a kernel's work, which nobody waits for but the readers of `outputs`: it makes them from the `bytes` that
/// the kernel has left, its one input.
struct Finish {
    std::unique_ptr<Kernel> kernel;
    std::vector<std::size_t> outputs; ///< of the op
    std::size_t bytes = 0;
};

/// An op made ready: its kernel and what the kernel asks of memory.
struct Lowered {
    std::unique_ptr<Kernel> kernel;
    std::vector<Layout> inputs;  ///< layout that each input must have; the plan puts in a reorder where it has another
    std::vector<Layout> outputs; ///< layout of each output as computed
    std::size_t workspace = 0;   ///< bytes of scratch memory during the kernel
    /// {output, input}: this output may take the memory of that input, if nothing reads the input afterwards.
    std::vector<std::pair<std::size_t, std::size_t>> in_place;
    /// The kernel finds the memory that it leaves to it behind its outputs, and null in the place of those still to
    /// come.
    std::optional<Finish> finish;
};

/// Toggles that change what a backend offers.
struct BackendOptions {
    int threads = 0;                  ///< CPU threads, 0: all that this process may use
    bool deterministic = false;       ///< only kernels that give the same bits every time
    bool winograd = true;             ///< fast convolution with a slightly larger rounding error (1e-6 to 3e-6)
    bool reference_separable = false; ///< depthwise by the library, no kernel of ours
    bool library = true;              ///< false: convolutions by kernels of our own alone (GPU)
    bool tf32 = false;                ///< products of f32 may round their factors to 10 bits (GPU tensor cores)
    bool graphs = true;               ///< kernels may be timed in a recording (CUDA graph)
    bool tune = false;                ///< algorithms may be chosen by timing them (Backend::tune)
    std::string device;               ///< which one of several: a UUID or its beginning, or a number; empty: the first
};

/// How far a backend has come with choosing algorithms by their time.
struct Tuning {
    std::size_t known = 0;    ///< problems whose choice an earlier process has left on disk
    std::size_t timed = 0;    ///< problems timed in this one
    std::size_t in_pairs = 0; ///< of those, beside the other gradient of the same convolution
    std::size_t improved = 0; ///< of those, where another algorithm won than the one in use
    std::size_t open = 0;     ///< problems still planned by the library's guess
    std::size_t skipped = 0;  ///< problems that there was no memory to time
    double seconds = 0;       ///< spent on timing
    std::vector<std::string> rejected; ///< algorithms that were faster, but computed something else; a sentence each
    std::vector<std::string> warnings; ///< about what is kept on disk
};

/// Memory of a device; freed at the end of its life.
class Memory {
public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    virtual ~Memory() = default;
    [[nodiscard]] virtual std::byte* data() const = 0; ///< a device address; the host may only do arithmetic with it
    [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Launches that were recorded once and can be repeated as a whole, at the same addresses.
class Recording {
public:
    Recording() = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    virtual ~Recording() = default;
    /// Enqueues them all. Throws DeviceError.
    virtual void replay() = 0;
};

/// One tensor's way to the host, again and again, while the device works on.
class Download {
public:
    Download() = default;
    Download(const Download&) = delete;
    Download& operator=(const Download&) = delete;
    virtual ~Download() = default;
    /// Enqueues a copy of what is at that address when all that was enqueued before has run.
    virtual void start(const std::byte* device) = 0;
    /// Whether the copy that was started last is there.
    [[nodiscard]] virtual bool ready() const = 0;
    /// Its values, as Backend::download gives them. Waits for them if it must.
    virtual void finish(void* host) = 0;
};

/// A device with its kernels. Stateless apart from caches; used by one thread at a time: that which made it, until
/// another one calls enter_thread().
class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// From now on the calling thread uses the backend. Throws DeviceError.
    virtual void enter_thread() {}
    /// Asked before an op is lowered here. Never throws.
    [[nodiscard]] virtual Support supports(const Graph& graph, const Op& op) const = 0;
    /// What the precision "auto" may mean here, the best first and "fp32" last. A self-test decides (train/precision.h).
    [[nodiscard]] virtual std::vector<std::string> automatic_precisions() const { return {"fp32"}; }
    /// Whether its memory is the host's, so that tests may look into it.
    [[nodiscard]] virtual bool in_host_memory() const { return true; }
    /// Bytes that can still be taken, where the device has memory of its own.
    [[nodiscard]] virtual std::optional<std::size_t> free_memory() const { return std::nullopt; }
    /// What it computes on.
    [[nodiscard]] virtual DeviceFacts device() const { return {}; }
    /// Watches the device, also when the backend is gone; null where there is nothing to be watched.
    [[nodiscard]] virtual std::unique_ptr<DeviceMonitor> monitor() const { return nullptr; }
    /// Row-major layout of a tensor of this shape and type.
    [[nodiscard]] virtual Layout plain(const Shape& shape, DType type) const = 0;
    /// Makes `op` ready. `given` are the layouts that its inputs have now, one an input; undefined for parameters and
    /// buffers whose layout is still free (the first op that reads one chooses it for the life of the session) and for
    /// no_tensor. An op that writes a parameter or buffer must return that tensor's layout unchanged: `given_outputs`
    /// holds those, undefined elsewhere.
    [[nodiscard]] virtual Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                        std::span<const Layout> given_outputs) = 0;
    /// Copies a tensor from one layout into another.
    [[nodiscard]] virtual Lowered reorder(const Tensor& tensor, const Layout& from, const Layout& to) = 0;

    /// Aligned to 64 bytes; throws OutOfMemory.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Between host memory in row-major order (float, std::int32_t or std::uint8_t by the tensor's type) and a device
    /// address with the given layout. upload() has taken its data when it returns; padding becomes zero.
    virtual void upload(const Tensor& tensor, const Layout& layout, const void* host, std::byte* device) = 0;
    virtual void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) = 0;
    /// For values that are wanted often: without an override, they are there as soon as the copy is started.
    [[nodiscard]] virtual std::unique_ptr<Download> make_download(const Tensor& tensor, const Layout& layout);
    /// Gives back what the backend keeps beyond what kernels in use need. Called between two steps.
    virtual void trim_caches() {}
    /// Waits until everything enqueued has run.
    virtual void synchronize() = 0;
    /// Records the launches of a step, without running them; null where a backend has nothing to gain by it. Kernel i
    /// comes after those that `after[i]` names, all of them earlier ones; what is not ordered so may run at the same
    /// time. Throws DeviceError if something cannot be recorded, OutOfMemory if there is none for the recording; the
    /// backend can be used as before.
    [[nodiscard]] virtual std::unique_ptr<Recording> record(std::span<Kernel* const> kernels,
                                                            std::span<const std::vector<std::int32_t>> after) {
        static_cast<void>(kernels);
        static_cast<void>(after);
        return nullptr;
    }
    /// For how many further steps memory is better not used again, so that recorded steps can run side by side.
    [[nodiscard]] virtual int steps_side_by_side() const { return 0; }
    /// Runs the kernels in order and returns the milliseconds of each; waits. `leave` is asked before each kernel,
    /// where a backend can still stop there; where it says so, no further kernel runs and no further time comes back.
    [[nodiscard]] virtual std::vector<double> time(std::span<Kernel* const> kernels,
                                                   const std::function<bool(std::size_t next)>& leave);
    /// Between two steps: times algorithms of what was lowered so far, for about `seconds` (the one begun last is
    /// finished), on memory of its own. True while something is left to time. What is lowered from then on uses what
    /// was found; plans made before keep what they have. What was found is kept for later processes when nothing is
    /// left to time, and at a call with 0 seconds, which times nothing. Throws DeviceError.
    virtual bool tune(double seconds) {
        static_cast<void>(seconds);
        return false;
    }
    [[nodiscard]] virtual Tuning tuning() const { return {}; }
    /// What people should know of that has happened here since the last call: what it costs and what to do, a text each.
    [[nodiscard]] virtual std::vector<std::string> take_warnings() { return {}; }
    /// Fills bytes with NaN-like rubbish (0xff), so that tests see what a kernel did not write.
    virtual void poison(std::byte* device, std::size_t bytes) = 0;
};

} // namespace espalier
