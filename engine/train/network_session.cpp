// SPDX-License-Identifier: Apache-2.0
#include "train/network_session.h"

#include "base/error.h"
#include "base/faults.h"
#include "graph/builder.h"
#include "graph/step_block.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

/// Training and evaluation at two batch sizes, accumulated steps in two parts, and room for a prediction.
constexpr std::size_t plans_kept = 8;

NetworkSession::Step compile(std::string key, const ForwardGraph& forward, const Toggles& toggles,
                             const AppendUpdate& update, const Supports& supports = {}) {
    std::vector<TensorId> parameters;
    if (update)
        for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i)
            if (forward.graph.tensors()[i].role == Role::parameter)
                parameters.push_back(static_cast<TensorId>(i));
    return {std::move(key), compile_step(forward.graph, forward.loss, parameters, toggles, update, supports),
            forward.logits, forward.loss, forward.correct};
}

/// As history_name, of evaluations: loss and correct.
constexpr const char* evaluation_history_name = "evaluation_history";

/// Of the images on their way to the device.
constexpr std::size_t bytes_at_once = std::size_t{4} << 20;

bool is_working_memory(const std::string& name, const std::string& slot) {
    return name == step_block::name || name == class_weights_name || name == loss_scale_name ||
           name == good_steps_name || name == history_name || name == evaluation_history_name ||
           slot == gradient_sum_slot || DeviceData::is_buffer(name);
}

void record_evaluation(ForwardGraph& forward) {
    GraphBuilder builder(forward.graph);
    const auto step = step_buffer(builder);
    const auto history = builder.buffer(evaluation_history_name, {history_rows, 2}, {Initializer::Kind::constant, 0.0});
    const GraphBuilder::Scope scope(builder, "evaluation");
    builder.apply("record", {step, forward.loss, forward.correct}, {}, {history});
}

LossSettings loss_of(const RunConfig& config) {
    return {.label_smoothing = config.label_smoothing, .class_weights = config.class_weights != "none"};
}

} // namespace

Graph training_graph(const RunConfig& config) {
    const auto forward = build_forward(config.network, config.batch, NormMode::training, loss_of(config));
    const auto update =
        make_update(config.optimizer, {.accumulate = config.accumulation > 1}, {forward.loss, forward.correct});
    return compile("", forward, config.toggles, update).compiled.graph;
}

NetworkSession::NetworkSession(Backend& backend, const RunConfig& config, std::size_t memory_limit,
                               std::shared_ptr<const DeviceData> data)
    : config_(config), backend_(backend),
      session_(backend, {.plans = plans_kept,
                         .memory_limit = memory_limit,
                         .recorded = config.toggles.effective().cuda_graphs,
                         .deterministic = config.toggles.effective().deterministic}),
      supports_([&backend](const Graph& graph, const Op& op) { return bool(backend.supports(graph, op)); }),
      runs_kernel_by_kernel_(backend.in_host_memory()), data_(std::move(data)) {
    if (config_.toggles.precision == "auto")
        config_.toggles.precision = backend.automatic_precisions().front();
    if (config_.toggles.precision == "tf32" && backend.in_host_memory()) // of NVIDIA's tensor cores alone
        config_.toggles.precision = "fp32";
}

const NetworkSession::Step& NetworkSession::training_step(std::int64_t batch, UpdateParts parts) {
    const std::string key = "train " + std::to_string(batch) + (parts.apply ? " apply" : "");
    auto found = steps_.find(key);
    if (found == steps_.end()) {
        auto forward = build_forward(config_.network, batch, NormMode::training, loss_of(config_));
        if (data_)
            data_->feed(forward, DeviceData::Use::training);
        const auto update = make_update(config_.optimizer, parts, {forward.loss, forward.correct});
        found = steps_.emplace(key, compile(key, forward, config_.toggles, update, supports_)).first;
    }
    return found->second;
}

const NetworkSession::Step& NetworkSession::training_step(std::int64_t batch) {
    return training_step(batch, {.accumulate = config_.accumulation > 1, .apply = true});
}

