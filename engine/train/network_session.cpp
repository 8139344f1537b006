// SPDX-License-Identifier: Apache-2.0
#include "train/network_session.h"

#include "base/error.h"
#include "graph/step_block.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

/// Training and evaluation at two batch sizes, accumulated steps in two parts, and room for a prediction.
constexpr std::size_t plans_kept = 8;

NetworkSession::Step compile(std::string key, const ForwardGraph& forward, const Toggles& toggles,
                             const AppendUpdate& update) {
    std::vector<TensorId> parameters;
    if (update)
        for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i)
            if (forward.graph.tensors()[i].role == Role::parameter)
                parameters.push_back(static_cast<TensorId>(i));
    return {std::move(key), compile_step(forward.graph, forward.loss, parameters, toggles, update), forward.logits,
            forward.loss, forward.correct};
}

bool is_working_memory(const std::string& name, const std::string& slot) {
    return name == step_block::name || name == loss_scale_name || name == good_steps_name || name == history_name ||
           slot == gradient_sum_slot;
}

} // namespace

Graph training_graph(const RunConfig& config) {
    const auto forward = build_forward(config.network, config.batch, NormMode::training, config.label_smoothing);
    const auto update =
        make_update(config.optimizer, {.accumulate = config.accumulation > 1}, {forward.loss, forward.correct});
    return compile("", forward, config.toggles, update).compiled.graph;
}

NetworkSession::NetworkSession(Backend& backend, const RunConfig& config, std::size_t memory_limit)
    : config_(config), session_(backend, {.plans = plans_kept,
                                          .memory_limit = memory_limit,
                                          .recorded = config.toggles.effective().cuda_graphs}),
      runs_kernel_by_kernel_(backend.in_host_memory()) {
    if (config_.toggles.precision == "auto")
        config_.toggles.precision = backend.automatic_precision();
}

const NetworkSession::Step& NetworkSession::training_step(std::int64_t batch, UpdateParts parts) {
    const std::string key = "train " + std::to_string(batch) + (parts.apply ? " apply" : "");
    auto found = steps_.find(key);
    if (found == steps_.end()) {
        const auto forward = build_forward(config_.network, batch, NormMode::training, config_.label_smoothing);
        const auto update = make_update(config_.optimizer, parts, {forward.loss, forward.correct});
        found = steps_.emplace(key, compile(key, forward, config_.toggles, update)).first;
    }
    return found->second;
}

const NetworkSession::Step& NetworkSession::training_step(std::int64_t batch) {
    return training_step(batch, {.accumulate = config_.accumulation > 1, .apply = true});
}

const NetworkSession::Step& NetworkSession::evaluation_step(std::int64_t batch) {
    const std::string key = "evaluate " + std::to_string(batch);
    auto found = steps_.find(key);
    if (found == steps_.end()) {
        const auto forward = build_forward(config_.network, batch, NormMode::inference);
        found = steps_.emplace(key, compile(key, forward, config_.toggles, {})).first;
    }
    return found->second;
}

void NetworkSession::prepare_training(std::int64_t batch) {
    plan_of(training_step(batch));
    if (config_.accumulation > 1)
        plan_of(training_step(batch, {.accumulate = true, .apply = false}));
}

void NetworkSession::prepare_evaluation(std::int64_t batch) { plan_of(evaluation_step(batch)); }

Graph NetworkSession::forward_graph() const { return build_forward(config_.network, 1, NormMode::inference).graph; }

double* NetworkSession::loss_scale_value(const std::string& name) {
    return name == loss_scale_name ? &loss_scale_.scale : name == good_steps_name ? &loss_scale_.good_steps : nullptr;
}

void NetworkSession::load(const ParameterStore& store) {
    for (const auto& name : session_.names()) {
        if (const auto* value = loss_scale_value(name))
            session_.set(name, std::vector{static_cast<float>(*value)});
        const auto [parameter, slot] = parameter_and_slot(name);
        if (is_working_memory(name, slot))
            continue;
        const auto& entry = store.at(parameter);
        if (slot.empty()) {
            session_.set(name, entry.values);
        } else if (const auto found = entry.slots.find(slot); found != entry.slots.end()) {
            session_.set(name, found->second);
        } else {
            session_.set(name, std::vector<float>(entry.values.size(), 0.0F));
        }
    }
    rows_written_ = rows_read_ = 0;
}

