// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/error.h"
#include "graph/step_block.h"
#include "plan/recording_backend.h"
#include "plan/session.h"
#include "plan/small_network.h"
#include "random_values.h"

#include <QtTest>
#include <cmath>
#include <random>
#include <utility>

using namespace espalier;
using namespace espalier::test;
using namespace espalier::testing;

namespace {

using Fault = RecordingBackend::Fault;

/// A training step of the small network, whose learning rate changes from step to step.
struct Training {
    SmallNetwork network;
    Session session;
    Plan* plan;
    std::int64_t batch;
    bool profiled = false;

    Training(Backend& backend, Session::Options options, std::int64_t images = 3)
        : network(small_network(images, true)), session(backend, options), plan(&session.plan("train", network.graph)),
          batch(images) {
        unsigned seed = 1;
        for (const auto& tensor : network.graph.tensors())
            if (tensor.role == Role::parameter && tensor.initializer.kind != Initializer::Kind::constant)
                session.set(tensor.name, random_values(tensor.shape.count(), seed++, 0.3F));
    }
    float step(int number) {
        std::vector<float> block(step_block::size);
        block[step_block::learning_rate] = 0.1F / static_cast<float>(number);
        block[step_block::loss_scale] = block[step_block::micro_steps] = 1;
        session.set(step_block::name, block);
        const auto images = random_values(batch * 108, static_cast<unsigned>(90 + number), 0.3F);
        std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
        for (std::size_t i = 0; i < labels.size(); ++i)
            labels[i] = static_cast<std::int32_t>((i + static_cast<std::size_t>(number)) % 4);
        plan->set_input("images", images.data(), images.size() * sizeof(float));
        plan->set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
        profiled ? plan->run_profiled() : plan->run();
        return plan->read(network.loss)[0];
    }
    /// Losses of some steps, then every parameter and buffer.
    std::vector<std::vector<float>> after(int steps) {
        std::vector<std::vector<float>> values(1);
        for (int i = 1; i <= steps; ++i)
            values[0].push_back(step(i));
        for (const auto& name : session.names())
            values.push_back(session.get(name));
        return values;
    }
};

} // namespace

/// Steps that are recorded and replayed, without a GPU.
class TestRecording : public QObject {
    Q_OBJECT

    std::unique_ptr<Backend> backend_ = make_backend("cpu", {.threads = 1});
    const std::vector<std::vector<float>> expected_ = Training(*backend_, {}).after(6);

private Q_SLOTS:
    void a_replayed_step_has_the_bits_of_its_kernels_one_by_one() {
        RecordingBackend recording(*backend_);
        Training training(recording, {.deterministic = true});
        QCOMPARE(training.after(6), expected_);
        QVERIFY2(training.session.recording_fault().empty(), training.session.recording_fault().c_str());
        QCOMPARE(recording.recordings(), 1);
        QCOMPARE(recording.replays(), 5); // the first step is not recorded, the second one compared
    }

    void a_recording_that_cannot_be_trusted_is_not_used_data() {
        QTest::addColumn<int>("fault");
        QTest::addColumn<bool>("deterministic");
        QTest::addColumn<QString>("words");
        for (const bool exact : {false, true}) {
            const std::string end = exact ? ", exact" : "";
            QTest::newRow(("wrong values" + end).c_str())
                << static_cast<int>(Fault::leaves_out_the_last) << exact << "leaves other values in '";
            QTest::newRow(("cannot be recorded" + end).c_str())
                << static_cast<int>(Fault::cannot_record) << exact << "could not be recorded: This recording";
            QTest::newRow(("fails" + end).c_str())
                << static_cast<int>(Fault::fails_when_replayed) << exact << "failed: This replay";
        }
    }
    void a_recording_that_cannot_be_trusted_is_not_used() {
        QFETCH(int, fault);
        QFETCH(bool, deterministic);
        QFETCH(QString, words);
        RecordingBackend recording(*backend_, static_cast<Fault>(fault));
        Training training(recording, {.deterministic = deterministic});
        // Every step counts once, the one in which the fault is found too.
        QCOMPARE(training.after(6), expected_);
        const auto reason = QString::fromStdString(training.session.recording_fault());
        QVERIFY2(reason.contains(words), qPrintable(reason));
        QVERIFY(recording.recordings() <= 1 && recording.replays() <= 1);
    }

