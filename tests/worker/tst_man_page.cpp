// SPDX-License-Identifier: Apache-2.0
// espalier-train.1 describes every command and option there is, and no other.
#include "base/error.h"
#include "man_page.h"
#include "train/run_config.h"
#include "worker/commands/command.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::test;

namespace {

/// What the help calls an option's value, without what is allowed there; empty: it takes none.
std::string value_of(const CLI::Option& option) {
    const auto name = option.get_type_name();
    return option.get_type_size() == 0 ? std::string() : name.substr(0, name.find(':'));
}

/// As a man page has them: "--batch N".
std::set<std::string> options_of(const CLI::App& command) {
    std::set<std::string> options;
    for (const auto* option : command.get_options())
        for (const auto& name : option->get_lnames())
            options.insert("--" + name + (value_of(*option).empty() ? "" : " " + value_of(*option)));
    options.erase("--help");
    return options;
}

QString text_of(const std::set<std::string>& options) {
    QStringList names;
    for (const auto& option : options)
        names.append(QString::fromStdString(option));
    return names.join(' ');
}

/// Calls `look` for every command that is for people, by its whole name ("bench step").
void for_each_command(const CLI::App& app, const std::string& above,
                      const std::function<void(const std::string& name, const CLI::App& command)>& look) {
    for (const auto* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
        const auto name = above + command->get_name();
        if (command->get_subcommands([](const CLI::App*) { return true; }).empty())
            look(name, *command);
        else
            for_each_command(*command, name + " ", look);
    }
}

} // namespace

class TestManPage : public QObject {
    Q_OBJECT

    ManPage page_{ESPALIER_TRAIN_MAN_PAGE};
    CLI::App app_;
    commands::Action chosen_;

private Q_SLOTS:
    void initTestCase() { commands::add_all_commands(app_, chosen_); }

    void every_option_of_every_command_is_explained() {
        int commands = 0;
        for_each_command(app_, "", [&](const std::string& name, const CLI::App& command) {
            ++commands;
            const auto section = page_.section(name);
            QVERIFY2(!section.empty(), ("no section for " + name).c_str());
            QCOMPARE(QString::fromStdString(name) + ": " + text_of(ManPage::options_in(section)),
                     QString::fromStdString(name) + ": " + text_of(options_of(command)));
        });
        QVERIFY(commands >= 15);
    }

    /// So that the help tells the same: an option without a text explains nothing.
    void every_option_has_a_help() {
        for_each_command(app_, "", [&](const std::string& name, const CLI::App& command) {
            QVERIFY2(!command.get_description().empty(), name.c_str());
            for (const auto* option : command.get_options())
                QVERIFY2(!option->get_description().empty(), (name + " " + option->get_name()).c_str());
        });
    }

    /// A value is called by what it means (FOLDER, SECONDS), never by its type; what stands in a place, by its name.
    void every_value_has_a_name() {
        for_each_command(app_, "", [&](const std::string& name, const CLI::App& command) {
            for (const auto* option : command.get_options()) {
                const auto value = value_of(*option);
                const auto said = name + " " + option->get_name() + " " + value;
                const bool takes_one = option->nonpositional() && option->get_items_expected_max() > 0;
                QVERIFY2(value.empty() != takes_one, said.c_str());
                QVERIFY2(!std::set<std::string>({"TEXT", "INT", "UINT", "FLOAT", "BOOLEAN"}).contains(value),
                         said.c_str());
                const auto place = QString::fromStdString(option->get_name(true));
                QVERIFY2(!option->get_positional() || place == place.toUpper(), said.c_str());
            }
        });
    }

    void every_exit_code_is_named() {
        const auto codes = page_.section("EXIT STATUS");
        for (int code = 0; code <= static_cast<int>(ExitCode::stopped); ++code)
            QVERIFY2(codes.find("\n.B " + std::to_string(code) + "\n") != std::string::npos,
                     qPrintable(QString::number(code)));
    }

    void every_kind_of_data_set_and_export_is_named() {
        const auto specs = page_.section("DATA SETS"), formats = page_.section("export");
        for (const char* kind :
             {"builtin", "fashion-mnist", "folder:", "csv:", "cifar10:", "cifar100:", "idx:", "synthetic:"})
            QVERIFY2(specs.find(kind) != std::string::npos, kind);
        const QRegularExpression between(QStringLiteral(", | or "));
        for (const auto& format : QString::fromStdString(export_formats_text()).split(between))
            QVERIFY2(formats.find("fB" + format.toStdString() + "fR") != std::string::npos, qPrintable(format));
    }
};

QTEST_APPLESS_MAIN(TestManPage)
#include "tst_man_page.moc"
