// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/onednn_adapter.h"

#include "base/error.h"

#include <dnnl.hpp>

#include <unordered_map>
#include <vector>

namespace espalier::cpu::onednn {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;
using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

class Description {
public:
    explicit Description(Desc description) : desc(std::move(description)) {}
    Desc desc;
};

namespace {

dnnl::engine& engine() {
    static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

dnnl::stream& stream() {
    static dnnl::stream instance(engine());
    return instance;
}

DescriptionPtr describe(Desc description) { return std::make_shared<const Description>(std::move(description)); }

/// What the library tells of a blocked description.
struct Blocking {
    bool blocked = false;
    Dims dims, padded, strides, blocks, axes;
};

#if DNNL_VERSION_MAJOR >= 3

Blocking blocking_of(const Desc& desc) {
    Blocking result;
    result.blocked = desc.get_format_kind() == dnnl::memory::format_kind::blocked;
    if (result.blocked) {
        result.dims = desc.get_dims();
        result.padded = desc.get_padded_dims();
        result.strides = desc.get_strides();
        result.blocks = desc.get_inner_blks();
        result.axes = desc.get_inner_idxs();
    }
    return result;
}

void append_relu(dnnl::post_ops& ops) { ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f); }

#else

Blocking blocking_of(const Desc& desc) {
    Blocking result;
    const auto& data = desc.data;
    // Winograd weights of inference carry extra flags; they are nothing that we could reorder a gradient to.
    result.blocked = data.format_kind == dnnl_blocked && data.extra.flags == dnnl_memory_extra_flag_none;
    if (result.blocked) {
        const auto& blocking = data.format_desc.blocking;
        result.dims.assign(data.dims, data.dims + data.ndims);
        result.padded.assign(data.padded_dims, data.padded_dims + data.ndims);
        result.strides.assign(blocking.strides, blocking.strides + data.ndims);
        result.blocks.assign(blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks);
        result.axes.assign(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks);
    }
    return result;
}

void append_relu(dnnl::post_ops& ops) { ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f); }

#endif

dnnl::primitive_attr attributes_with_user_scratchpad() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

[[noreturn]] void rethrow(const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) {
        throw OutOfMemory("oneDNN could not allocate memory. Use a smaller batch or close other programs.");
    }
    throw DeviceError(std::string("oneDNN failed: ") + error.what() +
                      ". This is a fault of the program; please report it.");
}

template <class F>
auto guarded(F&& body) -> decltype(body()) {
    try {
        return body();
    } catch (const dnnl::error& error) {
        rethrow(error);
    }
}

dnnl::memory memory_at(const Desc& desc, void* address) { return {desc, engine(), address}; }

} // namespace

DescriptionPtr activation(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t block) {
    Tag tag = Tag::undef;
    if (block == 1) {
        tag = Tag::nchw;
    } else if (block == 16) {
        tag = Tag::nChw16c;
    } else if (block == 8) {
        tag = Tag::nChw8c;
    } else if (block == c) {
        tag = Tag::nhwc;
    } else {
        return nullptr;
    }
    // One block of 8 or 16 that has all channels is channels last; the library knows more of that one.
    if (block == c && block > 1 && block != 16) {
        tag = Tag::nhwc;
    }
    return guarded([&] { return describe(Desc({n, c, h, w}, Type::f32, tag)); });
}

DescriptionPtr row_major(std::span<const std::int64_t> extents) {
    constexpr Tag tags[] = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde, Tag::abcdef};
    return guarded(
        [&] { return describe(Desc(Dims(extents.begin(), extents.end()), Type::f32, tags[extents.size()])); });
}

std::vector<std::int64_t> extents(const Description& description) { return blocking_of(description.desc).dims; }

std::size_t bytes(const Description& description) { return description.desc.get_size(); }

bool equal(const Description& a, const Description& b) { return a.desc == b.desc; }

std::string key(const Description& description) {
    const Blocking blocking = blocking_of(description.desc);
    std::string text = "onednn";
    const auto append = [&text](const char* name, const Dims& values) {
        text += name;
        for (const auto value : values) {
            text += std::to_string(value) + ',';
        }
    };
    append(" dims ", blocking.dims);
    append(" padded ", blocking.padded);
    append(" strides ", blocking.strides);
    append(" blocks ", blocking.blocks);
    append(" of ", blocking.axes);
    return text;
}

