// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/backend.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// Bytes by what they are for. `activations` is the arena that all plans of a session share.
struct MemoryUse {
    std::size_t weights = 0;
    std::size_t optimizer = 0; ///< slots, accumulators
    std::size_t activations = 0;
    std::size_t workspace = 0;
    std::size_t data = 0; ///< a data set that stays on the device
    [[nodiscard]] std::size_t total() const { return weights + optimizer + activations + workspace + data; }
};

/// One op of a plan, for profiles and the layer table.
struct PlannedOp {
    std::string kind;
    std::string layer;
    std::string kernel;
    Stage stage = Stage::forward;
    double flops = 0;
    double bytes = 0;
    std::size_t memory = 0; ///< bytes of its outputs in the arena
    std::size_t workspace = 0;
    double milliseconds = 0; ///< of the last profiled run
};

class Session;

/// Asked between two kernels of a long step, as often as there are kernels: true leaves the step.
using Interrupt = std::function<bool()>;

/// A step made ready: kernels in order, and an offset in the arena for every activation. Belongs to its session.
class Plan {
public:
    virtual ~Plan() = default;
    /// Copies an input (row-major, float / int32 / uint8 by its type) to where the step reads it. It stays there until
    /// another plan of the session is given inputs or runs. Throws ConfigError on another size.
    virtual void set_input(const std::string& name, const void* host, std::size_t bytes) = 0;
    /// Runs the step. Allocates memory on the first run. Throws Error if an input is not there. False if `interrupt`
    /// left it: then no parameter and no slot of an optimizer has changed, but what the forward writes into buffers
    /// (running statistics) may have; nothing can be read.
    virtual bool run(const Interrupt& interrupt) = 0;
    void run() { run(Interrupt()); }
    /// The same, timing each op into PlannedOp::milliseconds.
    virtual bool run_profiled(const Interrupt& interrupt) = 0;
    void run_profiled() { run_profiled(Interrupt()); }
    /// A kept tensor after run() and until any plan of the session runs again, as float in row-major order.
    [[nodiscard]] virtual std::vector<float> read(TensorId kept) const = 0;
    [[nodiscard]] virtual std::span<const PlannedOp> ops() const = 0;
    /// How many of ops() the last run has launched so far: a device error belongs to one of them, or to an earlier run.
    [[nodiscard]] virtual std::size_t launched() const = 0;
    /// Whether they were launched as one recording, so that nothing tells them apart.
    [[nodiscard]] virtual bool launched_as_one() const = 0;
    /// Exact: known after lowering, before the first run.
    [[nodiscard]] virtual MemoryUse memory() const = 0;
    /// FLOPs of forward and backward by NETWORKS.md section 4; recomputed ops are not counted.
    [[nodiscard]] virtual double model_flops() const = 0;
};

/// One network on one backend: its parameters and buffers in the plans' layouts, the shared arena, and an LRU of plans.
/// Values go in and out by name in row-major float32; the caller (train/) keeps the ParameterStore.
class Session {
public:
    struct Options {
        std::size_t plans = 8; ///< plans kept
        std::size_t memory_limit =
            0;                ///< bytes; 0: none. A plan above it throws OutOfMemory saying which layer does not fit.
        bool recorded = true; ///< steps are recorded and replayed as a whole where the backend can (CUDA graphs)
        bool deterministic = false; ///< a recorded step must leave the very bits that its kernels leave one by one
        bool poison = false;        ///< fill the arena with rubbish before every run (tests)
    };

    Session(Backend& backend, Options options);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// The plan of that graph, from the LRU (`key` names everything that decides it) or new. The first plan chooses the
    /// layout of each parameter. Throws ConfigError naming op and reason if the backend refuses one. The reference
    /// stays valid until the plan is the least recently used of more than Options::plans.
    Plan& plan(const std::string& key, const Graph& graph);

    /// Plans a graph anew in the place of the plan of that key, if there is one: the backend may lower it otherwise now
    /// (Backend::tune). Throws as plan() does; the old plan is then still there. References to it end.
    void replan(const std::string& key, const Graph& graph);

    /// Value of a parameter or buffer that a plan has named; allocates the persistent memory at first use. Until it is
    /// set, one whose initializer is a constant has that value, any other holds NaN.
    void set(const std::string& name, std::span<const float> values);
    [[nodiscard]] std::vector<float> get(const std::string& name) const;
    /// The same without waiting: begin_get() enqueues a copy of the value as it will be when all that was enqueued
    /// before has run, finish_get() gives it as soon as it is there, nothing before. One copy of a name at a time.
    void begin_get(const std::string& name);
    [[nodiscard]] std::optional<std::vector<float>> finish_get(const std::string& name);
    /// Fills the rows [first, ...) of a buffer of integers from its own type (int32, uint8), row-major: a part of what
    /// may be larger than the host wants to hold at once. Throws ConfigError if it is no such buffer or too short.
    void set_rows(const std::string& name, std::int64_t first, std::span<const std::byte> rows);
    [[nodiscard]] std::vector<std::string> names() const;

    /// Each recording is compared with the step kernel by kernel before it is used (plan/recording_check.h). Why no
    /// step has been replayed since one failed, or could not be made; empty while all is well.
    [[nodiscard]] const std::string& recording_fault() const;

    [[nodiscard]] MemoryUse memory() const;
    /// Bytes really taken from the backend now.
    [[nodiscard]] std::size_t allocated() const;
    /// Gives all memory back but keeps nothing of the values: save them first (pause).
    void release();

    struct State; ///< of plan/ alone

private:
    std::unique_ptr<State> state_;
};

} // namespace espalier
