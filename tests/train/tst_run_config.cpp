// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "train/run_config.h"

#include <QtTest>
#include <algorithm>

using namespace espalier;

namespace {

/// The text of the ConfigError that reading `json` throws; empty if it throws none.
std::string refusal(const Json& json) {
    try {
        (void)RunConfig::from_json(json);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestRunConfig : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { register_all_networks(); }
    void json_goes_round();
    void an_error_names_key_limit_and_value_data();
    void an_error_names_key_limit_and_value();
    void settings_go_in_by_path();
    void bad_assignments_are_refused_data();
    void bad_assignments_are_refused();
    void merging_lays_objects_over_objects();
    void every_preset_can_be_used_or_says_why_not();
    void plain_presets_have_the_published_recipe();
    void an_unknown_preset_lists_the_known();
};

void TestRunConfig::json_goes_round() {
    Json json = preset("train-medium");
    set_by_path(json, "seed=18446744073709551615");
    set_by_path(json, "optimizer.kind=adamw");
    set_by_path(json, "schedule.step_epochs=[1,2.5]");
    set_by_path(json, "toggles.safe_mode=true");
    const Json once = RunConfig::from_json(json).to_json();
    const Json twice = RunConfig::from_json(Json::parse(once.dump())).to_json();
    QCOMPARE(once.dump(), twice.dump());
    QCOMPARE(once["seed"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
    QCOMPARE(once["optimizer"]["kind"].get<std::string>(), std::string("adamw"));
    QVERIFY(once["toggles"]["safe_mode"].get<bool>());
}

void TestRunConfig::an_error_names_key_limit_and_value_data() {
    QTest::addColumn<QByteArray>("assignment");
    QTest::addColumn<QList<QByteArray>>("parts");
    const auto row = [](const char* name, const char* assignment, QList<QByteArray> parts) {
        QTest::newRow(name) << QByteArray(assignment) << parts;
    };
    row("unknown key", "epohcs=3", {"'epohcs'", "epochs"});
    row("unknown nested key", "optimizer.lr=3", {"'optimizer.lr'", "learning_rate"});
    row("text for number", "batch=many", {"'batch'", "whole number", "many"});
    row("fraction for whole number", "epochs=1.5", {"'epochs'", "whole number", "1.5"});
    row("below", "batch=0", {"'batch'", "1", "65536", "0"});
    row("above", "label_smoothing=1.5", {"'label_smoothing'", "0.99", "1.5"});
    row("above what 64 bits hold", "epochs=99999999999999999999", {"'epochs'"});
    row("negative seed", "seed=-1", {"'seed'", "-1"});
    row("word", "schedule.kind=triangle", {"'schedule.kind'", "cosine", "triangle"});
    row("flag", "toggles.safe_mode=1", {"'toggles.safe_mode'", "true or false", "1"});
    row("keep below two", "checkpoint.keep=1", {"'checkpoint.keep'", "2", "1"});
    row("group for value", "optimizer=3", {"'optimizer'", "object", "3"});
    row("list that descends", "schedule.step_epochs=[3,2]", {"'schedule.step_epochs'", "ascend", "[3,2]"});
    row("bytes that are not UTF-8", "data=folder:/caf\xe9", {"'data'", "UTF-8"});
    row("nesterov without momentum", "optimizer={\"nesterov\":true,\"momentum\":0}", {"nesterov", "momentum"});
}

void TestRunConfig::an_error_names_key_limit_and_value() {
    QFETCH(QByteArray, assignment);
    QFETCH(QList<QByteArray>, parts);
    Json json = Json::object();
    set_by_path(json, assignment.toStdString());
    const std::string text = refusal(json);
    QVERIFY(!text.empty());
    for (const auto& part : parts)
        QVERIFY2(text.find(part.toStdString()) != std::string::npos, text.c_str());
}

void TestRunConfig::settings_go_in_by_path() {
    Json json = Json::object();
    set_by_path(json, "epochs=3");
    set_by_path(json, "data=idx:/tmp/a=b");
    set_by_path(json, "optimizer.learning_rate=0.05");
    set_by_path(json, "optimizer.nesterov=true");
    QCOMPARE(json["epochs"], Json(3));
    QCOMPARE(json["data"], Json("idx:/tmp/a=b"));
    QCOMPARE(json["optimizer"], (Json{{"learning_rate", 0.05}, {"nesterov", true}}));
}

void TestRunConfig::bad_assignments_are_refused_data() {
    QTest::addColumn<QByteArray>("assignment");
    for (const char* each : {"", "=", "=3", "epochs", ".a=1", "a.=1", "batch.size=1"})
        QTest::newRow(each) << QByteArray(each);
}

void TestRunConfig::bad_assignments_are_refused() {
    QFETCH(QByteArray, assignment);
    Json json{{"batch", 64}};
    QVERIFY_EXCEPTION_THROWN(set_by_path(json, assignment.toStdString()), ConfigError);
    QCOMPARE(json["batch"], Json(64));
}

void TestRunConfig::merging_lays_objects_over_objects() {
    const Json base{{"a", 1}, {"b", {{"c", 2}, {"d", {3, 4}}}}};
    const Json over{{"b", {{"d", {5}}, {"e", 6}}}};
    QCOMPARE(merged(base, over), (Json{{"a", 1}, {"b", {{"c", 2}, {"d", {5}}, {"e", 6}}}}));
    const Json resnet{{"network", {{"network", "resnet"}, {"base_width", 16}}}};
    QCOMPARE(merged(resnet, {{"network", {{"network", "quick"}}}})["network"], (Json{{"network", "quick"}}));
    QCOMPARE(merged(resnet, {{"network", {{"network", "resnet"}, {"base_width", 8}}}})["network"]["base_width"],
             Json(8));
}

void TestRunConfig::every_preset_can_be_used_or_says_why_not() {
    const auto names = preset_names();
    QVERIFY(names.size() >= 4);
    for (const auto& name : names) {
        const Json& card = preset_card(name);
        for (const char* key : {"title", "row", "size", "summary"})
            QVERIFY2(!card.at(key).get<std::string>().empty(), name.c_str());
        if (card.at("available").get<bool>()) {
            QCOMPARE(RunConfig::from_json(preset(name)).preset, name);
        } else {
            QVERIFY(!card.at("reason").get<std::string>().empty());
            QVERIFY_EXCEPTION_THROWN((void)preset(name), ConfigError);
        }
    }
}

void TestRunConfig::plain_presets_have_the_published_recipe() {
    const auto small = RunConfig::from_json(preset("train-small"));
    QCOMPARE(small.batch, 64);
    QCOMPARE(small.epochs, 15);
    QCOMPARE(small.image_size, 96);
    QCOMPARE(small.optimizer.weight_decay, 5e-4);
    const auto large = RunConfig::from_json(preset("train-large"));
    QCOMPARE(large.batch, 128);
    QCOMPARE(large.epochs, 60);
    QCOMPARE(large.image_size, 224);
    QCOMPARE(large.label_smoothing, 0.1);
    QCOMPARE(large.schedule.warmup_epochs, 3.0);
    QCOMPARE(large.network.settings["base_width"], Json(64));
    QCOMPARE(large.network.settings["stages"], (Json{2, 2, 2, 2}));
}

void TestRunConfig::an_unknown_preset_lists_the_known() {
    try {
        (void)preset("tiny");
        QFAIL("no error");
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        for (const auto& name : preset_names())
            QVERIFY(text.find(name) != std::string::npos);
    }
}

QTEST_GUILESS_MAIN(TestRunConfig)
#include "tst_run_config.moc"
