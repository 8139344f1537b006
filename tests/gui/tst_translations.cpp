// SPDX-License-Identifier: GPL-3.0-or-later
// The translations themselves: whole, faithful in what programs read in them, and of everything that the window says.
#include "device_summary.h"
#include "engine_words.h"
#include "language.h"
#include "run_model.h"
#include "settings.h"
#include "translation_file.h"

#include <QCoreApplication>
#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLibraryInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <set>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString root = QStringLiteral(SOURCE_DIR);
const QString chinese_file = root + QStringLiteral("/resources/translations/espalier_zh_CN.ts");

/// What matches in a text, in the order of the alphabet.
QStringList all_of(const QString& text, const QString& pattern) {
    QStringList found;
    for (auto matches = QRegularExpression(pattern).globalMatch(text); matches.hasNext();)
        found.append(matches.next().captured());
    found.sort();
    return found;
}

bool has_colon(const QString& text) { return text.endsWith(QLatin1Char(':')) || text.endsWith(QChar(0xff1a)); }

/// What a translation lost of its source; empty if it is faithful.
QString fault_of(const Translation& one) {
    for (const char* pattern : {"%[0-9nL]+",           // where values go
                                "\\t.*$",              // the key behind a menu's text
                                "\\*\\.[a-z]+|\\(\\*", // file dialogs' filters
                                "&[A-Za-z]"})          // keys to labels
        if (all_of(one.source, QLatin1String(pattern)) != all_of(one.text, QLatin1String(pattern)))
            return QLatin1String(pattern);
    const QChar more(0x2026);
    if (one.source.endsWith(more) != one.text.endsWith(more))
        return more;
    if (has_colon(one.source) != has_colon(one.text))
        return QStringLiteral(":");
    if (one.source.front().isSpace() != one.text.front().isSpace() ||
        one.source.back().isSpace() != one.text.back().isSpace())
        return QStringLiteral("space at an end");
    return {};
}

std::set<std::pair<QString, QString>> texts_in(const std::vector<Translation>& all) {
    std::set<std::pair<QString, QString>> texts;
    for (const Translation& one : all)
        texts.insert({one.context, one.source});
    return texts;
}

} // namespace