bool is_row_major(const Description& description) {
    const Blocking blocking = blocking_of(description.desc);
    if (!blocking.blocked || !blocking.blocks.empty() || blocking.dims != blocking.padded) {
        return false;
    }
    std::int64_t stride = 1;
    for (std::size_t i = blocking.dims.size(); i-- > 0;) {
        if (blocking.dims[i] != 1 && blocking.strides[i] != stride) {
            return false;
        }
        stride *= blocking.dims[i];
    }
    return true;
}

struct Reorder::State {
    dnnl::reorder::primitive_desc desc;
    dnnl::reorder primitive;
    std::unordered_map<int, dnnl::memory> arguments;
};

Reorder::Reorder(const DescriptionPtr& from, const DescriptionPtr& to) : state_(std::make_unique<State>()) {
    guarded([&] {
        state_->desc =
            dnnl::reorder::primitive_desc(engine(), from->desc, engine(), to->desc, attributes_with_user_scratchpad());
        state_->primitive = dnnl::reorder(state_->desc);
    });
}

Reorder::~Reorder() = default;

std::size_t Reorder::workspace() const { return state_->desc.scratchpad_desc().get_size(); }

void Reorder::bind(const void* from, void* to, void* workspace) {
    guarded([&] {
        state_->arguments = {{DNNL_ARG_FROM, memory_at(state_->desc.src_desc(), const_cast<void*>(from))},
                             {DNNL_ARG_TO, memory_at(state_->desc.dst_desc(), to)},
                             {DNNL_ARG_SCRATCHPAD, memory_at(state_->desc.scratchpad_desc(), workspace)}};
    });
}

void Reorder::run() {
    guarded([&] {
        state_->primitive.execute(stream(), state_->arguments);
        stream().wait();
    });
}

struct Convolution::State {
    Problem problem;
    std::string name;
    Desc x, y, bias, scratchpad;
    DescriptionPtr weights;
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
};

namespace {

/// The constructors differ between the versions only in where the engine and the attributes stand.
#if DNNL_VERSION_MAJOR >= 3

template <class PrimitiveDesc, class... Arguments>
PrimitiveDesc make_forward(const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
    return PrimitiveDesc(engine(), arguments..., attributes);
}

template <class PrimitiveDesc, class... Arguments>
PrimitiveDesc make_gradient(const dnnl::convolution_forward::primitive_desc& hint,
                            const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
    return PrimitiveDesc(engine(), arguments..., hint, attributes);
}

#else

template <class PrimitiveDesc, class... Arguments>
PrimitiveDesc make_forward(const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
    return PrimitiveDesc({arguments...}, attributes, engine());
}

template <class PrimitiveDesc, class... Arguments>
PrimitiveDesc make_gradient(const dnnl::convolution_forward::primitive_desc& hint,
                            const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
    return PrimitiveDesc({arguments...}, attributes, engine(), hint);
}

#endif

Dims pair_of(const std::array<std::int64_t, 2>& pair) { return {pair[0], pair[1]}; }

/// Padding behind the last row or column: what the output's extent leaves of it.
Dims trailing_padding(const Problem& p) {
    const auto one = [](std::int64_t in, std::int64_t out, std::int64_t k, std::int64_t s, std::int64_t pad,
                        std::int64_t d) { return (out - 1) * s + (k - 1) * d + 1 - in - pad; };
    return {one(p.ih, p.oh, p.kh, p.stride[0], p.padding[0], p.dilation[0]),
            one(p.iw, p.ow, p.kw, p.stride[1], p.padding[1], p.dilation[1])};
}

} // namespace

Convolution::Convolution() : state_(std::make_unique<State>()) {}
Convolution::~Convolution() = default;

