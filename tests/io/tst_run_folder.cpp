// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "io/run_folder.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <set>
#include <thread>

using namespace espalier;
namespace fs = std::filesystem;

class TestRunFolder : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> temporary_;
    fs::path root_;

private Q_SLOTS:
    void init() {
        temporary_ = std::make_unique<QTemporaryDir>();
        root_ = fs::path(temporary_->path().toStdString()) / "some" / "runs";
    }

    void names_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("allowed");
        for (const char* name :
             {"", "a", "quick run 2", "Größe [1] (2)", "袋", "a.b", ".hidden", "CONSOLE", "COM10", "x-con"}) {
            QTest::newRow(qPrintable(QString("yes: ") + name)) << name << true;
        }
        for (const char* name : {"a:b", "CON", "con", "com1", "LPT9.txt", "nul.json", "x.", "x ", " x", "a/b", "a\\b",
                                 "..", "a\nb", "a?", "\x7f"}) {
            QTest::newRow(qPrintable(QString("no: ") + name)) << name << false;
        }
        QTest::newRow("100 bytes") << QString(100, 'n') << true;
        QTest::newRow("101 bytes") << QString(101, 'n') << false;
    }

    void names() {
        QFETCH(QString, name);
        QFETCH(bool, allowed);
        try {
            check_run_name(name.toStdString());
            QVERIFY(allowed);
            QVERIFY(fs::is_directory(RunFolder::create(root_, name.toStdString()).path()));
        } catch (const ConfigError& error) {
            QVERIFY2(!allowed, error.what());
        }
    }

    void name_and_place_must_be_utf8() {
        QVERIFY_EXCEPTION_THROWN(check_run_name("\xff\xfe"), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)RunFolder::create(root_ / "caf\xe9", "a"), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)RunFolder::create_at(root_ / "caf\xe9"), ConfigError);
        QVERIFY(!fs::exists(root_));
    }

    /// Many runs started in the same second, from several threads, each get a folder of their own.
    void each_run_gets_its_own_folder() {
        std::vector<fs::path> made(40);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = t; i < made.size(); i += 4) {
                    made[i] = RunFolder::create(root_, "quick").path();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        QCOMPARE(std::set<fs::path>(made.begin(), made.end()).size(), made.size());
        const QString name = QString::fromStdString(made.front().filename().string());
        QVERIFY2(QRegularExpression("^\\d{8}-\\d{6}-quick(-\\d+)?$").match(name).hasMatch(), qPrintable(name));
    }

    void a_slash_at_the_end_does_not_count() {
        for (const char* text : {"/runs/foo", "/runs/foo/", "/runs/foo//", "/runs/foo/."}) {
            QCOMPARE(RunFolder(text).absolute_path(), fs::path("/runs/foo"));
        }
        QCOMPARE(RunFolder("runs/foo/").path(), fs::path("runs/foo"));
        QCOMPARE(RunFolder("runs/foo/").name(), std::string("foo"));
        QCOMPARE(RunFolder("runs/foo/").config(), fs::path("runs/foo/config.json"));
        QCOMPARE(RunFolder(".").absolute_path(), fs::current_path());
        QCOMPARE(RunFolder("/").path(), fs::path("/"));
    }

    void a_chosen_folder_must_be_empty() {
        const RunFolder run = RunFolder::create_at(root_ / "mine");
        QVERIFY(!run.is_run());
        write_json(run.config(), Json::object());
        QVERIFY(run.is_run());
        QVERIFY_EXCEPTION_THROWN(RunFolder::create_at(root_ / "mine"), ConfigError);
        std::ofstream(root_ / "file") << "x";
        QVERIFY_EXCEPTION_THROWN(RunFolder::create_at(root_ / "file"), Error);
    }

    void runs_are_listed_newest_first() {
        QVERIFY(runs_in(root_).empty());
        for (const char* name : {"20260101-000000-b", "20270101-000000-a", "20260101-000001"}) {
            write_json(RunFolder::create_at(root_ / name).config(), Json::object());
        }
        RunFolder::create_at(root_ / "no-run");
        std::ofstream(root_ / "file") << "x";
        const std::vector<RunFolder> runs = runs_in(root_);
        QCOMPARE(runs.size(), std::size_t{3});
        QCOMPARE(runs[0].path().filename().string(), std::string("20270101-000000-a"));
        QCOMPARE(runs[2].path().filename().string(), std::string("20260101-000000-b"));
    }

    void notes_are_kept() {
        const RunFolder run = RunFolder::create(root_, "n");
        QCOMPARE(run.read_notes().at("name").get<std::string>(), std::string());
        const Json notes = {{"name", "first try"}, {"tags", {"a", "b"}}, {"notes", "two\nlines"}};
        run.write_notes(notes);
        QVERIFY(run.read_notes() == notes);
        QVERIFY_EXCEPTION_THROWN(run.write_notes({{"tags", "a"}}), ConfigError);
        QVERIFY_EXCEPTION_THROWN(run.write_notes(3), ConfigError);
        QVERIFY(run.read_notes() == notes);
    }

    void json_files_that_are_none() {
        fs::create_directories(root_);
        QVERIFY_EXCEPTION_THROWN((void)read_json(root_ / "absent.json"), Error);
        std::ofstream(root_ / "empty.json") << "";
        QVERIFY_EXCEPTION_THROWN((void)read_json(root_ / "empty.json"), ConfigError);
        std::ofstream(root_ / "zeros.json") << std::string(100, '\0');
        QVERIFY_EXCEPTION_THROWN((void)read_json(root_ / "zeros.json"), ConfigError);
    }
    void why_a_file_is_no_json_is_said() {
        const auto text_of = [this](const char* name) {
            try {
                static_cast<void>(read_json(root_ / name));
            } catch (const std::exception& error) {
                return QString::fromUtf8(error.what());
            }
            return QString();
        };
        QVERIFY(text_of("nowhere.json").endsWith(QStringLiteral("cannot be read: No such file or directory.")));
        fs::create_directories(root_);
        std::ofstream(root_ / "cut.json") << "{\n  \"a\": ";
        QVERIFY2(text_of("cut.json").contains(QStringLiteral("holds no JSON: parse error at line 2, column")),
                 qPrintable(text_of("cut.json")));
    }

    void the_root_comes_from_the_environment() {
        const QByteArray runs = qgetenv("ESPALIER_RUNS"), data = qgetenv("XDG_DATA_HOME"), home = qgetenv("HOME");
        qputenv("HOME", "/home/a");
        qunsetenv("XDG_DATA_HOME");
        qunsetenv("ESPALIER_RUNS");
        QCOMPARE(default_runs_root(), fs::path("/home/a/.local/share/espalier/runs"));
        qputenv("XDG_DATA_HOME", "relative");
        QCOMPARE(default_runs_root(), fs::path("/home/a/.local/share/espalier/runs"));
        qputenv("XDG_DATA_HOME", "/data");
        QCOMPARE(default_runs_root(), fs::path("/data/espalier/runs"));
        qputenv("ESPALIER_RUNS", "/elsewhere");
        QCOMPARE(default_runs_root(), fs::path("/elsewhere"));
        const auto restore = [](const char* name, const QByteArray& value) {
            value.isNull() ? qunsetenv(name) : qputenv(name, value);
        };
        restore("ESPALIER_RUNS", runs);
        restore("XDG_DATA_HOME", data);
        restore("HOME", home);
    }
};

QTEST_GUILESS_MAIN(TestRunFolder)
#include "tst_run_folder.moc"