    void after_a_fault_no_plan_is_replayed_nor_timed_in_a_recording() {
        RecordingBackend recording(*backend_);
        Training training(recording, {});
        for (int i = 1; i <= 3; ++i)
            training.step(i);
        training.plan->run_profiled();
        QCOMPARE(recording.timed(), 1);
        QCOMPARE(recording.alive(), 1);
        recording.after_replay = [] { throw DeviceError("This replay was made to fail."); };
        // A plan of the same arena, so that the first one stays bound.
        auto& other = training.session.plan("other", training.network.graph);
        const auto& first = *std::exchange(training.plan, &other);
        training.step(4);
        training.step(5); // is recorded, and fails
        QVERIFY(!training.session.recording_fault().empty());
        QCOMPARE(recording.alive(), 0);
        training.plan->run_profiled();
        QCOMPARE(recording.timed(), 1);
        QVERIFY(first.ops()[0].milliseconds > 0 && other.ops()[0].milliseconds > 0);
    }

    /// The first step of a plan too: what cannot be recorded yet, or for want of memory, is no fault of the device.
    void a_step_that_cannot_be_timed_in_a_recording_is_timed_kernel_by_kernel() {
        RecordingBackend recording(*backend_, Fault::cannot_record);
        Training training(recording, {}), plain(*backend_, {});
        for (auto* one : {&training, &plain})
            one->profiled = true;
        QCOMPARE(training.after(2), plain.after(2));
        for (const auto& op : training.plan->ops())
            QVERIFY2(op.milliseconds > 0, op.kind.c_str());
        QVERIFY(!training.plan->launched_as_one());
    }

    /// Who is to blame for a device error: all kernels of a replay, or those up to the one launched last.
    void the_plan_tells_how_it_was_launched() {
        RecordingBackend recording(*backend_);
        Training training(recording, {});
        training.step(1);
        QVERIFY(!training.plan->launched_as_one());
        training.step(2); // compared, and done kernel by kernel at last
        QVERIFY(!training.plan->launched_as_one());
        training.step(3);
        QVERIFY(training.plan->launched_as_one());
        training.plan->run_profiled(); // in a recording, too
        QVERIFY(training.plan->launched_as_one());

        Training plain(*backend_, {});
        plain.step(1);
        std::size_t asked = 0;
        QVERIFY(!plain.plan->run_profiled([&] { return ++asked == 3; }));
        QVERIFY(!plain.plan->launched_as_one());
        QCOMPARE(plain.plan->launched(), std::size_t{2});
    }

    void nothing_is_recorded_where_that_is_turned_off() {
        RecordingBackend recording(*backend_);
        QCOMPARE(Training(recording, {.recorded = false}).after(6), expected_);
        QCOMPARE(recording.recordings(), 0);
    }

    /// A replay writes where the one before has written: what was read of that one must not change.
    void results_outlive_the_next_replay() {
        RecordingBackend recording(*backend_);
        Training training(recording, {});
        for (int i = 1; i <= 3; ++i)
            training.step(i);
        const auto third = training.plan->read(training.network.logits);
        training.session.begin_get("classifier.weight");
        const auto weight = training.session.get("classifier.weight");
        training.step(4);
        QVERIFY(training.plan->read(training.network.logits) != third);
        for (int question = 1; question <= 2; ++question)
            QVERIFY(!training.session.finish_get("classifier.weight")); // still on its way
        QCOMPARE(training.session.finish_get("classifier.weight").value(), weight);
        QVERIFY(training.session.get("classifier.weight") != weight);
    }

    void each_plan_is_compared_and_again_when_memory_moves() {
        RecordingBackend recording(*backend_);
        Training training(recording, {.deterministic = true});
        for (int i = 1; i <= 4; ++i)
            training.step(i);
        QCOMPARE(recording.recordings(), 1);
        // A larger plan moves the arena; the first one is bound again, warmed up and recorded anew.
        const auto large = small_network(60, false);
        training.session.plan("evaluate", large.graph);
        for (int i = 5; i <= 8; ++i)
            training.step(i);
        QCOMPARE(recording.recordings(), 2);
        Training plain(*backend_, {});
        for (int i = 1; i <= 7; ++i)
            plain.step(i);
        QCOMPARE(training.plan->read(training.network.loss)[0], plain.step(8));
    }
};

QTEST_GUILESS_MAIN(TestRecording)
#include "tst_recording.moc"
