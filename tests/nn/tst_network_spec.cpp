// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "nn/network_spec.h"

#include <QtTest>

using namespace espalier;

class TestNetworkSpec : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void fills_in_defaults_and_survives_json() {
        for (const char* name : {"quick", "resnet", "supernet", "genotype", "growing"}) {
            const NetworkSpec spec = NetworkSpec::from_json({{"network", name}, {"classes", 7}});
            QVERIFY2(!spec.settings.empty(), name);
            const Json json = spec.to_json();
            QCOMPARE(json.at("classes").get<int>(), 7);
            QVERIFY2(NetworkSpec::from_json(Json::parse(json.dump())).to_json() == json, name);
        }
        const Json growing =
            Json::parse(R"({"network": "growing", "channels": 3, "height": 32, "width": 32, "classes": 10, "stem": 16,
            "blocks": [{"width": 16, "stride": 1, "residual": true, "branches": [{"width": 8}]}]})");
        QVERIFY(NetworkSpec::from_json(growing).to_json() == growing);
    }

    void refuses_data() {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* json, const char* text) { QTest::newRow(json) << json << text; };
        row(R"([])", "object");
        row(R"({"network": "resnet19"})", "Known are: quick, resnet, supernet, genotype, growing");
        row(R"({"network": 3})", "network.network");
        row(R"({"network": "resnet", "bas_width": 8})", "bas_width");
        row(R"({"network": "resnet", "base_width": 0})", "between 1 and");
        row(R"({"network": "resnet", "base_width": 1.5})", "whole number");
        row(R"({"network": "resnet", "stages": []})", "elements");
        row(R"({"network": "resnet", "stages": [2, -1]})", "network.stages");
        row(R"({"network": "resnet", "channels": 0})", "network.channels");
        row(R"({"network": "quick", "widths": [1,1,1,1,1,1,1,1,1]})", "elements");
        row(R"({"network": "supernet", "ops": ["sep_conv_9x9"]})", "sep_conv_9x9");
        row(R"({"network": "supernet", "ops": ["none"]})", "besides none");
        row(R"({"network": "supernet", "ops": ["skip_connect", "skip_connect"]})", "twice");
        row(R"({"network": "genotype", "normal": [["skip_connect", 0], ["skip_connect", 1]]})", "both or none");
        row(R"({"network": "genotype", "normal": [["skip_connect", 0]], "reduce": [["skip_connect", 0], ["skip_connect", 1]]})",
            "two");
        row(R"({"network": "genotype", "normal": [["skip_connect", 0], ["skip_connect", 2]], "reduce": [["skip_connect", 0], ["skip_connect", 1]]})",
            "between 0 and 1");
        row(R"({"network": "growing", "blocks": []})", "network.blocks");
        row(R"({"network": "growing", "blocks": [{"width": 32, "kernel": 5}]})", "network.blocks.0.kernel");
        row(R"({"network": "growing", "blocks": [{"width": 33, "residual": true}]})", "its input, 32");
        row(R"({"network": "growing", "blocks": [{"width": 32, "branches": [{"width": 0}]}]})",
            "network.blocks.0.branches.0.width");
    }

    void refuses() {
        QFETCH(QString, json);
        QFETCH(QString, text);
        try {
            (void)NetworkSpec::from_json(Json::parse(json.toStdString()));
            QFAIL("accepted");
        } catch (const ConfigError& error) {
            QVERIFY2(QString(error.what()).contains(text), error.what());
        }
    }

    void a_name_is_registered_once() {
        register_all_networks();
        const NetworkDefinition again = NetworkRegistry::instance().find("quick");
        QVERIFY_EXCEPTION_THROWN(NetworkRegistry::instance().add(again), ConfigError);
    }
};

QTEST_GUILESS_MAIN(TestNetworkSpec)
#include "tst_network_spec.moc"
