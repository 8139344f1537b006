// SPDX-License-Identifier: GPL-3.0-or-later
// Every word of the window can be read: what is written, wherever and by whichever part, has a contrast of 4.5 to what
// lies behind it (WCAG 2.1, AA), in both themes. Beside it: all legends of the plots, words that have little room.
#include "class_table.h"
#include "color.h"
#include "compare_page.h"
#include "confusion_matrix.h"
#include "metric_tile.h"
#include "plot_group.h"
#include "plot_header.h"
#include "preset_gallery.h"
#include "progress_header.h"
#include "run_form.h"
#include "series_tag.h"
#include "stand_in.h"
#include "text_recorder.h"
#include "theme.h"
#include "timeline.h"
#include "watched_test.h"
#include "window_driver.h"

#include <qcustomplot.h>

#include <QPushButton>
#include <algorithm>
#include <vector>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr double least = 4.5;

/// What `widget` alone writes.
std::vector<TextRecorder::Words> written_by(QWidget* widget) {
    TextRecorder recorder(widget->size());
    widget->render(&recorder, {}, {}, {});
    return recorder.words;
}

QString joined(const std::vector<TextRecorder::Words>& words) {
    QStringList texts;
    for (const auto& one : words)
        texts.append(one.text.trimmed());
    return texts.join(QLatin1Char(' '));
}

/// The colour that most pixels of a place have: letters cover less than half of it.
QColor ground_of(const QImage& picture, const QRect& place) {
    std::vector<QRgb> pixels;
    const QRect inside = place.adjusted(-1, -1, 1, 1).intersected(picture.rect());
    for (int y = inside.top(); y <= inside.bottom(); ++y)
        for (int x = inside.left(); x <= inside.right(); ++x)
            pixels.push_back(picture.pixel(x, y));
    std::ranges::sort(pixels);
    QRgb most = 0;
    std::ptrdiff_t best = 0;
    for (auto at = pixels.begin(); at != pixels.end();) {
        const auto end = std::upper_bound(at, pixels.end(), *at);
        if (end - at > best) {
            best = end - at;
            most = *at;
        }
        at = end;
    }
    return QColor::fromRgb(most);
}

bool is_words(const QString& text) {
    return std::ranges::any_of(text, [](QChar sign) { return sign.isLetterOrNumber(); });
}

/// What of a window has too little contrast. What is grey because nothing can be done with it is no concern.
QStringList faint_words(QWidget* window, const QString& state) {
    const QImage picture = window->grab().toImage();
    QStringList found;
    auto widgets = window->findChildren<QWidget*>();
    widgets.append(window);
    for (QWidget* widget : widgets) {
        if (!widget->isVisible() || !widget->isEnabled() || widget->window() != window->window())
            continue;
        for (const TextRecorder::Words& words : written_by(widget)) {
            const QRect place = words.place.toAlignedRect().translated(widget->mapTo(window, QPoint()));
            if (!is_words(words.text) || !picture.rect().intersects(place) ||
                widget->visibleRegion().intersected(words.place.toAlignedRect()).isEmpty())
                continue;
            const QColor ground = ground_of(picture, place);
            const QColor ink =
                mixed(words.ink, ground, static_cast<double>(words.ink.alphaF())); // it may be seen through
            if (const double ratio = contrast(ink, ground); ratio < least)
                found.append(QStringLiteral("%1: '%2' of %3 %4: %5 on %6 is %7")
                                 .arg(state, words.text, QLatin1String(widget->metaObject()->className()),
                                      widget->objectName(), ink.name(), ground.name())
                                 .arg(ratio, 0, 'f', 2));
        }
    }
    return found;
}

constexpr std::array modes{Theme::Mode::light, Theme::Mode::dark};

} // namespace

class TestLegible : public WatchedTest {
    Q_OBJECT

    QStringList faint_;

