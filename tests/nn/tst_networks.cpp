// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"
#include "nn/fixture_spec.h"
#include "nn/parameter_store.h"

#include <QtTest>
#include <filesystem>
#include <set>

using namespace espalier;

namespace {

std::size_t count_ops(const Graph& graph, const std::string& kind) {
    return static_cast<std::size_t>(std::ranges::count_if(graph.ops(), [&](const Op& op) { return op.kind == kind; }));
}

std::size_t count_changed_buffers(const Graph& graph) {
    std::size_t count = 0;
    for (const Op& op : graph.ops()) {
        for (const TensorId output : op.outputs) {
            count += output != no_tensor && graph.tensor(output).role == Role::buffer;
        }
    }
    return count;
}

Json search_network(int channels, int layers) {
    return {{"network", "supernet"}, {"init_channels", channels}, {"layers", layers}};
}

Json classic_search_network(int channels, int layers) {
    Json spec = search_network(channels, layers);
    spec["ops"] = {"none",         "avg_pool_3x3", "max_pool_3x3", "skip_connect",
                   "sep_conv_3x3", "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5"};
    return spec;
}

Json growing_network_of(int stem, const std::vector<std::pair<int, int>>& widths_and_strides) {
    Json spec = {{"network", "growing"}, {"stem", stem}};
    for (const auto& [width, stride] : widths_and_strides) {
        spec["blocks"].push_back({{"width", width}, {"stride", stride}});
    }
    return spec;
}

} // namespace

