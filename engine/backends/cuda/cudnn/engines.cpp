// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/engines.h"

#include "backends/cuda/timing_contest.h"
#include "base/error.h"

#include <algorithm>
#include <optional>

namespace espalier::cuda::cudnn {
namespace {

/// Configurations of engines, the best guess first: all that the library names. Those on tensor cores, which strict
/// fp32 leaves out, can be the first 35.
std::vector<Descriptor> heuristic(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
    constexpr std::int64_t most = 128;
    Descriptor query(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    query.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    query.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (!query.try_finalize())
        return {};
    return query.children(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, most);
}

struct Notes {
    std::int64_t index = 0;
    bool tensor_cores = false, rounds_inputs = false, reduced = false, nondeterministic = false, winograd = false;
    bool compiles = false; ///< at run time, which costs a second or more in every process
};

std::optional<Notes> notes_of(const Descriptor& configuration) {
    const auto engines = configuration.children(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    if (engines.empty())
        return std::nullopt;
    const auto& engine = engines.front();
    Notes notes;
    notes.index = engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    for (const auto note :
         engine.list<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 16)) {
        notes.tensor_cores |= note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        notes.rounds_inputs |= note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
        notes.reduced |= note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
        notes.nondeterministic |= note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
        notes.winograd |= note == CUDNN_NUMERICAL_NOTE_WINOGRAD || note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 ||
                          note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 ||
                          note == CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13;
    }
    for (const auto note :
         engine.list<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, 8))
        notes.compiles |= note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    return notes;
}

/// Whether an engine keeps what the problem asks for.
bool allowed(const Problem& problem, const Notes& notes) {
    if (problem.deterministic && notes.nondeterministic)
        return false;
    if (!problem.winograd && notes.winograd)
        return false;
    // Half products summed in halves lose what mixed precision promises; so does fp32 on tensor cores, unless asked.
    if (notes.reduced)
        return false;
    return !problem.is_strict() || !(notes.tensor_cores || notes.rounds_inputs);
}

/// The knobs that a configuration sets; those that it leaves alone have the library's values.
Choice choice_of(const Descriptor& configuration, std::int64_t engine) {
    Choice choice{engine, {}};
    for (const auto& knob : configuration.children(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                   CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
        for (const auto type :
             knob.list<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1))
            choice.knobs.emplace_back(type, knob.integer(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    return choice;
}

/// An engine by its number; nothing if this library does not have it for the problem.
std::optional<Descriptor> engine_of(const Descriptor& graph, std::int64_t index) {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    if (!engine.try_finalize())
        return std::nullopt;
    return engine;
}

/// Whether a knob decides in which order, or whether in any order at all, parts of a sum are added.
bool splits_sums(std::int64_t knob) {
    return knob == CUDNN_KNOB_TYPE_SPLIT_K || knob == CUDNN_KNOB_TYPE_SPLIT_K_BUF ||
           knob == CUDNN_KNOB_TYPE_SPLIT_K_SLC || knob == CUDNN_KNOB_TYPE_REDUCTION_MODE ||
           knob == CUDNN_KNOB_TYPE_CTA_SPLIT_K_MODE || knob == CUDNN_KNOB_TYPE_SPLIT_RS;
}

/// The configuration that a choice names; nothing if this library does not have it.
std::optional<Descriptor> configuration_of(const Descriptor& graph, const Choice& choice) {
    const auto engine = engine_of(graph, choice.engine);
    if (!engine)
        return std::nullopt;
    std::vector<Descriptor> knobs;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const auto& [number, value] : choice.knobs) {
        const auto type = static_cast<cudnnBackendKnobType_t>(number);
        auto& knob = knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
        knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
        if (!knob.try_finalize())
            return std::nullopt;
        handles.push_back(knob.get());
    }
    Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, *engine);
    if (!handles.empty())
        configuration.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                          static_cast<std::int64_t>(handles.size()), handles.data());
    if (!configuration.try_finalize())
        return std::nullopt;
    return configuration;
}

/// Every engine with its default knobs.
std::vector<Descriptor> every_engine(const Descriptor& graph) {
    std::vector<Descriptor> result;
    const auto count = graph.integer(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
    for (std::int64_t i = 0; i < count; ++i) {
        if (auto configuration = configuration_of(graph, Choice{i, {}}))
            result.push_back(std::move(*configuration));
    }
    return result;
}

std::shared_ptr<const Plan> make_plan(const Descriptor& configuration, const Notes& notes, cudnnHandle_t handle,
                                      std::size_t cap) {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    if (!plan.try_finalize())
        return nullptr;
    const auto workspace = static_cast<std::size_t>(plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
    if (workspace > cap)
        return nullptr;
    std::string name = "cudnn " + std::to_string(notes.index);
    if (notes.tensor_cores)
        name += " tensor cores";
    if (notes.winograd)
        name += " winograd";
    return std::make_shared<const Plan>(std::move(plan), choice_of(configuration, notes.index), std::move(name),
                                        workspace);
}

} // namespace

Engines::Engines(const Problem& problem, cudnnHandle_t handle, std::size_t workspace_cap)
    : problem_(problem), handle_(handle), cap_(workspace_cap), graph_(operation_graph(problem, handle)) {}

std::shared_ptr<const Plan> Engines::plan_of(const Descriptor& configuration) const {
    const auto notes = notes_of(configuration);
    // What is compiled at run time costs more than a second in every process: docs/DECISIONS.md.
    if (!notes || notes->compiles || !allowed(problem_, *notes))
        return nullptr;
    return make_plan(configuration, *notes, handle_, cap_);
}

std::shared_ptr<const Plan> Engines::guess() const {
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
        for (const auto& configuration : heuristic(graph_, mode))
            if (auto plan = plan_of(configuration))
                return plan;
    for (const auto& configuration : every_engine(graph_))
        if (auto plan = plan_of(configuration))
            return plan;
    return nullptr;
}

std::shared_ptr<const Plan> Engines::chosen(const Choice& choice) const {
    const auto configuration = configuration_of(graph_, choice);
    return configuration ? plan_of(*configuration) : nullptr;
}

std::vector<std::shared_ptr<const Plan>> Engines::candidates() const {
    // Two models of the library's, which differ most in the knobs of one engine, then whatever they do not name.
    constexpr std::size_t most_guesses = 48, most_second_guesses = 72, most = 112;
    std::vector<std::shared_ptr<const Plan>> plans;
    const auto take = [&](const std::vector<Descriptor>& configurations, std::size_t up_to) {
        for (const auto& configuration : configurations) {
            if (plans.size() >= up_to)
                return;
            auto plan = plan_of(configuration);
            if (plan && std::ranges::none_of(plans, [&](const auto& p) { return p->choice() == plan->choice(); }))
                plans.push_back(std::move(plan));
        }
    };
    take(heuristic(graph_, CUDNN_HEUR_MODE_A), most_guesses);
    take(heuristic(graph_, CUDNN_HEUR_MODE_B), most_second_guesses);
    take(every_engine(graph_), most);
    return plans;
}

std::vector<Choice> Engines::neighbours(const Choice& choice) const {
    std::vector<Choice> near;
    const auto engine = engine_of(graph_, choice.engine);
    if (!engine)
        return near;
    for (const auto& knob :
         engine->children(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
        for (const auto type : knob.list<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1)) {
            if (problem_.deterministic && splits_sums(type))
                continue;
            for (const auto value : values_to_try(knob.integer(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE),
                                                  knob.integer(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE))) {
                Choice other = choice;
                const auto set =
                    std::ranges::find(other.knobs, std::int64_t{type}, [](const auto& k) { return k.first; });
                if (set == other.knobs.end())
                    other.knobs.emplace_back(type, value);
                else
                    set->second = value;
                if (other != choice)
                    near.push_back(std::move(other));
            }
        }
    return near;
}

} // namespace espalier::cuda::cudnn