    void look_at(QWidget* window, const QString& state) {
        for (const Theme::Mode mode : modes) {
            Theme::instance().set_mode(mode);
            QTest::qWait(80); // layouts and plots come after it
            faint_ += faint_words(window, (mode == Theme::Mode::dark ? QStringLiteral("dark ") : QString()) + state);
        }
    }

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); }
    void cleanupTestCase() { Theme::instance().set_mode(Theme::Mode::light); }

    /// The test itself sees what it should.
    void faint_words_are_found() {
        QWidget window;
        window.resize(300, 60);
        auto* label = new QLabel(QStringLiteral("hardly seen"), &window);
        label->setGeometry(10, 10, 200, 30);
        label->setStyleSheet(QStringLiteral("color: #8a8f98; background: white"));
        window.show();
        QVERIFY2(faint_words(&window, {}).value(0).contains(QStringLiteral("'hardly seen'")),
                 qPrintable(faint_words(&window, {}).join(QLatin1Char('\n'))));
        label->setStyleSheet(QStringLiteral("color: #202020; background: white"));
        QCOMPARE(faint_words(&window, {}), QStringList());
    }

    void every_word_of_the_window() {
        WindowDriver driver(engine, {QStringLiteral("--more-runs"), QStringLiteral("1"), QStringLiteral("--pace"),
                                     QStringLiteral("1")}); // so that it trains still when all was looked at
        QWidget* window = driver.window.get();
        QTRY_VERIFY(driver.find(QStringLiteral("preset-train-small")));
        QTest::qWait(300); // the plans of the presets
        look_at(window, QStringLiteral("gallery"));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("advanced")));
        QTest::qWait(600); // the data set and the plan
        look_at(window, QStringLiteral("configuring"));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70)); // an epoch, with its markers
        look_at(window, QStringLiteral("running"));
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        for (int tab = 0; tab < driver.window->run_page()->tab_count(); ++tab) {
            driver.window->run_page()->show_tab(tab);
            look_at(window, QStringLiteral("paused, tab %1").arg(tab));
        }
        driver.window->show_run(QStringLiteral("/fake/runs/grow-2"));
        QVERIFY(driver.wait_for_state(RunState::failed));
        look_at(window, QStringLiteral("failed"));
        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.window->run_page()->show_tab(RunPage::results_tab);
        QTRY_VERIFY(!driver.find<ConfusionMatrix>(QStringLiteral("confusion"))->counts().classes.isEmpty());
        look_at(window, QStringLiteral("results"));
        driver.window->show_comparison({QStringLiteral("/fake/runs/quick-1"), QStringLiteral("/fake/runs/more-3")});
        QTRY_VERIFY(driver.window->compare_page()->runs().curves(1));
        look_at(window, QStringLiteral("compare"));
        QVERIFY(driver.pick(QStringLiteral("addMachine")));
        auto* dialog = driver.find(QStringLiteral("machineDialog"));
        QTRY_VERIFY(dialog && dialog->isVisible());
        look_at(dialog, QStringLiteral("a machine"));
        QVERIFY(driver.click(QStringLiteral("machineCancel")));
        driver.window->show_run(QStringLiteral("/fake/runs/more-3"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.window->run_page()->show_tab(1); // tags and notes that are empty
        look_at(window, QStringLiteral("notes"));
        QVERIFY2(faint_.isEmpty(), qPrintable(faint_.join(QLatin1Char('\n'))));
    }

    void every_legend_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QStringList>("legends"); ///< of the four plots
        QTest::newRow("processor") << QStringList()
                                   << QStringList{QStringLiteral("train validation"),
                                                  QStringLiteral("train validation"),
                                                  QStringLiteral("process weights optimizer activations workspace"),
                                                  QStringLiteral("step")};
        QTest::newRow("GPU") << QStringList{QStringLiteral("--gpu")}
                             << QStringList{QStringLiteral("train validation"), QStringLiteral("train validation"),
                                            QStringLiteral("process weights optimizer activations workspace"),
                                            QStringLiteral("step utilisation")};
    }
    void every_legend() {
        QFETCH(QStringList, arguments);
        QFETCH(QStringList, legends);
        WindowDriver driver(engine, arguments);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        for (const Theme::Mode mode : modes) {
            Theme::instance().set_mode(mode);
            for (std::size_t i = 0; i < 4; ++i) {
                LivePlot* plot = driver.window->run_page()->plots()->plots()[i];
                TextRecorder recorder(plot->size());
                QCPPainter painter(&recorder);
                plot->render_to(painter);
                painter.end();
                for (const QString& name : legends[static_cast<qsizetype>(i)].split(QLatin1Char(' ')))
                    QVERIFY2(recorder.has(name), qPrintable(plot->title() + QStringLiteral(" lacks ") + name));
                for (const auto& words : recorder.words)
                    QVERIFY2(contrast(words.ink, Theme::instance().color(Role::panel)) >= least,
                             qPrintable(QStringLiteral("%1: %2").arg(plot->title(), words.text)));
            }
        }
    }

    /// The options beside them give way, and come back.
    void the_curves_of_a_narrow_plot_keep_their_names() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        const LivePlot* plot = driver.window->run_page()->plots()->loss();
        const auto* header = plot->findChild<PlotHeader*>();
        const auto named = [&] {
            TextRecorder recorder(header->size());
            QPainter painter(&recorder);
            header->draw(painter, header->size());
            painter.end();
            return recorder.has(QStringLiteral("train")) && recorder.has(QStringLiteral("validation"));
        };
        const auto* log = driver.window->run_page()->findChild<QPushButton*>(QStringLiteral("plotLog"));
        for (const int width : {1280, 1100, 960, 1280}) {
            driver.window->resize(width, 720);
            QTRY_VERIFY2(named(), qPrintable(QString::number(header->width())));
            QVERIFY(width < 1280 || log->isVisible());
        }
    }

    /// In the narrowest window: the number of a tile's last line, and every line of a preset's card.
    void what_is_narrow_is_read() {
        Theme::instance().set_mode(Theme::Mode::light);
        MetricTile tile(QStringLiteral("Loss"));
        tile.resize(136, 76);
        tile.set_context(QStringLiteral("best validation 0.545"));
        const auto of_tile = written_by(&tile);
        QVERIFY(
            std::ranges::any_of(of_tile, [](const auto& one) { return one.text.endsWith(QStringLiteral("0.545")); }));
        for (const char* summary :
             {"A first look.", "A network that starts with 103,402 parameters and grows to 2 million.",
              "A residual network of 3 blocks for photos of 96 pixels: a first result on your own."}) {
            PresetCard card({"a", "A", "grow", "small", QLatin1String(summary), true, {}});
            card.set_facts(QStringLiteral("78 k parameters · about 3 min"), QStringLiteral("fits at batch 64"),
                           Role::good);
            const int width = card.minimumSizeHint().width();
            card.resize(width, card.heightForWidth(width));
            const auto lines = written_by(&card);
            QVERIFY(joined(lines).contains(QStringLiteral("78 k parameters · about 3 min")));
            QVERIFY(joined(lines).contains(QStringLiteral("fits at batch 64")));
            QVERIFY(lines.size() >= 4);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                QVERIFY2(QRectF(card.rect()).contains(lines[i].place), qPrintable(lines[i].text));
                for (std::size_t j = 0; j < i; ++j)
                    QVERIFY2(!lines[i].place.adjusted(0, 2, 0, -2).intersects(lines[j].place.adjusted(0, 2, 0, -2)),
                             qPrintable(lines[i].text));
            }
        }
    }

    void a_narrow_card_says_the_whole_reason() {
        const QString reason = QStringLiteral("It comes with the architecture search, which this version lacks.");
        PresetCard card({"a", "A", "search", "small", "A quick check of the search.", false, reason});
        card.resize(220, card.heightForWidth(220));
        QVERIFY2(joined(written_by(&card)).contains(reason), qPrintable(joined(written_by(&card))));
    }

    /// A legend takes more lines, a note fewer words; numbers stay.
    void the_head_of_a_narrow_plot_is_read() {
        Theme::instance().set_mode(Theme::Mode::light);
        PlotHeader header;
        std::vector<Curve> curves;
        const QStringList names{QStringLiteral("process"), QStringLiteral("weights"), QStringLiteral("optimizer"),
                                QStringLiteral("activations"), QStringLiteral("workspace")};
        for (const QString& name : names) {
            Curve curve;
            curve.name = name;
            curves.push_back(curve);
        }
        header.set_title(QStringLiteral("GPU memory"));
        header.set_curves(curves);
        header.set_note(
            {QStringLiteral("best 85.5 % at epoch 16"), QStringLiteral("best 85.5 %"), QStringLiteral("85.5 %")});
        for (int width = 200; width < 800; width += 20) {
            header.resize(width, header.height());
            header.grab(); // it has got its height
            const auto words = written_by(&header);
            for (const QString& name : names)
                QVERIFY2(std::ranges::any_of(words, [&](const auto& one) { return one.text == name; }),
                         qPrintable(QStringLiteral("%1: %2").arg(width).arg(joined(words))));
            for (const auto& one : words)
                QVERIFY2(QRectF(header.rect()).contains(one.place), qPrintable(one.text));
        }
        header.set_curves({curves.begin(), curves.begin() + 1});
        for (int width = 230; width < 500; width += 5) {
            header.resize(width, 20);
            QVERIFY2(joined(written_by(&header)).contains(QStringLiteral("85.5 %")),
                     qPrintable(QString::number(width)));
        }
    }

    void a_narrow_table_of_classes_shows_all_its_columns() {
        ClassTable table;
        table.set_rows({{QStringLiteral("Ankle boot"), 12345, 1, 1, 1}});
        for (const int width : {316, 330, 400, 500}) {
            table.resize(width, 200);
            table.grab();
            const QRect last = table.visualRect(table.model()->index(0, ClassTable::f1));
            QVERIFY2(last.right() < table.viewport()->width(), qPrintable(QString::number(last.right())));
            for (int column = ClassTable::images; column < ClassTable::column_count; ++column) {
                const QString text = table.model()->index(0, column).data().toString();
                QVERIFY2(table.fontMetrics().horizontalAdvance(text) + 6 <= table.columnWidth(column),
                         qPrintable(text));
            }
        }
    }

    /// Whatever lies behind words that are drawn on a colour.
    void words_on_colours() {
        for (const Theme::Mode mode : modes) {
            Theme& theme = Theme::instance();
            theme.set_mode(mode);
            for (int i = 0; i < role_count; ++i)
                for (const Role ground : {Role::panel, Role::window, Role::inner_border})
                    for (int share = 0; share <= 100; ++share) {
                        const QColor wanted =
                            mixed(theme.color(static_cast<Role>(i)), theme.color(ground), share / 100.0);
                        const auto [given, ink] = legible(wanted);
                        QVERIFY(contrast(ink, given) >= least);
                        QVERIFY(given == wanted || contrast(ink, wanted) < least);
                    }
            for (int tag = 1; tag <= most_tags; ++tag) // their colour is the curve's: it stays
                QCOMPARE(legible(theme.color(tag_role(tag))).ground, theme.color(tag_role(tag)));
        }
    }

    void a_long_name_gives_way_to_how_the_run_stands() {
        ProgressHeader header;
        header.set_state(RunState::running);
        header.set_progress(QStringLiteral("epoch 12 of 30"), 0.4, QStringLiteral("10:12:40 left"));
        for (const int length : {5, 30, 100})
            for (const int width : {560, 700, 1000}) {
                header.resize(width, 32);
                header.set_name(QString(length, QLatin1Char('m')), QStringLiteral("Train, medium"));
                TextRecorder recorder(header.size());
                header.render(&recorder);
                for (const char* words : {"Running", "epoch 12 of 30", "10:12:40 left"})
                    QVERIFY2(recorder.has(QLatin1String(words)), words);
                QVERIFY(!recorder.words.front().text.isEmpty());
            }
        header.resize(1000, 32);
        header.set_name(QStringLiteral("quick-1"), QStringLiteral("Train, medium"));
        TextRecorder recorder(header.size());
        header.render(&recorder);
        QVERIFY(recorder.has(QStringLiteral("quick-1")) && recorder.has(QStringLiteral("Train, medium")));
    }
};

WATCHED_TEST_MAIN(TestLegible)
#include "tst_legible.moc"