const NetworkSession::Step& NetworkSession::evaluation_step(std::int64_t batch, bool from_data) {
    const std::string key = "evaluate " + std::to_string(batch) + (from_data ? " from the data" : "");
    auto found = steps_.find(key);
    if (found == steps_.end()) {
        auto forward = build_forward(config_.network, batch, NormMode::inference);
        if (from_data)
            data_->feed(forward, DeviceData::Use::evaluation);
        record_evaluation(forward);
        found = steps_.emplace(key, compile(key, forward, config_.toggles, {})).first;
    }
    return found->second;
}

void NetworkSession::prepare_training(std::int64_t batch) {
    plan_of(training_step(batch));
    if (config_.accumulation > 1)
        plan_of(training_step(batch, {.accumulate = true, .apply = false}));
}

Plan& NetworkSession::plan_to_run(const Step& step) {
    auto& plan = plan_of(step);
    running_ = &plan;
    return plan;
}

double NetworkSession::loss_scale_now() const {
    return precision() == "fp16" ? session_.get(loss_scale_name).at(0) : 1.0;
}

std::vector<PlannedOp> NetworkSession::last_launched(std::size_t count) const {
    std::vector<PlannedOp> ops;
    for (auto i = running_ ? running_->launched() : 0; i > 0 && ops.size() < count; --i)
        ops.push_back(running_->ops()[i - 1]);
    return ops;
}

void NetworkSession::prepare_evaluation(std::int64_t batch) { plan_of(evaluation_step(batch, data_ != nullptr)); }

void NetworkSession::replan() {
    running_ = nullptr;
    for (const auto& [key, step] : steps_) {
        try {
            session_.replan(key, step.compiled.graph);
        } catch (const OutOfMemory&) { // faster algorithms may want more workspace
        }
    }
}

Graph NetworkSession::forward_graph() const { return build_forward(config_.network, 1, NormMode::inference).graph; }

double* NetworkSession::loss_scale_value(const std::string& name) {
    return name == loss_scale_name ? &loss_scale_.scale : name == good_steps_name ? &loss_scale_.good_steps : nullptr;
}

