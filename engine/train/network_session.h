// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nn/network_spec.h"
#include "nn/parameter_store.h"
#include "plan/session.h"
#include "train/device_data.h"
#include "train/optimizer.h"
#include "train/run_config.h"
#include "train/run_state.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// A batch as a network reads it: values that the host has made, or, where the session has DeviceData, places in the
/// order that it follows.
struct BatchView {
    std::span<const float> images;        ///< [N,C,H,W], normalised
    std::span<const std::int32_t> labels; ///< [N]
    std::int64_t first = 0;               ///< place of the first image, where there are no values
    std::int64_t count = 0;               ///< images from there on, where there are no values
    [[nodiscard]] std::int64_t size() const {
        return labels.empty() ? count : static_cast<std::int64_t>(labels.size());
    }
};

/// What changes from step to step (graph/step_block.h).
struct StepPlace {
    double learning_rate = 0;
    std::int64_t step = 1; ///< number of this update, from 1
    std::int64_t micro_step = 0;
    std::int64_t micro_steps = 1;
};

/// Loss (mean over the batch) and number of images whose class was found, of one batch of training or evaluation.
struct BatchResult {
    double loss = 0;
    double correct = 0;
    double gradient_norm =
        0; ///< of the update that this part ended; not finite: the update was left out. Of an evaluation: 0
};

/// The whole training step of a configuration for one batch, before any backend sees it.
[[nodiscard]] Graph training_graph(const RunConfig& config);

/// One network made ready on one backend: a session, and the steps that a run needs as plans of it. Values go between
/// the plans and a ParameterStore with load() and save(); batches of any size can be trained and evaluated, each size
/// is planned once.
class NetworkSession {
public:
    /// A compiled step and what to find in it.
    struct Step {
        std::string key;
        CompiledStep compiled;
        TensorId logits = no_tensor, loss = no_tensor, correct = no_tensor;
    };

    /// `memory_limit` in bytes, 0: none. With `data` its batches are places in an order, both in training and in
    /// evaluation.
    NetworkSession(Backend& backend, const RunConfig& config, std::size_t memory_limit = 0,
                   std::shared_ptr<const DeviceData> data = nullptr);

    /// Lowers the steps for batches of that size, so that nothing is found out later. Throws OutOfMemory, and
    /// ConfigError if the backend refuses an op.
    void prepare_training(std::int64_t batch);
    void prepare_evaluation(std::int64_t batch);

    /// Weights of the classes in the loss of training steps, where the configuration weighs them; 1 each if never set.
    /// In force from the next load() on. Requires one a class.
    void set_class_weights(std::vector<float> weights) { class_weights_ = std::move(weights); }

    /// Puts the store's values and slots into the plans; slots that the store lacks become zero. The first load(), and
    /// the first after release(), brings the data to the device too. Throws ConfigError if a value is missing or of
    /// another size, and DataError if an image cannot be read.
    void load(const ParameterStore& store);
    /// Takes values and slots back into the store, which must hold every name already (add_missing).
    void save(ParameterStore& store);

    /// Of the last save(), and what the next load() begins with. Changes only in fp16.
    [[nodiscard]] const LossScale& loss_scale() const { return loss_scale_; }
    void set_loss_scale(const LossScale& loss_scale) { loss_scale_ = loss_scale; }

    /// One part of a training step. Its result comes later with take_history(), so that no step waits for the host.
    /// False if `interrupt` (the same for all parts of a step) left it: then everything is as it was before the step's
    /// first part. A step that may be left costs a copy of the running statistics. On a device of its own no step is
    /// left: it is enqueued at once.
    bool train(const BatchView& batch, const StepPlace& place, bool profiled = false, const Interrupt& interrupt = {});
    /// Puts everything back to before the first part of the step that was trained last and may be left.
    void give_up_step();
    /// Results of the parts trained since the last call, in order. Call it at least every history_rows parts.
    [[nodiscard]] std::vector<BatchResult> take_history();
    /// The same without waiting: ask_for_history() is for the results of all parts trained so far, and
    /// take_ready_history() gives them as soon as they are there, nothing before. False, and nothing is asked, as long
    /// as those that were asked for last are on their way.
    bool ask_for_history();
    [[nodiscard]] std::vector<BatchResult> take_ready_history();