class TestNetworks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void have_the_reference_parameters_data() {
        QTest::addColumn<QString>("fixture");
        for (const char* name : {"supernet", "supernet8", "growing", "grown", "resnet", "genotype"}) {
            QTest::newRow(name) << name;
        }
    }

    /// Every parameter and buffer of the reference network is there under its name with its shape, and no other.
    void have_the_reference_parameters() {
        QFETCH(QString, fixture);
        const safetensors::Reader reader(std::filesystem::path(ESPALIER_FIXTURE_DIR) /
                                         (fixture.toStdString() + ".safetensors"));
        const Shape input(reader.at("input").shape);
        const NetworkSpec spec = fixture_spec(Json::parse(reader.metadata().at("attrs")), input);
        const ForwardGraph forward = build_forward(spec, input[0], NormMode::training);
        ParameterStore store;
        store.add_missing(forward.graph, 7);

        const std::string prefix = "before/";
        std::set<std::string> wanted;
        for (const safetensors::Entry& entry : reader.entries()) {
            if (!entry.name.starts_with(prefix)) {
                continue;
            }
            const std::string name = entry.name.substr(prefix.size());
            wanted.insert(name);
            QVERIFY2(store.has(name), name.c_str());
            QVERIFY2(store.at(name).shape == Shape(entry.shape), name.c_str());
            QCOMPARE(store.at(name).trained, reader.has("grad/" + name) || name.starts_with("alpha"));
        }
        for (const ParameterStore::Entry& entry : store.entries()) {
            QVERIFY2(wanted.contains(entry.name), entry.name.c_str());
        }
        QVERIFY(forward.graph.shape(forward.logits) == (Shape{input[0], spec.classes}));
        QVERIFY(forward.graph.shape(forward.loss) == Shape{1});
    }

    void parameter_counts_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<qint64>("count");
        const auto row = [](const char* name, const Json& spec, qint64 count) {
            QTest::newRow(name) << QString::fromStdString(spec.dump()) << count;
        };
        row("search C8 L4", search_network(8, 4), 998'466);
        row("search C20 L12", search_network(20, 12), 12'205'350);
        row("search C28 L16", search_network(28, 16), 33'070'558);
        row("search C8 L4, 8 operations", classic_search_network(8, 4), 347'298);
        row("search C20 L12, 8 operations", classic_search_network(20, 12), 3'910'630);
        row("search C28 L16, 8 operations", classic_search_network(28, 16), 10'322'798);
        row("growing", {{"network", "growing"}}, 66'410);
        row("growing, block 1 widened to 96", growing_network_of(32, {{32, 1}, {96, 2}, {64, 1}}), 94'122);
        row("growing, medium", growing_network_of(32, {{32, 1}, {64, 2}, {64, 1}, {64, 1}}), 103'402);
        row("growing, large", growing_network_of(48, {{48, 1}, {96, 2}, {96, 1}, {192, 2}, {192, 1}, {192, 1}}),
            979'546);
        row("ResNet-18", {{"network", "resnet"}, {"base_width", 64}, {"stages", {2, 2, 2, 2}}}, 11'173'962);
    }

    void parameter_counts() {
        QFETCH(QString, spec);
        QFETCH(qint64, count);
        const NetworkSpec network = NetworkSpec::from_json(Json::parse(spec.toStdString()));
        ParameterStore store;
        store.add_missing(build_forward(network, 2, NormMode::training).graph, 1);
        QCOMPARE(qint64{store.parameter_count()}, count);
    }

    void large_images_get_the_large_stem() {
        Json spec = {{"network", "resnet"}, {"height", 64}, {"width", 64}};
        const Graph small = build_forward(NetworkSpec::from_json(spec), 2, NormMode::training).graph;
        QCOMPARE(count_ops(small, "max_pool2d"), std::size_t{0});
        QVERIFY(small.shape(*small.find("stem.0.weight")) == (Shape{16, 3, 3, 3}));
        spec["width"] = 65;
        const Graph large = build_forward(NetworkSpec::from_json(spec), 2, NormMode::training).graph;
        QCOMPARE(count_ops(large, "max_pool2d"), std::size_t{1});
        QVERIFY(large.shape(*large.find("stem.0.weight")) == (Shape{16, 3, 7, 7}));
    }

    void build_for_any_size_data() {
        QTest::addColumn<QString>("network");
        register_all_networks();
        for (const std::string& name : NetworkRegistry::instance().names()) {
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
        }
    }

    /// Small, odd and rectangular images, down to one pixel.
    void build_for_any_size() {
        QFETCH(QString, network);
        for (const auto& [channels, height, width] : {std::array{1, 1, 1}, {3, 7, 5}, {4, 3, 31}, {1, 70, 9}}) {
            Json spec = {{"network", network.toStdString()},
                         {"channels", channels},
                         {"height", height},
                         {"width", width},
                         {"classes", 3}};
            const ForwardGraph forward = build_forward(NetworkSpec::from_json(spec), 2, NormMode::training);
            QVERIFY(forward.graph.shape(forward.logits) == (Shape{2, 3}));
        }
    }

    void norm_modes() {
        const NetworkSpec spec = NetworkSpec::from_json({{"network", "resnet"}});
        const Graph training = build_forward(spec, 2, NormMode::training).graph;
        const Graph frozen = build_forward(spec, 2, NormMode::training_frozen_stats).graph;
        const Graph inference = build_forward(spec, 2, NormMode::inference).graph;
        const std::size_t norms = count_ops(training, "batch_norm");
        QVERIFY(norms > 0);
        QCOMPARE(count_changed_buffers(training), 2 * norms);
        QCOMPARE(count_ops(frozen, "batch_norm"), norms);
        QCOMPARE(count_changed_buffers(frozen), std::size_t{0});
        QCOMPARE(count_ops(inference, "batch_norm"), std::size_t{0});
        QCOMPARE(count_ops(inference, "batch_norm_inference"), norms);
        QCOMPARE(count_changed_buffers(inference), std::size_t{0});
    }

    void ops_know_their_place() {
        const Graph graph = build_forward(NetworkSpec::from_json(search_network(4, 3)), 2, NormMode::training).graph;
        QCOMPARE(count_ops(graph, "softmax"), std::size_t{2}); // once a table, not once an edge
        QCOMPARE(count_ops(graph, "weighted_sum"), std::size_t{3 * 14});
        for (const Op& op : graph.ops()) {
            if (op.kind == "conv2d") {
                QCOMPARE(op.layer + ".weight", graph.tensor(op.inputs[1]).name);
                QVERIFY2(!op.segment.empty() && op.layer.starts_with(op.segment), op.layer.c_str());
            }
            if (op.kind == "weighted_sum") {
                const std::vector<std::int64_t> all_but_none{1, 2, 3, 4, 5, 6, 7, 8, 9};
                QVERIFY(op.attributes.integers("columns") == all_but_none);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestNetworks)
#include "tst_networks.moc"
