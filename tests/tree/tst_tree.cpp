// SPDX-License-Identifier: Apache-2.0
// The shape of the tree, as docs/ARCHITECTURE.md fixes it: which folder may include which, where Qt, oneDNN and CUDA
// may appear, and that every file names its licence.
#include <QDirIterator>
#include <QFile>
#include <QMap>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

namespace {

/// Folders of the engine, and those that each may include besides itself.
const QMap<QString, QSet<QString>>& allowed() {
    static const QMap<QString, QSet<QString>> rules = [] {
        const QSet<QString> base{"base"};
        const QSet<QString> graph = base + QSet<QString>{"graph"};
        const QSet<QString> plan = graph + QSet<QString>{"plan"};
        const QSet<QString> nn = graph + QSet<QString>{"nn"};
        const QSet<QString> io = nn + QSet<QString>{"io"};
        const QSet<QString> train = io + plan + QSet<QString>{"passes", "backends", "data", "train"};
        return QMap<QString, QSet<QString>>{
            {"base", base},
            {"graph", graph},
            {"passes", graph + QSet<QString>{"passes"}},
            {"plan", plan},
            {"backends", plan + QSet<QString>{"backends"}},
            {"nn", nn},
            {"data", graph + QSet<QString>{"data"}},
            {"io", io},
            {"train", train},
            {"worker", train + QSet<QString>{"worker"}},
        };
    }();
    return rules;
}

struct Source {
    QString path; ///< relative to the root of the tree
    QStringList lines;
};

QList<Source> sources(const QStringList& folders) {
    QList<Source> found;
    const QDir root(SOURCE_DIR);
    for (const auto& folder : folders) {
        QDirIterator files(root.filePath(folder), {"*.h", "*.cpp", "*.cu", "*.cuh"}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            if (file.open(QIODevice::ReadOnly))
                found.append({root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()).split('\n')});
        }
    }
    return found;
}

QStringList includes(const Source& source, const QString& open) {
    static const QRegularExpression pattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
    QStringList found;
    for (const auto& line : source.lines)
        if (const auto match = pattern.match(line); match.hasMatch() && match.captured(1) == open)
            found.append(match.captured(2));
    return found;
}

bool is_qt(const QString& include) {
    static const QRegularExpression pattern("^(Q[A-Z][A-Za-z]+|Qt[A-Z][A-Za-z]*/.*|qcustomplot\\.h)$");
    return pattern.match(include).hasMatch();
}

} // namespace

class TestTree : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void engine_folders_include_only_what_they_may();
    void only_three_places_of_the_engine_include_qt();
    void only_the_backends_include_their_libraries();
    void widgets_and_app_include_no_engine();
    void the_window_never_waits();
    void looks_stand_in_the_theme_alone();
    void numbers_in_texts_are_counted();
    void every_file_names_its_licence();
    void the_packages_name_every_licence();
    void every_test_function_is_run();
    void tests_that_are_named_exist();
};

