// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "worker/run_comparison.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;

namespace {

struct Run {
    QTemporaryDir directory;
    RunFolder folder{directory.path().toStdString()};

    Run() {
        write_json(folder.config(), {{"batch", 64}, {"seed", 1}, {"optimizer", {{"learning_rate", 0.1}}}});
        write_json(folder.passport(),
                   {{"build", "1"}, {"bit_exact", true}, {"kernels", {"a", "b"}}, {"first_step_seconds", 1.5}});
        metrics("1,0,training,2.5,0.1,0.1,0.01\n2,0,training,2.25,0.1,0.1,0.01\n");
    }
    void metrics(const std::string& rows) const {
        std::ofstream(folder.path() / "metrics.csv") << "step,epoch,set,loss,accuracy,learning_rate,seconds\n" << rows;
    }
};

} // namespace

class TestRunComparison : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void differences_are_named_by_path() {
        const Json a{{"same", 1}, {"gone", 2}, {"deep", {{"x", 1}, {"y", {1, 2}}}}, {"texts", {"p", "q"}}};
        const Json b{{"same", 1}, {"new", 3}, {"deep", {{"x", 2}, {"y", {1, 3}}}}, {"texts", {"q", "r"}}};
        const Json expected = {{{"key", "gone"}, {"a", 2}},
                               {{"key", "deep.x"}, {"a", 1}, {"b", 2}},
                               {{"key", "deep.y"}, {"a", {1, 2}}, {"b", {1, 3}}},
                               {{"key", "texts"}, {"a", {"p"}}, {"b", {"r"}}},
                               {{"key", "new"}, {"b", 3}}};
        auto found = differences(a, b);
        QVERIFY2(found == expected, found.dump().c_str());
        QVERIFY(differences(a, a).empty());
    }

    void equal_runs_are_expected_to_have_the_same_bits() {
        Run a, b;
        write_json(b.folder.passport(),
                   {{"build", "1"}, {"bit_exact", true}, {"kernels", {"a", "b"}}, {"first_step_seconds", 9}});
        b.metrics("1,0,training,2.5,0.1,0.1,0.04\n2,0,training,2.25,0.1,0.1,0.05\n"); // other times alone
        const auto found = compare_runs(a.folder, b.folder);
        QVERIFY2(found.at("config").empty() && found.at("passport").empty(), found.dump().c_str());
        QCOMPARE(found.at("bit_exact").at("expected"), Json(true));
        QCOMPARE(found.at("metrics"), (Json{{"rows", 2}, {"first_difference", nullptr}}));
    }

    void what_speaks_against_the_same_bits_is_said() {
        Run a, b;
        write_json(b.folder.config(), {{"batch", 64}, {"seed", 2}, {"optimizer", {{"learning_rate", 0.1}}}});
        b.metrics("1,0,training,2.5,0.1,0.1,0.01\n2,0,training,2.26,0.1,0.1,0.01\n");
        auto found = compare_runs(a.folder, b.folder);
        QCOMPARE(found.at("bit_exact").at("expected"), Json(false));
        QVERIFY(found.at("bit_exact").at("reason").get<std::string>().ends_with("differ in seed."));
        QCOMPARE(found.at("metrics"), (Json{{"rows", 1}, {"first_difference", 2}}));

        Run c, d; // a GPU without "deterministic"
        for (const auto* run : {&c, &d})
            write_json(run->folder.passport(), {{"bit_exact", false}, {"bit_exact_when", "\"deterministic\" is on"}});
        found = compare_runs(c.folder, d.folder);
        QCOMPARE(found.at("bit_exact").at("expected"), Json(false));
        QVERIFY(found.at("bit_exact").at("reason").get<std::string>().find("\"deterministic\" is on") !=
                std::string::npos);

        write_json(d.folder.config(),
                   {{"batch", 64}, {"seed", 1}, {"name", "another"}, {"optimizer", {{"learning_rate", 0.1}}}});
        std::filesystem::remove(d.folder.passport());
        found = compare_runs(c.folder, d.folder);
        QVERIFY(found.at("bit_exact").at("reason").get<std::string>().find("no passport") != std::string::npos);
    }

    void a_shorter_run_differs_at_its_end() {
        Run a, b;
        b.metrics("1,0,training,2.5,0.1,0.1,0.01\n");
        QCOMPARE(compare_runs(a.folder, b.folder).at("metrics"), (Json{{"rows", 1}, {"first_difference", 2}}));
    }

    void what_is_no_run_is_refused() {
        Run a;
        QTemporaryDir empty;
        QVERIFY_EXCEPTION_THROWN((void)compare_runs(a.folder, RunFolder(empty.path().toStdString())), ConfigError);
    }
};

QTEST_GUILESS_MAIN(TestRunComparison)
#include "tst_run_comparison.moc"
