// SPDX-License-Identifier: Apache-2.0
#include "backends/guarded_backend.h"
#include "plan/layout_backend.h"
#include "plan/session.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::testing;

namespace {

/// Adds like LayoutBackend, then does what its attribute "crime" says.
class CriminalBackend final : public LayoutBackend {
    class Criminal final : public Kernel {
    public:
        Criminal(std::unique_ptr<Kernel> kernel, std::string crime, std::size_t output_bytes, std::size_t workspace)
            : kernel_(std::move(kernel)), crime_(std::move(crime)), output_bytes_(output_bytes),
              workspace_bytes_(workspace) {}
        void bind(const Binding& binding) override {
            input_ = binding.inputs[0];
            output_ = binding.outputs[0];
            workspace_ = binding.workspace;
            kernel_->bind(binding);
        }
        void run() override {
            kernel_->run();
            if (crime_ == "output")
                output_[output_bytes_] = std::byte{1};
            else if (crime_ == "input")
                input_[0] ^= std::byte{1};
            else if (crime_ == "workspace")
                workspace_[workspace_bytes_] = std::byte{1};
        }
        [[nodiscard]] std::string name() const override { return "criminal"; }

    private:
        std::unique_ptr<Kernel> kernel_;
        std::string crime_;
        std::size_t output_bytes_, workspace_bytes_;
        std::byte *input_ = nullptr, *output_ = nullptr, *workspace_ = nullptr;
    };

public:
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        auto lowered = LayoutBackend::lower(graph, op, given, given_outputs);
        lowered.kernel = std::make_unique<Criminal>(std::move(lowered.kernel), op.attributes.text("crime"),
                                                    lowered.outputs[0].bytes, lowered.workspace);
        return lowered;
    }
};

} // namespace

class GuardedBackendTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void every_crime_is_seen_data() {
        QTest::addColumn<QString>("crime");
        QTest::addColumn<QString>("fault");
        QTest::newRow("none") << ""
                              << "";
        QTest::newRow("beyond the output") << "output"
                                           << "wrote beyond an output of 20 bytes";
        QTest::newRow("into an input") << "input"
                                       << "changed its input 0";
        QTest::newRow("beyond the workspace") << "workspace"
                                              << "wrote beyond its workspace of 100 bytes";
    }
    void every_crime_is_seen() {
        QFETCH(QString, crime);
        QFETCH(QString, fault);
        Graph graph;
        const auto x = graph.add_tensor({"x", {5}, DType::f32, Role::input, {}});
        const auto y = graph.add_tensor({"", {5}, DType::f32, Role::activation, {}});
        graph.add_op({"add", {{"crime", crime.toStdString()}, {"workspace", std::int64_t{100}}}, {x}, {y}});
        graph.keep(y);
        CriminalBackend backend;
        GuardedBackend guarded(backend);
        Session session(guarded, {.poison = true});
        auto& plan = session.plan("", graph);
        const std::vector<float> values{1, 2, 3, 4, 5};
        plan.set_input("x", values.data(), values.size() * sizeof(float));
        plan.run();
        QCOMPARE(plan.read(y), values);
        QCOMPARE(guarded.faults().size(), std::size_t(fault.isEmpty() ? 0 : 1));
        if (!fault.isEmpty())
            QVERIFY2(guarded.faults()[0].find(fault.toStdString()) != std::string::npos, guarded.faults()[0].c_str());
    }
};

QTEST_APPLESS_MAIN(GuardedBackendTest)
#include "tst_guarded_backend.moc"
