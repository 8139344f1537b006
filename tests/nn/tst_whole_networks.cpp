// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "nn/network_spec.h"
#include "nn/whole_network.h"

#include <QtTest>
#include <filesystem>

using namespace espalier;

class TestWholeNetworks : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { register_all_backends(); }

    void three_steps_as_the_reference_takes_them_data() {
        QTest::addColumn<QString>("fixture");
        QTest::addColumn<QString>("backend");
        QTest::addColumn<bool>("passes");
        for (const char* backend : {"reference", "cpu"}) {
            for (const char* fixture : {"growing", "grown", "resnet", "genotype", "supernet", "supernet8"}) {
                for (const bool passes : {false, true}) {
                    QTest::addRow("%s, %s, passes %s", fixture, backend, passes ? "on" : "off")
                        << fixture << backend << passes;
                }
            }
        }
    }

    void three_steps_as_the_reference_takes_them() {
        QFETCH(QString, fixture);
        QFETCH(QString, backend);
        QFETCH(bool, passes);
        Toggles toggles;
        toggles.fused = toggles.share = toggles.recompute = passes;
        const std::filesystem::path folder =
            qEnvironmentVariable("ESPALIER_FIXTURES", ESPALIER_FIXTURE_DIR).toStdString();
        const auto device = make_backend(backend.toStdString(), {});
        const safetensors::Reader reader(std::filesystem::path(ESPALIER_FIXTURE_DIR) /
                                         (fixture.toStdString() + ".safetensors"));
        const WholeNetworkErrors errors = run_whole_network(reader, *device, toggles);
        qInfo(
            "loss %.1e %.1e %.1e, of the allowed: logits %.3f, gradients %.3f (%s), parameters %.3f (%s); %zu tensors",
            errors.loss[0], errors.loss[1], errors.loss[2], errors.logits.share, errors.gradient.share,
            errors.gradient.name.c_str(), errors.parameter.share, errors.parameter.name.c_str(), errors.compared);
        const auto held = std::ranges::count_if(reader.entries(), [](const safetensors::Entry& entry) {
            return entry.name.starts_with("grad/") || entry.name.starts_with("after3/");
        });
        QCOMPARE(errors.compared, static_cast<std::size_t>(held));
        QVERIFY(errors.loss[0] <= 1e-5 && errors.loss[1] <= 1e-5 && errors.loss[2] <= 1e-4);
        QVERIFY(errors.logits.share <= 1 && errors.gradient.share <= 1 && errors.parameter.share <= 1);
    }
};

QTEST_GUILESS_MAIN(TestWholeNetworks)
#include "tst_whole_networks.moc"