    /// False if `interrupt` left it. The result comes with take_evaluations().
    bool evaluate(const BatchView& batch, const Interrupt& interrupt = {});
    /// Results of the batches evaluated since the last call, in order. Call it at least every history_rows batches.
    [[nodiscard]] std::vector<BatchResult> take_evaluations();

    /// From now on the batches of that use are places in an order that DeviceData gives; with DeviceData alone. Nothing
    /// waits.
    void follow(DeviceData::Use use, std::span<const std::int32_t> order);

    /// Probability of each class for each of `count` images, row after row.
    [[nodiscard]] std::vector<float> probabilities(std::span<const float> images, std::int64_t count);

    /// The step (of the last part of an accumulated step) and its plan, for reports.
    [[nodiscard]] const Step& training_step(std::int64_t batch);
    Plan& plan_of(const Step& step) { return session_.plan(step.key, step.compiled.graph); }
    /// FLOPs of forward and backward of one batch of that size.
    [[nodiscard]] double training_flops(std::int64_t batch) { return plan_of(training_step(batch)).model_flops(); }
    /// Graph of the forward alone, from which a ParameterStore gets its first values.
    [[nodiscard]] Graph forward_graph() const;

    /// In which products are computed: "fp16", "bf16", "tf32" or "fp32"; never "auto".
    [[nodiscard]] std::string precision() const { return config_.toggles.effective().precision; }
    /// As Session::recording_fault.
    [[nodiscard]] const std::string& recording_fault() const { return session_.recording_fault(); }
    /// The scale that fp16 is at now; waits for the device. 1 in every other precision.
    [[nodiscard]] double loss_scale_now() const;
    /// The ops that were launched last, the latest first, at most `count`; empty before the first step.
    [[nodiscard]] std::vector<PlannedOp> last_launched(std::size_t count) const;
    /// Whether they were launched as one recording.
    [[nodiscard]] bool launched_as_one() const { return running_ && running_->launched_as_one(); }
    [[nodiscard]] MemoryUse memory() const { return session_.memory(); }
    [[nodiscard]] std::size_t allocated() const { return session_.allocated(); }
    /// Plans every step anew with what the backend has been tuned to since; values and slots stay. A step whose new
    /// plan would not fit keeps its old one. References to plans end.
    void replan();
    /// Gives all memory back. save() first; load() afterwards makes it ready again.
    void release();

private:
    /// Rows of a history that were written by steps, and that have been read.
    struct Rows {
        std::int64_t written = 0, read = 0;
    };

    const Step& training_step(std::int64_t batch, UpdateParts parts);
    const Step& evaluation_step(std::int64_t batch, bool from_data);
    void set_step(const StepPlace& place, const BatchView& batch, const Rows& rows);
    void set_batch(Plan& plan, const BatchView& batch);
    std::vector<BatchResult> take_results(const std::string& name, Rows& rows);
    static std::vector<BatchResult> results(std::span<const float> history, Rows& rows, std::int64_t end);
    void load_data();
    /// The plan of a step that is about to run.
    Plan& plan_to_run(const Step& step);
    void remember(const Graph& graph);
    /// Where the value of that buffer is kept between plans; null for every other.
    double* loss_scale_value(const std::string& name);

    RunConfig config_;
    std::vector<float> class_weights_; ///< empty: 1 each
    Backend& backend_;
    Session session_;
    Supports supports_; ///< of the backend
    bool runs_kernel_by_kernel_; ///< run() returns when the last kernel is done
    std::map<std::string, Step> steps_;
    const Plan* running_ = nullptr; ///< that ran last or runs now
    LossScale loss_scale_;
    Rows training_, evaluation_;
    std::int64_t asked_for_ = 0; ///< rows of training that are on their way to the host
    std::shared_ptr<const DeviceData> data_;
    bool data_is_there_ = false;

    /// As they were before the training step in hand, if it may be left.
    struct {
        std::vector<std::pair<std::string, std::vector<float>>> statistics;
        std::int64_t rows_written = 0;
    } before_;
};

} // namespace espalier