void NetworkSession::save(ParameterStore& store) {
    for (const auto& name : session_.names()) {
        if (auto* value = loss_scale_value(name))
            *value = session_.get(name).at(0);
        const auto [parameter, slot] = parameter_and_slot(name);
        if (is_working_memory(name, slot))
            continue;
        auto& entry = store.at(parameter);
        (slot.empty() ? entry.values : entry.slots[slot]) = session_.get(name);
    }
}

void NetworkSession::set_batch(Plan& plan, std::span<const float> images, std::span<const std::int32_t> labels) {
    plan.set_input("images", images.data(), images.size_bytes());
    plan.set_input("labels", labels.data(), labels.size_bytes());
}

/// What a step changes before its update, besides the sums of gradients that its first part begins anew.
void NetworkSession::remember(const Graph& graph) {
    before_.rows_written = rows_written_;
    before_.statistics.clear();
    for (const auto& tensor : graph.tensors())
        if (tensor.role == Role::buffer)
            if (const auto slot = parameter_and_slot(tensor.name).second;
                slot.empty() && !is_working_memory(tensor.name, slot))
                before_.statistics.emplace_back(tensor.name, session_.get(tensor.name));
}

void NetworkSession::give_up_step() {
    for (const auto& [name, values] : before_.statistics)
        session_.set(name, values);
    rows_written_ = before_.rows_written;
}

bool NetworkSession::train(const BatchView& batch, const StepPlace& place, bool profiled, const Interrupt& asked) {
    const auto interrupt = runs_kernel_by_kernel_ ? asked : Interrupt();
    const auto& step = training_step(
        batch.size(), {.accumulate = config_.accumulation > 1, .apply = place.micro_step + 1 == place.micro_steps});
    auto& plan = plan_of(step);
    if (interrupt && place.micro_step == 0)
        remember(step.compiled.graph);
    std::vector<float> block(step_block::size, 0.0F);
    block[step_block::learning_rate] = static_cast<float>(place.learning_rate);
    block[step_block::step] = static_cast<float>(place.step);
    block[step_block::loss_scale] = 1.0F;
    block[step_block::micro_step] = static_cast<float>(place.micro_step);
    block[step_block::micro_steps] = static_cast<float>(place.micro_steps);
    block[step_block::history_row] = static_cast<float>(rows_written_ % history_rows);
    session_.set(step_block::name, block);
    set_batch(plan, batch.images, batch.labels);
    if (!(profiled ? plan.run_profiled(interrupt) : plan.run(interrupt))) {
        give_up_step();
        return false;
    }
    ++rows_written_;
    return true;
}

std::vector<BatchResult> NetworkSession::take_history() {
    std::vector<BatchResult> results;
    if (rows_read_ == rows_written_)
        return results;
    const auto history = session_.get(history_name);
    const auto columns = history.size() / static_cast<std::size_t>(history_rows);
    for (; rows_read_ < rows_written_; ++rows_read_) {
        const auto row = static_cast<std::size_t>(rows_read_ % history_rows) * columns;
        results.push_back({history[row], history[row + 1], history[row + 2]});
    }
    return results;
}

std::optional<BatchResult> NetworkSession::evaluate(const BatchView& batch, const Interrupt& interrupt) {
    const auto& step = evaluation_step(batch.size());
    auto& plan = plan_of(step);
    set_batch(plan, batch.images, batch.labels);
    if (!plan.run(interrupt))
        return std::nullopt;
    return BatchResult{plan.read(step.loss).at(0), plan.read(step.correct).at(0)};
}

std::vector<float> NetworkSession::probabilities(std::span<const float> images, std::int64_t count) {
    const auto& step = evaluation_step(count);
    auto& plan = plan_of(step);
    set_batch(plan, images, std::vector<std::int32_t>(static_cast<std::size_t>(count), 0));
    plan.run();
    auto values = plan.read(step.logits);
    const auto classes = values.size() / static_cast<std::size_t>(count);
    for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(classes)) {
        const auto end = row + static_cast<std::ptrdiff_t>(classes);
        const float largest = *std::max_element(row, end);
        double sum = 0;
        for (auto value = row; value != end; ++value)
            sum += * value = std::exp(*value - largest);
        for (auto value = row; value != end; ++value)
            *value = static_cast<float>(*value / sum);
    }
    return values;
}

} // namespace espalier
