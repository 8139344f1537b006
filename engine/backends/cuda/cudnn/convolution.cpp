// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/convolution.h"

#include "backends/cuda/cudnn/tuning.h"
#include "base/error.h"

#include <algorithm>
#include <optional>

namespace espalier::cuda::cudnn {
namespace {

enum Id : std::int64_t { id_x = 'x', id_w = 'w', id_y = 'y' };

cudnnDataType_t data_type(DType type) {
    switch (type) {
    case DType::f16: return CUDNN_DATA_HALF;
    case DType::bf16: return CUDNN_DATA_BFLOAT16;
    default: return CUDNN_DATA_FLOAT;
    }
}

Descriptor tensor(std::int64_t id, const std::array<std::int64_t, 4>& extents, const Problem& problem) {
    const auto [n, c, h, w] = extents;
    const std::array<std::int64_t, 4> last{c * h * w, 1, c * w, c}, first{c * h * w, h * w, w, 1};
    const auto& strides = problem.channels_first ? first : last;
    const auto data = data_type(problem.type);
    const std::int64_t alignment = 16; // of its first byte: every tensor begins on 64
    Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &data);
    result.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
    result.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
    result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    result.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
    result.finalize();
    return result;
}

Descriptor convolution(const Problem& problem) {
    const std::int64_t spatial = 2;
    const auto compute = CUDNN_DATA_FLOAT;
    const auto mode = CUDNN_CROSS_CORRELATION;
    Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, spatial);
    result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    result.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    result.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem.padding);
    result.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem.padding);
    result.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, problem.dilation);
    result.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem.stride);
    result.finalize();
    return result;
}

Descriptor operation(const Problem& problem) {
    const auto x = tensor(id_x, problem.x, problem), w = tensor(id_w, problem.w, problem),
               y = tensor(id_y, problem.y, problem), shape = convolution(problem);
    const float one = 1, zero = 0; // as wide as the compute type: a double would be read as half of one
    const auto build = [&](cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t x_name,
                           cudnnBackendAttributeName_t w_name, cudnnBackendAttributeName_t y_name,
                           cudnnBackendAttributeName_t shape_name, cudnnBackendAttributeName_t alpha,
                           cudnnBackendAttributeName_t beta) {
        Descriptor result(type);
        result.set(x_name, x);
        result.set(w_name, w);
        result.set(y_name, y);
        result.set(shape_name, shape);
        result.set(alpha, CUDNN_TYPE_FLOAT, 1, &one);
        result.set(beta, CUDNN_TYPE_FLOAT, 1, &zero);
        result.finalize();
        return result;
    };
    switch (problem.direction) {
    case Problem::Direction::forward:
        return build(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
    case Problem::Direction::input_gradient:
        return build(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
    default:
        return build(
            CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
    }
}

Descriptor operation_graph(const Problem& problem, cudnnHandle_t handle) {
    const auto single = operation(problem);
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, single);
    graph.finalize();
    return graph;
}

/// Configurations of engines, the best guess first.
std::vector<Descriptor> heuristic(const Descriptor& graph, cudnnBackendHeurMode_t mode, std::int64_t most) {
    Descriptor query(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    query.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    query.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (!query.try_finalize())
        return {};
    return query.children(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, most);
}

/// Every engine with its default knobs.
std::vector<Descriptor> every_engine(const Descriptor& graph) {
    std::vector<Descriptor> result;
    const auto count = graph.integer(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
    for (std::int64_t i = 0; i < count; ++i) {
        Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
        engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, i);
        if (!engine.try_finalize())
            continue;
        Descriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
        if (configuration.try_finalize())
            result.push_back(std::move(configuration));
    }
    return result;
}

struct Notes {
    std::int64_t index = 0;
    bool tensor_cores = false, rounds_inputs = false, reduced = false, nondeterministic = false, winograd = false;
    bool compiles = false; ///< at run time, which costs a second or more in every process
};

std::optional<Notes> notes_of(const Descriptor& configuration) {
    const auto engines =
        configuration.children(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    if (engines.empty())
        return std::nullopt;
    const auto& engine = engines.front();
    Notes notes;
    notes.index = engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    for (const auto note : engine.list<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                    CUDNN_TYPE_NUMERICAL_NOTE, 16)) {
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
    return problem.type != DType::f32 || problem.tf32 || !(notes.tensor_cores || notes.rounds_inputs);
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
    return std::make_shared<const Plan>(std::move(plan), std::move(name), workspace);
}

} // namespace

std::string Problem::key() const {
    std::string text = direction == Direction::forward ? "fprop" : direction == Direction::input_gradient ? "dgrad" : "wgrad";
    text += " ";
    text += name_of(type);
    const auto list = [&text](const char* what, const auto& values) {
        text += what;
        for (std::size_t i = 0; i < values.size(); ++i)
            text += (i ? "," : "") + std::to_string(values[i]);
    };
    list(" x", x);
    list(" w", w);
    list(" y", y);
    list(" s", stride);
    list(" p", padding);
    list(" d", dilation);
    text += " g" + std::to_string(groups);
    text += channels_first ? " nchw" : "";
    text += tf32 ? " tf32" : "";
    text += deterministic ? " deterministic" : "";
    text += winograd ? "" : " direct";
    return text;
}

Execution::Execution(std::shared_ptr<const Plan> plan, const void* x, const void* w, const void* y,
                     std::byte* workspace)
    : plan_(std::move(plan)), pack_(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    const void* pointers[] = {x, w, y};
    const std::int64_t ids[] = {id_x, id_w, id_y};
    pack_.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    pack_.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack_.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack_.finalize();
}

void Execution::run(cudnnHandle_t handle) const {
    ESPALIER_CUDNN(cudnnBackendExecute(handle, plan_->descriptor().get(), pack_.get()));
}

Planner::Planner(cudaStream_t stream, std::size_t workspace_cap, bool tune)
    : handle_(stream), stream_(stream), current_(stream), workspace_cap_(workspace_cap), tune_(tune) {}

cudnnHandle_t Planner::handle(cudaStream_t stream) {
    if (stream != current_) {
        ESPALIER_CUDNN(cudnnSetStream(handle_.get(), stream));
        current_ = stream;
    }
    return handle_.get();
}

std::shared_ptr<const Plan> Planner::plan(const Problem& problem) {
    const auto key = problem.key();
    if (const auto known = plans_.find(key); known != plans_.end())
        return known->second;
    auto found = search(problem);
    plans_[key] = found;
    return found;
}

std::shared_ptr<const Plan> Planner::search(const Problem& problem) {
    const auto graph = operation_graph(problem, handle_.get());
    std::vector<std::shared_ptr<const Plan>> candidates;
    const auto take = [&](std::vector<Descriptor> configurations, std::size_t most) {
        for (const auto& configuration : configurations) {
            if (candidates.size() >= most)
                return;
            const auto notes = notes_of(configuration);
            if (!notes || notes->compiles || !allowed(problem, *notes))
                continue;
            if (auto plan = make_plan(configuration, *notes, handle_.get(), workspace_cap_))
                candidates.push_back(std::move(plan));
        }
    };
    if (!tune_) {
        take(heuristic(graph, CUDNN_HEUR_MODE_A, 24), 1);
        take(heuristic(graph, CUDNN_HEUR_MODE_FALLBACK, 24), 1);
        take(every_engine(graph), 1);
        return candidates.empty() ? nullptr : candidates.front();
    }
    take(heuristic(graph, CUDNN_HEUR_MODE_A, 64), 48);
    take(every_engine(graph), 96);
    return fastest(problem, candidates, handle(stream_), stream_);
}

} // namespace espalier::cuda::cudnn