void TestTree::engine_folders_include_only_what_they_may() {
    const auto all = sources({"engine"});
    QVERIFY(!all.isEmpty());
    QStringList wrong;
    for (const auto& source : all) {
        const auto folder = source.path.section('/', 1, 1);
        QVERIFY2(allowed().contains(folder),
                 qPrintable(source.path + " lies in a folder that docs/ARCHITECTURE.md does not know"));
        for (const auto& include : includes(source, "\""))
            if (include.contains('/') && !allowed()[folder].contains(include.section('/', 0, 0)))
                wrong.append(source.path + " includes " + include);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

void TestTree::only_three_places_of_the_engine_include_qt() {
    static const QRegularExpression may(
        "^engine/(data/image_decoder\\.cpp|worker/(?!protocol|line_|worker_main|event_writer).*)$");
    QStringList wrong;
    for (const auto& source : sources({"engine"}))
        for (const auto& include : includes(source, "<"))
            if (is_qt(include) && !may.match(source.path).hasMatch())
                wrong.append(source.path + " includes " + include);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

void TestTree::only_the_backends_include_their_libraries() {
    static const QRegularExpression onednn("^(oneapi/)?dnnl"), cuda("^(cuda|cudnn|cublas|nvml)");
    QStringList wrong;
    for (const auto& source : sources({"engine", "app", "widgets"}))
        for (const auto& include : includes(source, "<"))
            if ((onednn.match(include).hasMatch() && !source.path.startsWith("engine/backends/cpu/")) ||
                (cuda.match(include).hasMatch() && !source.path.startsWith("engine/backends/cuda/")))
                wrong.append(source.path + " includes " + include);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

void TestTree::widgets_and_app_include_no_engine() {
    const auto protocol = QRegularExpression("^worker/(protocol|line_reader|line_writer)\\.h$");
    QStringList wrong;
    for (const auto& source : sources({"widgets", "app"}))
        for (const auto& include : includes(source, "\"")) {
            const auto folder = include.section('/', 0, 0);
            const bool engine = include.contains('/') && allowed().contains(folder);
            const bool upward = source.path.startsWith("widgets/") && folder == "app";
            if (upward || (engine && (source.path.startsWith("widgets/") || !protocol.match(include).hasMatch())))
                wrong.append(source.path + " includes " + include);
        }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

/// What would hold up the window's thread, or run a second event loop inside of a handler, and who may do it still.
void TestTree::the_window_never_waits() {
    static const QRegularExpression waits(
        "\\b(waitFor\\w+|processEvents|msleep|usleep|sleep_for|sleep_until)\\s*\\(|QEventLoop|BlockingQueuedConnection|"
        "QNetwork|(\\.|->|::)(exec|wait)\\s*\\(");
    static const QMap<QString, QString> may{
        {"app/serve_link.cpp", "waitForFinished(patience_ms)"}, // in a thread of its own
        {"app/machine.cpp", "QThread::wait()"},                 // for that thread, at the program's end
        {"app/main.cpp", "QApplication::exec()"},
    };
    QStringList wrong;
    for (const auto& source : sources({"widgets", "app"}))
        for (const auto& line : source.lines) {
            const QString code = line.section("//", 0, 0);
            const bool allowed = may.contains(source.path) && code.contains(may[source.path]);
            if (waits.match(code).hasMatch() && !allowed)
                wrong.append(source.path + ": " + line.trimmed());
        }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

/// Colours and sizes of text are resources/theme's: what is drawn by hand asks Theme for them.
void TestTree::looks_stand_in_the_theme_alone() {
    static const QRegularExpression styled(
        "setStyleSheet|setPixelSize|setPointSize|QColor\\(\\s*[\"0-9]|\\bqRgb|\"#[0-9a-fA-F]{6}|font-size|"
        "Qt::(white|black|red|green|blue|cyan|magenta|yellow|gray|darkGray|lightGray|dark[A-Z]\\w+)\\b");
    static const QSet<QString> may{"widgets/theme.cpp", "widgets/color.cpp"};
    QStringList wrong;
    for (const auto& source : sources({"widgets", "app"}))
        for (const auto& line : source.lines)
            if (styled.match(line.section("//", 0, 0)).hasMatch() && !may.contains(source.path))
                wrong.append(source.path + ": " + line.trimmed());
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

/// A number and behind it the word for many, which is wrong of one: base/counted.h has both.
void TestTree::numbers_in_texts_are_counted() {
    static const QRegularExpression many("(to_string|count_text)\\([^\"]*\\)\\s*\\+\\s*\" "
                                         "(alphas|channels|classes|epochs|fields|files|images|labels|layers|ops|"
                                         "parameters|runs|steps|threads|updates)\\b(?!=)");
    QStringList wrong;
    for (const auto& source : sources({"engine"})) {
        if (source.path.contains("/kernels/")) // limits, never one
            continue;
        const auto text = source.lines.join('\n');
        for (auto found = many.globalMatch(text); found.hasNext();)
            wrong.append(source.path + ": " + found.next().captured().simplified());
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    QVERIFY(many.match(R"(std::to_string(epochs_) +
         " epochs of ")")
                .hasMatch());
}

void TestTree::every_file_names_its_licence() {
    QStringList wrong;
    for (const auto& source : sources({"engine", "app", "widgets", "tests"})) {
        const bool studio = source.path.startsWith("app/") || source.path.startsWith("widgets/");
        const QString licence = studio ? "GPL-3.0-or-later" : "SPDX-License-Identifier: ";
        if (!source.lines.value(0).contains("SPDX-License-Identifier: ") || !source.lines.value(0).contains(licence))
            wrong.append(source.path);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable("No licence, or the wrong one, in the first line of:\n" + wrong.join("\n")));
}

/// installer/copyright, in Debian's format: the last of its patterns that fits a file says what its first lines say, and
/// every licence that it names has its text.
void TestTree::the_packages_name_every_licence() {
    QFile file(QDir(SOURCE_DIR).filePath("installer/copyright"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QList<std::pair<QRegularExpression, QString>> patterns;
    QSet<QString> used, texts;
    for (const auto& paragraph : QString::fromUtf8(file.readAll()).split("\n\n")) {
        QMap<QString, QString> fields;
        QString field;
        for (const auto& line : paragraph.split('\n', Qt::SkipEmptyParts)) {
            if (!line.startsWith(' '))
                field = line.section(':', 0, 0);
            fields[field] += (line.startsWith(' ') ? line : line.section(':', 1)) + '\n';
        }
        const auto licence = fields["License"].section('\n', 0, 0).trimmed();
        for (const auto& pattern : fields["Files"].split(QRegularExpression("\\s+"), Qt::SkipEmptyParts)) {
            const auto any = QRegularExpression::escape(pattern).replace("\\*", ".*");
            patterns.append({QRegularExpression(QRegularExpression::anchoredPattern(any)), licence});
            used.insert(licence);
        }
        if (!fields.value("Files").isEmpty())
            QVERIFY2(!fields["Copyright"].trimmed().isEmpty(), qPrintable(paragraph));
        else if (fields["License"].count('\n') > 2)
            texts.insert(licence);
        static const QRegularExpression named("License: ([A-Za-z0-9.+-]+[A-Za-z0-9+])");
        for (auto found = named.globalMatch(fields["Comment"]); found.hasNext();)
            used.insert(found.next().captured(1));
    }
    QCOMPARE(texts, used);
    const QMap<QString, QString> spdx{{"Apache-2.0", "Apache-2.0"}, {"GPL-3+", "GPL-3.0-or-later"}};
    QStringList wrong;
    for (const auto& source : sources({"engine", "app", "widgets", "tests"})) {
        QString licence;
        for (const auto& [pattern, its] : patterns)
            if (pattern.match(source.path).hasMatch())
                licence = its;
        if (!source.lines.value(0).endsWith("SPDX-License-Identifier: " + spdx[licence]))
            wrong.append(source.path + " is not under " + licence);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

/// Two kinds of functions are passed over without a word: one between conditions of the preprocessor, for moc does not
/// know what the compiler says of the system, and one that is named as if it were the data of another.
void TestTree::every_test_function_is_run() {
    static const QRegularExpression slots_begin(".*\\b(slots|Q_SLOTS):"), condition("^\\s*#\\s*(if|el)"),
        in_class("^ {0,4}\\S"), data("\\bvoid (?:\\w+::)?(\\w+)_data\\(\\)");
    QStringList wrong;
    for (const auto& source : sources({"tests"})) {
        const auto text = source.lines.join('\n');
        for (auto found = data.globalMatch(text); found.hasNext();)
            if (const auto name = found.next().captured(1);
                !text.contains(QRegularExpression("\\bvoid (\\w+::)?" + name + "\\(\\)")))
                wrong.append(source.path + ": " + name + "_data is the data of no function");
        const auto begin = source.lines.indexOf(slots_begin);
        for (auto i = begin; begin >= 0 && i + 1 < source.lines.size(); ++i)
            if (condition.match(source.lines[i]).hasMatch() && in_class.match(source.lines[i + 1]).hasMatch())
                wrong.append(source.path + ": moc may not see what stands behind " + source.lines[i]);
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
}

/// docs/CONTRIBUTING.md says which test shows what: "tst_idx (labels_out_of_range_are_named, ...)".
void TestTree::tests_that_are_named_exist() {
    QMap<QString, QString> tests;
    for (const auto& source : sources({"tests"}))
        tests[source.path.section('/', -1).section('.', 0, 0)] = source.lines.join('\n');
    QFile file(QDir(SOURCE_DIR).filePath("docs/CONTRIBUTING.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    static const QRegularExpression named("\\b((?:tst|fuzz|bench)_[a-z0-9_]+)(?: \\(([^)]*)\\))?"),
        function("^[a-z0-9]+(_[a-z0-9]+)+$");
    QStringList wrong;
    int found = 0;
    for (auto matches = named.globalMatch(QString::fromUtf8(file.readAll())); matches.hasNext();) {
        const auto match = matches.next();
        if (!tests.contains(match.captured(1))) {
            wrong.append(match.captured(1));
            continue;
        }
        for (const auto& name : match.captured(2).split(", ", Qt::SkipEmptyParts)) {
            if (!function.match(name).hasMatch()) // words about the test
                continue;
            ++found;
            if (!tests[match.captured(1)].contains(QRegularExpression("\\bvoid (\\w+::)?" + name + "\\(\\)")))
                wrong.append(match.captured(1) + " (" + name + ")");
        }
    }
    QVERIFY(found > 40);
    QVERIFY2(wrong.isEmpty(), qPrintable("docs/CONTRIBUTING.md names tests that are not there:\n" + wrong.join("\n")));
}

QTEST_GUILESS_MAIN(TestTree)
#include "tst_tree.moc"
