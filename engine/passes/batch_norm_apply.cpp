// SPDX-License-Identifier: Apache-2.0
#include "passes/batch_norm_apply.h"

#include "graph/ops/normalization.h"

namespace espalier {

Op batch_norm_apply_of(const Op& batch_norm) {
    Op op = batch_norm;
    op.kind = "batch_norm_apply";
    op.attributes = {};
    if (const auto activation = batch_norm.attributes.text("activation"); !activation.empty())
        op.attributes.set("activation", activation);
    const auto& inputs = batch_norm.inputs;
    const auto& outputs = batch_norm.outputs;
    op.inputs = {inputs[BatchNorm::x],      outputs[BatchNorm::mean], outputs[BatchNorm::inv_std],
                 inputs[BatchNorm::weight], inputs[BatchNorm::bias],  inputs[BatchNorm::residual]};
    op.outputs = {outputs[BatchNorm::y]};
    return op;
}

} // namespace espalier
