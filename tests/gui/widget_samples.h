// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "layer_table.h"
#include "network_tree.h"
#include "preset_gallery.h"
#include "run_entry.h"
#include "toggle_list.h"

// Made-up data for the gallery of widgets, with what is hard to show in it: long names, unknown numbers, refusals.
namespace espalier::test {

std::vector<PresetEntry> sample_presets();
std::vector<LayerRow> sample_layers();     ///< the last one not timed yet
std::vector<NetworkNode> sample_network(); ///< a stem, two residual blocks and a head
std::vector<RunEntry> sample_queue();
std::vector<ToggleList::Item> sample_toggles(); ///< one of them changed by the engine

} // namespace espalier::test
