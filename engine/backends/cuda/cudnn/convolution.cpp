// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/convolution.h"

namespace espalier::cuda::cudnn {
namespace {

enum Id : std::int64_t { id_x = 'x', id_w = 'w', id_y = 'y' };

cudnnDataType_t data_type(DType type) {
    switch (type) {
    case DType::f16:
        return CUDNN_DATA_HALF;
    case DType::bf16:
        return CUDNN_DATA_BFLOAT16;
    default:
        return CUDNN_DATA_FLOAT;
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
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
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

} // namespace

std::string Problem::key() const {
    std::string text = direction == Direction::forward          ? "fprop"
                       : direction == Direction::input_gradient ? "dgrad"
                                                                : "wgrad";
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

Descriptor operation_graph(const Problem& problem, cudnnHandle_t handle) {
    const auto single = operation(problem);
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, single);
    graph.finalize();
    return graph;
}

} // namespace espalier::cuda::cudnn