class TestTranslations : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { install_language(Language::english); }

    void every_text_is_translated() {
        const auto all = read_translations(chinese_file);
        QVERIFY(all.size() > 500);
        for (const Translation& one : all) {
            QVERIFY2(one.type.isEmpty(), qPrintable(one.type + QStringLiteral(": ") + one.source));
            QVERIFY2(!one.text.trimmed().isEmpty(), qPrintable(one.source));
        }
    }

    void translations_keep_what_programs_read() {
        for (const Translation& one : read_translations(chinese_file)) {
            const QString fault = fault_of(one);
            QVERIFY2(fault.isEmpty(),
                     qPrintable(QStringLiteral("%1 in '%2' as '%3'").arg(fault, one.source, one.text)));
        }
    }

    void an_unfaithful_translation_is_found() {
        const auto fault = [](const char* source, const char* text) {
            return !fault_of({{}, QString::fromUtf8(source), {}, QString::fromUtf8(text), {}}).isEmpty();
        };
        QVERIFY(!fault("%1 of %2…", "%2 / %1…"));
        QVERIFY(fault("%1 of %2", "%1"));
        QVERIFY(fault("Save…", "保存"));
        QVERIFY(fault("&Host", "主机"));
        QVERIFY(fault("&Host", "主机(&Z)"));
        QVERIFY(fault("Unread:", "无法读取"));
        QVERIFY(fault("Rename\tF2", "重命名"));
        QVERIFY(fault("Zip (*.zip)", "Zip"));
    }

    /// Run over the sources anew, the file stays as it is. This also finds a tr() in a class that would ask for its
    /// texts under another name than they are filed under.
    void the_sources_have_no_other_text() {
        const QString lupdate = QStringLiteral(LUPDATE);
        if (!QFile::exists(lupdate))
            QSKIP("There is no lupdate here (package qt6-l10n-tools).");
        const QTemporaryDir folder;
        const QString copy = folder.filePath(QStringLiteral("espalier_zh_CN.ts"));
        QVERIFY(QFile::copy(chinese_file, copy));
        QProcess process;
        process.setWorkingDirectory(root);
        process.start(lupdate, {QStringLiteral("-no-obsolete"), QStringLiteral("-locations"), QStringLiteral("none"),
                                QStringLiteral("app"), QStringLiteral("widgets"), QStringLiteral("-ts"), copy});
        QVERIFY(process.waitForFinished(60000));
        QCOMPARE(process.exitCode(), 0);
        const QString words = QString::fromUtf8(process.readAllStandardError() + process.readAllStandardOutput());
        for (const QString& line : words.split(QLatin1Char('\n')))
            if (line.contains(QStringLiteral("lacks Q_OBJECT")))
                QVERIFY2(line.contains(QStringLiteral("Class 'espalier' ")), qPrintable(line)); // widgets/words.h
        const auto before = texts_in(read_translations(chinese_file)), after = texts_in(read_translations(copy));
        for (const auto& [context, source] : after)
            QVERIFY2(before.contains({context, source}), qPrintable(context + QStringLiteral(": ") + source));
        QCOMPARE(before.size(), after.size());
    }

    void presets_are_translated() {
        install_language(Language::chinese);
        const QDir folder(root + QStringLiteral("/resources/presets"));
        const QStringList files = folder.entryList({QStringLiteral("*.json")});
        QVERIFY(files.size() >= 12);
        for (const QString& name : files) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QJsonObject preset = QJsonDocument::fromJson(file.readAll()).object();
            for (const QString& field :
                 {QStringLiteral("title"), QStringLiteral("summary"), QStringLiteral("reason")}) {
                const QString text = preset[field].toString();
                QVERIFY2(text.isEmpty() || engine_words(text) != text, qPrintable(name + QStringLiteral(": ") + text));
            }
        }
    }

    void a_text_of_the_engine_keeps_its_values() {
        const QString waits = QStringLiteral("Waits in the queue until grow-2 has ended or is paused.");
        QCOMPARE(engine_words(waits), waits); // in English it stays as it is
        install_language(Language::chinese);
        QCOMPARE(engine_words(waits), QStringLiteral("在队列中等待，直到 grow-2 结束或暂停。"));
        // a name that looks like a place for a value is none
        QVERIFY(engine_words(QStringLiteral("The folder '%2 of %1' lies beside 'train' and was passed over."))
                    .contains(QStringLiteral("%2 of %1")));
        const QString error = QStringLiteral("There is no folder /nowhere.");
        QCOMPARE(engine_words(error), error);
        QVERIFY(engine_words({}).isEmpty());
    }

    void why_no_device_can_train_is_told_in_chinese() {
        install_language(Language::chinese);
        const Json gpu{
            {"backend", "cuda"}, {"name", "GPU"}, {"usable", false}, {"reason", "No NVIDIA driver is installed."}};
        const QString line = summarize_devices({{"devices", Json::array({gpu})}}).line;
        QVERIFY2(line.contains(QStringLiteral("没有安装 NVIDIA 驱动程序。")), qPrintable(line));
    }

    void why_a_run_was_made_smaller_is_told_in_chinese() {
        install_language(Language::chinese);
        const QString said =
            QStringLiteral("This step needs 8.5 GiB (weights 90.0 MiB, optimizer 90.0 MiB, activations "
                           "and workspace 8.0 GiB%1), but the limit is 7.2 GiB. Most is in use at conv2d "
                           "of layer 'stem.conv', with 7.9 GiB.");
        for (const QString& data : {QString(), QStringLiteral(", the data set 300.0 MiB")}) {
            const QString words = engine_words(said.arg(data));
            QVERIFY2(words.startsWith(QStringLiteral("这一步需要 8.5 GB")), qPrintable(words));
            QVERIFY2(words.contains(QStringLiteral("“stem.conv”的 conv2d，为 7.9 GB")), qPrintable(words));
            QVERIFY2(!words.contains(QStringLiteral("the data set")), qPrintable(words));
        }
        RunModel run(QStringLiteral("/runs/quick-1"));
        run.apply(read_event({{"type", "fallback"},
                              {"rung", "recompute"},
                              {"from", "off"},
                              {"to", "on"},
                              {"reason", said.arg(QString()).toStdString()}}));
        QVERIFY2(run.fallbacks().value(0).contains(QStringLiteral("这一步需要")), qPrintable(run.fallbacks().value(0)));
    }

    /// Those that no person has ended, too: a log-off, a supervisor that was lost.
    void why_a_run_ended_is_told_in_chinese() {
        install_language(Language::chinese);
        for (const char* text :
             {"Stopped by the user.", "The supervisor was ended.", "The run was interrupted; the state was saved.",
              "It was waiting in the queue when its supervisor was ended. Resume it to train it.",
              "It was waiting in the queue when its supervisor was lost. Resume it to train it."}) {
            bool said = false; // by the engine, in these words
            for (const char* file : {"supervisor", "run_summary", "../train/trainer_endings"}) {
                QFile source(root + QStringLiteral("/engine/worker/%1.cpp").arg(QLatin1String(file)));
                QVERIFY(source.open(QIODevice::ReadOnly));
                said |= source.readAll().contains(QByteArray(1, '"') + text + '"');
            }
            QVERIFY2(said, text);
            QVERIFY2(engine_words(QLatin1String(text)) != QLatin1String(text), text);
        }
    }

    /// Nobody types options into a window: whatever the engine says of them is said of what the window has.
    void commands_of_a_terminal_are_no_words_of_the_window_data() {
        QTest::addColumn<QString>("said");
        QTest::addColumn<QString>("kept"); ///< of it
        const QString fault = QStringLiteral("The loss was not a number for 20 steps in a row.");
        QTest::newRow("a checkpoint") << fault + QStringLiteral(" Go back to checkpoint step-00000150 with a smaller "
                                                                "rate: espalier-train resume /my runs/quick-1 "
                                                                "--checkpoint step-00000150 --set "
                                                                "optimizer.learning_rate=0.005.")
                                      << QStringLiteral("The loss was not a number*step-00000150*such as 0.005.");
        QTest::newRow("no checkpoint") << fault + QStringLiteral(" There is no checkpoint from before to go back to: "
                                                                 "begin a new run with a smaller rate, such as --set "
                                                                 "optimizer.learning_rate=10.")
                                       << QStringLiteral("The loss was not a number*such as 10.");
        QTest::newRow("trained") << QStringLiteral("This run has trained 3 epochs, and 3 are asked for. To go on, "
                                                   "resume it with more: --set epochs=6.")
                                 << QStringLiteral("This run has trained all of its epochs.");
        QTest::newRow("a state") << QStringLiteral("The state of the run in this checkpoint cannot be read (no rate). "
                                                   "Resume from another checkpoint, if there is one (resume "
                                                   "--checkpoint).")
                                 << QStringLiteral("cannot be read (no rate)");
    }
    void commands_of_a_terminal_are_no_words_of_the_window() {
        QFETCH(QString, said);
        QFETCH(QString, kept);
        for (const Language language : {Language::english, Language::chinese}) {
            install_language(language);
            const QString words = engine_words(said);
            QVERIFY2(words != said && !words.contains(QStringLiteral("--")) &&
                         !words.contains(QStringLiteral("espalier-train")),
                     qPrintable(words));
            if (language == Language::english)
                for (const QString& part : kept.split(QLatin1Char('*')))
                    QVERIFY2(words.contains(part), qPrintable(words));
        }
    }

    /// Of images alone: what a folder, a class or a run is called is no number.
    void numbers_of_the_engine_are_grouped() {
        QCOMPARE(engine_words(QStringLiteral("Of a single colour throughout: 12345 images.")),
                 QStringLiteral("Of a single colour throughout: 12,345 images."));
        for (const auto* text : {"The class '12345' has no training image: it can never be learned.",
                                 "The folder '12345' lies beside 'train' and was passed over."})
            QCOMPARE(engine_words(QLatin1String(text)), QLatin1String(text));
    }

    void the_first_language_that_is_spoken_counts() {
        const auto spoken = [](const QString& wanted) { return spoken_of(wanted.split(QLatin1Char(' '))); };
        QCOMPARE(spoken(QStringLiteral("zh-Hans-CN zh en-US")), Language::chinese);
        QCOMPARE(spoken(QStringLiteral("zh-CN")), Language::chinese);
        QCOMPARE(spoken(QStringLiteral("zh-SG")), Language::chinese);
        QCOMPARE(spoken(QStringLiteral("en-GB zh-CN")), Language::english);
        QCOMPARE(spoken(QStringLiteral("de-DE zh-CN en")), Language::chinese);
        QCOMPARE(spoken(QStringLiteral("zh-TW")), Language::english); // its signs are others
        QCOMPARE(spoken(QStringLiteral("fi-FI")), Language::english);
        QCOMPARE(spoken_of({}), Language::english);
    }

    void a_font_made_for_chinese_is_taken() {
        QCOMPARE(chinese_family_of({QStringLiteral("DejaVu Sans"), QStringLiteral("Noto Sans CJK JP"),
                                    QStringLiteral("Noto Sans CJK SC"), QStringLiteral("Noto Serif CJK SC")}),
                 QStringLiteral("Noto Sans CJK SC"));
        QCOMPARE(chinese_family_of({QStringLiteral("SimSun"), QStringLiteral("Microsoft YaHei")}),
                 QStringLiteral("Microsoft YaHei"));
        QCOMPARE(chinese_family_of({QStringLiteral("Noto Sans CJK JP"), QStringLiteral("Some Font")}), QString());
        QCOMPARE(chinese_family_of({}), QString());
    }

    void settings_keep_the_language() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        QCOMPARE(Settings::language_in(file), Language::system);
        Settings settings;
        for (const Language language : {Language::chinese, Language::english, Language::system}) {
            settings.language = language;
            QVERIFY(settings.save(file).isEmpty());
            QCOMPARE(Settings::load(file, nullptr).language, language);
            QCOMPARE(Settings::language_in(file), language);
        }
        QFile damaged(file);
        QVERIFY(damaged.open(QIODevice::WriteOnly) && damaged.write("{\"language\": 7") > 0);
        damaged.close();
        QCOMPARE(Settings::language_in(file), Language::system);
        QVERIFY(QFile::exists(file)); // load() tells of the damage
    }

    void a_language_can_be_left_again() {
        const auto word = [] { return QCoreApplication::translate("espalier::RunPage", "Loss"); };
        QCOMPARE(word(), QStringLiteral("Loss"));
        install_language(Language::chinese);
        QCOMPARE(word(), QStringLiteral("损失"));
        install_language(Language::english);
        QCOMPARE(word(), QStringLiteral("Loss"));
    }

    void qts_own_texts_are_translated() {
        if (!QFile::exists(QLibraryInfo::path(QLibraryInfo::TranslationsPath) + QStringLiteral("/qtbase_zh_CN.qm")))
            QSKIP("Qt's translations are not installed (package qt6-translations-l10n).");
        install_language(Language::chinese);
        QCOMPARE(QCoreApplication::translate("QPlatformTheme", "Cancel"), QStringLiteral("取消"));
    }
};

QTEST_MAIN(TestTranslations)
#include "tst_translations.moc"
