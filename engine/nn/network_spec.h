// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "graph/builder.h"

#include <functional>
#include <string>
#include <vector>

namespace espalier {

/// A network as data: the name of its builder and that builder's own settings. `channels`, `height`, `width` and
/// `classes` come from the data set. JSON:
///   {"network": "resnet", "base_width": 64, "stages": [2,2,2,2], "channels": 3, "height": 32, "width": 32, "classes":
///   10}
struct NetworkSpec {
    std::string network;
    std::int64_t channels = 3;
    std::int64_t height = 32;
    std::int64_t width = 32;
    std::int64_t classes = 10;
    Json settings = Json::object(); ///< everything that the builder reads itself; complete after from_json()

    [[nodiscard]] Json to_json() const;
    /// Throws ConfigError for an unknown network, an unknown key or a value outside of its limits.
    static NetworkSpec from_json(const Json& json);
};

/// Whether batch norm uses the batch's statistics and moves the running ones.
enum class NormMode {
    training,              ///< batch statistics, running statistics move
    training_frozen_stats, ///< batch statistics, running ones stay (architecture steps)
    inference,             ///< running statistics
};

/// Builds the forward ops of a network in `builder` from images [N,C,H,W] to logits [N,classes].
using NetworkBuilder =
    std::function<TensorId(GraphBuilder& builder, const NetworkSpec& spec, TensorId images, NormMode mode)>;

struct NetworkDefinition {
    std::string name; ///< "quick", "resnet", "supernet", "genotype", "growing"
    NetworkBuilder build;
    /// The builder's settings with every default filled in. Throws ConfigError for an unknown key or a value outside of
    /// its limits.
    std::function<Json(const Json& settings)> complete;
};

class NetworkRegistry {
public:
    static NetworkRegistry& instance();
    void add(NetworkDefinition definition); ///< throws ConfigError if the name is taken
    [[nodiscard]] const NetworkDefinition& find(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> names() const;

private:
    std::vector<NetworkDefinition> definitions_;
};

/// Fills the registry with the engine's own networks; further calls do nothing. The functions of this header call it.
void register_all_networks();

/// The cross entropy at the end of a network.
struct LossSettings {
    double label_smoothing = 0;
    bool class_weights = false; ///< weighted by the buffer class_weights_name, [classes], from 1 each
};
inline constexpr const char* class_weights_name = "class_weights";

/// The forward graph of a network for a batch: inputs "images" [batch,C,H,W] and "labels" i32 [batch], kept outputs
/// logits, loss, correct.
struct ForwardGraph {
    Graph graph;
    TensorId images = no_tensor, labels = no_tensor, logits = no_tensor, loss = no_tensor, correct = no_tensor;
};
[[nodiscard]] ForwardGraph build_forward(const NetworkSpec& spec, std::int64_t batch, NormMode mode,
                                         const LossSettings& loss = {});

} // namespace espalier
