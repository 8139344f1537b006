// SPDX-License-Identifier: Apache-2.0
// Cross entropy with class weights against numbers worked out by hand (PyTorch's definition: a weighted mean).
#include "backends/registry.h"
#include "graph/builder.h"
#include "plan/session.h"

#include <QtTest>
#include <cmath>
#include <numbers>

using namespace espalier;

class TestClassWeights : public QObject {
    Q_OBJECT

    const std::vector<float> logits_{1, 2, 0, 0, 0, 0};
    const std::vector<std::int32_t> labels_{0, 2};
    const std::vector<float> weights_{2.0F, 1.0F, 0.5F};

    struct Values {
        double loss = 0;
        std::vector<float> gradient;
    };
    [[nodiscard]] Values compute(const std::string& name, double smoothing) const {
        Graph graph;
        GraphBuilder builder(graph);
        const auto logits = builder.input("logits", {2, 3});
        const auto labels = builder.input("labels", {2}, DType::i32);
        const auto weights = builder.buffer("weights", {3}, {Initializer::Kind::constant, 1.0});
        const Attributes attributes{{"label_smoothing", smoothing}};
        const auto scored = builder.apply("cross_entropy", {logits, labels, weights}, attributes);
        const auto gloss = builder.input("gloss", {1});
        const auto gradient =
            builder.apply_one("cross_entropy_gradient", {scored[1], labels, gloss, weights}, attributes);
        graph.keep(scored[0]);
        graph.keep(gradient);
        const auto backend = make_backend(name, {});
        Session session(*backend, {});
        auto& plan = session.plan("loss", graph);
        session.set("weights", weights_);
        const float one = 1;
        plan.set_input("logits", logits_.data(), logits_.size() * sizeof(float));
        plan.set_input("labels", labels_.data(), labels_.size() * sizeof(std::int32_t));
        plan.set_input("gloss", &one, sizeof one);
        plan.run();
        return {plan.read(scored[0])[0], plan.read(gradient)};
    }

private Q_SLOTS:
    void loss_and_gradient_are_the_weighted_mean_data() {
        QTest::addColumn<QString>("backend");
        for (const char* name : {"reference", "cpu"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void loss_and_gradient_are_the_weighted_mean() {
        QFETCH(const QString, backend);
        const double e = std::numbers::e, sum = e + e * e + 1;
        {
            const auto [loss, gradient] = compute(backend.toStdString(), 0);
            // Labels 0 and 2 with weights 2 and 1/2: divided by 2.5, not by the number of images.
            const double expected = (2 * (std::log(sum) - 1) + 0.5 * std::log(3.0)) / 2.5;
            QVERIFY2(std::abs(loss - expected) < 1e-6, qPrintable(QString::number(loss, 'g', 9)));
            const std::array<double, 6> slopes{2 * (e / sum - 1) / 2.5, 2 * e * e / sum / 2.5,
                                               2 / sum / 2.5,           0.5 / 3 / 2.5,
                                               0.5 / 3 / 2.5,           0.5 * (1.0 / 3 - 1) / 2.5};
            for (std::size_t i = 0; i < slopes.size(); ++i)
                QVERIFY2(std::abs(static_cast<double>(gradient[i]) - slopes[i]) < 1e-6, qPrintable(QString::number(i)));
        }
        {
            // With smoothing 0.3 each class has a target of 0.1, weighted with its own weight; the label 0.7 more.
            const auto [loss, gradient] = compute(backend.toStdString(), 0.3);
            const double log_sum = std::log(sum);
            const double first =
                0.7 * 2 * (log_sum - 1) + 0.1 * (2 * (log_sum - 1) + 1 * (log_sum - 2) + 0.5 * log_sum);
            const double second = 0.7 * 0.5 * std::log(3.0) + 0.1 * 3.5 * std::log(3.0);
            QVERIFY2(std::abs(loss - (first + second) / 2.5) < 1e-6, qPrintable(QString::number(loss, 'g', 9)));
            const double whole = 0.7 * 2 + 0.1 * 3.5; // of the first image's weighted targets
            QVERIFY(std::abs(static_cast<double>(gradient[0]) - (whole * e / sum - (0.7 * 2 + 0.1 * 2)) / 2.5) < 1e-6);
            QVERIFY(std::abs(static_cast<double>(gradient[1]) - (whole * e * e / sum - 0.1) / 2.5) < 1e-6);
        }
    }
};

QTEST_GUILESS_MAIN(TestClassWeights)
#include "tst_class_weights.moc"