std::unique_ptr<Convolution> Convolution::create(const Problem& p, std::int64_t x_block, std::int64_t y_block,
                                                 const DescriptionPtr& weights) {
    const DescriptionPtr x = activation(p.n, p.ic, p.ih, p.iw, x_block);
    const DescriptionPtr y = activation(p.n, p.oc, p.oh, p.ow, y_block);
    if (x == nullptr || y == nullptr) {
        return nullptr;
    }
    const Dims weight_dims =
        p.groups == 1 ? Dims{p.oc, p.ic, p.kh, p.kw} : Dims{p.groups, p.oc / p.groups, p.ic / p.groups, p.kh, p.kw};
    const Dims stride = pair_of(p.stride);
    const Dims before = pair_of(p.padding);
    const Dims after = trailing_padding(p);
    const Dims dilation{p.dilation[0] - 1, p.dilation[1] - 1};
    const auto algorithm = p.algorithm == Algorithm::winograd ? dnnl::algorithm::convolution_winograd
                                                              : dnnl::algorithm::convolution_direct;

    dnnl::primitive_attr attributes = attributes_with_user_scratchpad();
    if (p.relu) {
        dnnl::post_ops ops;
        append_relu(ops);
        attributes.set_post_ops(ops);
    }

    std::unique_ptr<Convolution> result(new Convolution);
    State& state = *result->state_;
    state.problem = p;
    state.x = x->desc;
    state.y = y->desc;
    const auto take = [&state](const auto& desc, const Desc& chosen_weights) {
        state.weights = describe(chosen_weights);
        state.scratchpad = desc.scratchpad_desc();
        state.name = desc.impl_info_str();
    };
    try {
        const Desc w = weights ? weights->desc : Desc(weight_dims, Type::f32, Tag::any);
        const Desc any_w(weight_dims, Type::f32, Tag::any);
        using Forward = dnnl::convolution_forward::primitive_desc;
        if (p.direction == Direction::forward) {
            Forward desc;
            if (p.bias) {
                state.bias = Desc(Dims{p.oc}, Type::f32, Tag::a);
                desc = make_forward<Forward>(attributes, dnnl::prop_kind::forward_training, algorithm, state.x, w,
                                             state.bias, state.y, stride, dilation, before, after);
            } else {
                desc = make_forward<Forward>(attributes, dnnl::prop_kind::forward_training, algorithm, state.x, w,
                                             state.y, stride, dilation, before, after);
            }
            take(desc, desc.weights_desc());
            state.primitive = dnnl::convolution_forward(desc);
        } else {
            const Forward hint = make_forward<Forward>(attributes, dnnl::prop_kind::forward_training, algorithm,
                                                       state.x, any_w, state.y, stride, dilation, before, after);
            if (p.direction == Direction::input_gradient) {
                using Gradient = dnnl::convolution_backward_data::primitive_desc;
                const auto desc = make_gradient<Gradient>(hint, attributes, algorithm, state.x, w, state.y, stride,
                                                          dilation, before, after);
                take(desc, desc.weights_desc());
                state.primitive = dnnl::convolution_backward_data(desc);
            } else {
                using Gradient = dnnl::convolution_backward_weights::primitive_desc;
                const auto desc = make_gradient<Gradient>(hint, attributes, algorithm, state.x, w, state.y, stride,
                                                          dilation, before, after);
                take(desc, desc.diff_weights_desc());
                state.primitive = dnnl::convolution_backward_weights(desc);
            }
        }
    } catch (const dnnl::error& error) {
        if (error.status == dnnl_out_of_memory) {
            rethrow(error);
        }
        return nullptr;
    }
    return blocking_of(state.weights->desc).blocked ? std::move(result) : nullptr;
}

const DescriptionPtr& Convolution::weights() const { return state_->weights; }

std::size_t Convolution::workspace() const { return state_->scratchpad.get_size(); }

std::string Convolution::name() const { return state_->name; }

bool Convolution::fast() const {
    const std::string& name = state_->name;
    return (name.starts_with("jit") || name.starts_with("brg")) && name.find("uni_dw") == std::string::npos;
}

void Convolution::bind(void* x, void* w, void* bias, void* y, void* workspace) {
    const State& s = *state_;
    int x_role = DNNL_ARG_SRC, w_role = DNNL_ARG_WEIGHTS, y_role = DNNL_ARG_DST;
    if (s.problem.direction == Direction::input_gradient) {
        x_role = DNNL_ARG_DIFF_SRC;
        y_role = DNNL_ARG_DIFF_DST;
    } else if (s.problem.direction == Direction::weight_gradient) {
        w_role = DNNL_ARG_DIFF_WEIGHTS;
        y_role = DNNL_ARG_DIFF_DST;
    }
    guarded([&] {
        state_->arguments = {{x_role, memory_at(s.x, x)},
                             {w_role, memory_at(s.weights->desc, w)},
                             {y_role, memory_at(s.y, y)},
                             {DNNL_ARG_SCRATCHPAD, memory_at(s.scratchpad, workspace)}};
        if (s.problem.bias) {
            state_->arguments.emplace(DNNL_ARG_BIAS, memory_at(s.bias, bias));
        }
    });
}

void Convolution::run() {
    guarded([&] {
        state_->primitive.execute(stream(), state_->arguments);
        stream().wait();
    });
}

void trim_cache() {
    guarded([] {
        const int capacity = dnnl::get_primitive_cache_capacity();
        dnnl::set_primitive_cache_capacity(0);
        dnnl::set_primitive_cache_capacity(capacity);
    });
}

std::string version() {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' + std::to_string(version->patch);
}

} // namespace espalier::cpu::onednn
