// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the nodes that the engine tells of a network: quick, resnet (20 layers), growing, supernet, or genotype (of
// more than 2,000 layers). A program of its own: engine and window have classes of the same names, and are never linked
// together.
#include "train/network_nodes.h"

#include <cstdio>

using namespace espalier;

namespace {

Json spec_of(const std::string& name) {
    if (name == "quick")
        return {{"network", "quick"}, {"widths", {8, 16}}};
    if (name == "resnet")
        return {{"network", "resnet"}, {"base_width", 16}, {"stages", {3, 3, 3}}};
    if (name == "genotype")
        return {{"network", "genotype"}, {"init_channels", 1}, {"layers", 100}};
    if (name == "supernet")
        return {{"network", "supernet"}, {"init_channels", 2}, {"layers", 4}};
    return {{"network", "growing"},
            {"stem", 8},
            {"blocks",
             {{{"width", 8}, {"stride", 1}, {"residual", true}},
              {{"width", 16}, {"stride", 2}, {"branches", {{{"width", 5}}, {{"width", 16}}}}}}}};
}

} // namespace

int main(int count, char** arguments) {
    const auto spec = NetworkSpec::from_json(spec_of(count > 1 ? arguments[1] : "growing"));
    std::puts(network_nodes(spec, 16).dump().c_str());
}