void NetworkSession::load(const ParameterStore& store) {
    for (const auto& name : session_.names()) {
        if (const auto* value = loss_scale_value(name))
            session_.set(name, std::vector{static_cast<float>(*value)});
        if (name == class_weights_name) {
            const auto classes = static_cast<std::size_t>(config_.network.classes);
            session_.set(name, class_weights_.empty() ? std::vector(classes, 1.0F) : class_weights_);
        }
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
    training_ = evaluation_ = {};
    asked_for_ = 0;
    load_data();
}

void NetworkSession::load_data() {
    if (!data_ || data_is_there_)
        return;
    const auto bytes = data_->image().bytes();
    const auto images = data_->images();
    const auto step = static_cast<std::int64_t>(std::max<std::size_t>(1, bytes_at_once / bytes));
    std::vector<std::uint8_t> pixels;
    for (std::int64_t first = 0; first < images; first += step) {
        pixels.resize(static_cast<std::size_t>(std::min(step, images - first)) * bytes);
        data_->read(first, pixels);
        session_.set_rows(DeviceData::pixels_name, first, std::as_bytes(std::span(pixels)));
    }
    const auto labels = data_->labels();
    session_.set_rows(DeviceData::labels_name, 0, std::as_bytes(std::span(labels)));
    session_.set(DeviceData::values_name, data_->values());
    backend_.trim_caches(); // nothing as large is sent again
    data_is_there_ = true;
}

void NetworkSession::release() {
    session_.release();
    data_is_there_ = false;
}

void NetworkSession::follow(DeviceData::Use use, std::span<const std::int32_t> order) {
    session_.set_rows(use == DeviceData::Use::training ? DeviceData::training_order_name
                                                       : DeviceData::evaluation_order_name,
                      0, std::as_bytes(order));
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

void NetworkSession::set_step(const StepPlace& place, const BatchView& batch, const Rows& rows) {
    std::vector<float> block(step_block::size, 0.0F);
    block[step_block::learning_rate] = static_cast<float>(place.learning_rate);
    block[step_block::step] = static_cast<float>(place.step);
    block[step_block::loss_scale] = 1.0F;
    block[step_block::micro_step] = static_cast<float>(place.micro_step);
    block[step_block::micro_steps] = static_cast<float>(place.micro_steps);
    block[step_block::history_row] = static_cast<float>(rows.written % history_rows);
    block[step_block::first_image] = static_cast<float>(batch.first);
    session_.set(step_block::name, block);
}

void NetworkSession::set_batch(Plan& plan, const BatchView& batch) {
    if (data_)
        return; // the step gathers it
    plan.set_input("images", batch.images.data(), batch.images.size_bytes());
    plan.set_input("labels", batch.labels.data(), batch.labels.size_bytes());
}

/// What a step changes before its update, besides the sums of gradients that its first part begins anew.
void NetworkSession::remember(const Graph& graph) {
    before_.rows_written = training_.written;
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
    training_.written = before_.rows_written;
}

bool NetworkSession::train(const BatchView& batch, const StepPlace& place, bool profiled, const Interrupt& asked) {
    const auto interrupt = runs_kernel_by_kernel_ ? asked : Interrupt();
    const auto& step = training_step(
        batch.size(), {.accumulate = config_.accumulation > 1, .apply = place.micro_step + 1 == place.micro_steps});
    auto& plan = plan_to_run(step);
    if (interrupt && place.micro_step == 0)
        remember(step.compiled.graph);
    set_step(place, batch, training_);
    if (const auto scale = faults::loss_scale_at(place.step); scale && precision() == "fp16")
        session_.set(loss_scale_name, std::vector{*scale});
    set_batch(plan, batch);
    if (!(profiled ? plan.run_profiled(interrupt) : plan.run(interrupt))) {
        give_up_step();
        return false;
    }
    ++training_.written;
    return true;
}

std::vector<BatchResult> NetworkSession::results(std::span<const float> history, Rows& rows, std::int64_t end) {
    std::vector<BatchResult> results;
    const auto columns = history.size() / static_cast<std::size_t>(history_rows);
    for (; rows.read < end; ++rows.read) {
        const auto row = history.subspan(static_cast<std::size_t>(rows.read % history_rows) * columns, columns);
        results.push_back({row[0], row[1], columns > 2 ? row[2] : 0.0});
    }
    return results;
}

std::vector<BatchResult> NetworkSession::take_results(const std::string& name, Rows& rows) {
    if (rows.read == rows.written)
        return {};
    return results(session_.get(name), rows, rows.written);
}

bool NetworkSession::ask_for_history() {
    if (asked_for_ > training_.read) // asked again and again, a slow device would never be done with the answer
        return false;
    if (training_.read < training_.written)
        session_.begin_get(history_name);
    asked_for_ = training_.written;
    return true;
}

std::vector<BatchResult> NetworkSession::take_ready_history() {
    if (asked_for_ <= training_.read)
        return {};
    const auto history = session_.finish_get(history_name);
    return history ? results(*history, training_, asked_for_) : std::vector<BatchResult>();
}

std::vector<BatchResult> NetworkSession::take_history() { return take_results(history_name, training_); }

std::vector<BatchResult> NetworkSession::take_evaluations() {
    return take_results(evaluation_history_name, evaluation_);
}

bool NetworkSession::evaluate(const BatchView& batch, const Interrupt& interrupt) {
    auto& plan = plan_to_run(evaluation_step(batch.size(), data_ != nullptr));
    set_step({}, batch, evaluation_);
    set_batch(plan, batch);
    if (!plan.run(interrupt))
        return false;
    ++evaluation_.written;
    return true;
}

std::vector<float> NetworkSession::probabilities(std::span<const float> images, std::int64_t count) {
    const auto& step = evaluation_step(count, false);
    auto& plan = plan_to_run(step);
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(count), 0);
    plan.set_input("images", images.data(), images.size_bytes());
    plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
    set_step({}, {}, evaluation_);
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
