// SPDX-License-Identifier: GPL-3.0-or-later
// What the theme promises: every icon can be drawn, every colour is there and can be told from its ground, fonts have
// letters.
#include "format.h"
#include "icon.h"
#include "machine_dialog.h"
#include "plot_header.h"
#include "settings.h"
#include "state_band.h"
#include "tabular.h"
#include "theme.h"
#include "watched_test.h"

#include <QApplication>
#include <QComboBox>
#include <QDirIterator>
#include <QFile>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QStyle>
#include <QStyleOption>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>
#include <cmath>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Relative luminance and contrast as WCAG 2 defines them.
double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double high = std::max(luminance(a), luminance(b)), low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

} // namespace

class TestLooks : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); }

    void fonts_have_letters() { // without fonts text becomes boxes, and no picture would say so
        for (const TextSize size :
             {TextSize::small, TextSize::normal, TextSize::heading, TextSize::title, TextSize::value})
            for (const QChar letter : {QChar(u'A'), QChar(u'0'), QChar(u'·'), QChar(u'…')})
                QVERIFY(QFontMetrics(Theme::instance().font(size)).inFont(letter));
    }

    void every_icon_is_drawn() {
        int icons = 0;
        for (QDirIterator it(QStringLiteral(":/icons")); it.hasNext(); ++icons) {
            it.next();
            QString problem;
            const QString name = it.fileInfo().completeBaseName();
            const QRectF bounds = icon_outline(name, &problem).boundingRect();
            QVERIFY2(problem.isEmpty(), qPrintable(problem));
            QVERIFY2(QRectF(0.5, 0.5, 15, 15).contains(bounds), qPrintable(name));
            QVERIFY2(std::max(bounds.width(), bounds.height()) > 7, qPrintable(name));
        }
        QVERIFY(icons > 15);
        QString problem;
        (void)icon_outline(QStringLiteral("no-such-icon"), &problem);
        QVERIFY(!problem.isEmpty());
    }

    void colours_can_be_told_from_their_ground_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("light") << static_cast<int>(Theme::Mode::light);
        QTest::newRow("dark") << static_cast<int>(Theme::Mode::dark);
    }
    void colours_can_be_told_from_their_ground() {
        QFETCH(int, mode);
        Theme& theme = Theme::instance();
        theme.set_mode(static_cast<Theme::Mode>(mode));
        QCOMPARE(theme.is_dark(), theme.mode() == Theme::Mode::dark);
        for (int i = 0; i < role_count; ++i)
            QVERIFY(theme.color(static_cast<Role>(i)).isValid());
        for (const Role ground : {Role::window, Role::panel})
            for (const Role ink :
                 {Role::text, Role::secondary, Role::hint, Role::accent, Role::good, Role::attention, Role::fault})
                QVERIFY2(contrast(theme.color(ink), theme.color(ground)) >= 4.5,
                         qPrintable(
                             QStringLiteral("role %1 on %2").arg(static_cast<int>(ink)).arg(static_cast<int>(ground))));
        for (const auto& [ink, ground] : {std::pair{Role::on_accent, Role::accent},
                                          {Role::fault, Role::fault_tint},
                                          {Role::attention, Role::attention_tint},
                                          {Role::text, Role::selection}})
            QVERIFY(contrast(theme.color(ink), theme.color(ground)) >= 4.5);
        for (const Role series : {Role::series1, Role::series2, Role::series3, Role::series4, Role::series5,
                                  Role::series6, Role::series7, Role::series8})
            QVERIFY(contrast(theme.color(series), theme.color(Role::panel)) >= 3);
        QVERIFY(!qApp->styleSheet().contains(QLatin1Char('@')));
        QCOMPARE(QApplication::palette().color(QPalette::WindowText), theme.color(Role::text));
    }

    void there_are_few_sizes_of_text() {
        static const QRegularExpression size(QStringLiteral("font-size: ([0-9]+)px"));
        static const QSet<int> sizes{11, 13, 15, 17, 20}; // as Theme::font() has them
        int found = 0;
        for (auto each = size.globalMatch(qApp->styleSheet()); each.hasNext(); ++found) {
            const auto one = each.next();
            QVERIFY2(sizes.contains(one.captured(1).toInt()), qPrintable(one.captured(0)));
        }
        QVERIFY(found > 3);
        for (const TextSize one :
             {TextSize::small, TextSize::normal, TextSize::heading, TextSize::title, TextSize::value})
            QVERIFY(sizes.contains(Theme::instance().font(one).pixelSize()));
    }

    void system_mode_follows_the_system() {
        Theme& theme = Theme::instance();
        theme.set_mode(Theme::Mode::system);
        const bool real = theme.is_dark(); // what the system under the test has
        QList<bool> seen;
        const auto connection = connect(&theme, &Theme::changed, this, [&] { seen.append(theme.is_dark()); });
        QPalette other;
        other.setColor(QPalette::Window, real ? Qt::white : Qt::black);
        QApplication::style()->polish(other); // what Qt does when the system's palette changes
        QTRY_VERIFY(seen.contains(!real));
        QTRY_COMPARE(theme.is_dark(), real); // and back, as the next look at the system finds it unchanged
        disconnect(connection);
    }

    void a_menu_ticks_with_the_icon() {
        const auto picture = [](const auto& draw) {
            QImage image(QSize(28, 28), QImage::Format_ARGB32_Premultiplied);
            image.setDevicePixelRatio(2);
            image.fill(Qt::white);
            QPainter painter(&image);
            draw(painter, QRect(0, 0, 14, 14));
            return image;
        };
        const QImage ticked = picture([](QPainter& painter, const QRect& rect) {
            QStyleOptionMenuItem option;
            option.rect = rect;
            QMenu menu;
            QApplication::style()->drawPrimitive(QStyle::PE_IndicatorMenuCheckMark, &option, &painter, &menu);
        });
        QCOMPARE(ticked, picture([](QPainter& painter, const QRect& rect) {
                     Theme::instance().icon(QStringLiteral("check")).paint(&painter, rect);
                 }));
    }

    void the_icons_of_a_band_follow_the_theme() {
        Theme& theme = Theme::instance();
        theme.set_mode(Theme::Mode::dark);
        StateBand band;
        const auto* button = band.add_action(QStringLiteral("Undo"), QStringLiteral("revert"), true);
        theme.set_mode(Theme::Mode::light);
        QCOMPARE(button->icon().pixmap(20).toImage(),
                 theme.button_icon(QStringLiteral("revert"), Role::on_accent).pixmap(20).toImage());
    }

    /// However long a sentence is, all of it can be read, and it is no narrow column beside the buttons.
    void a_band_shows_all_that_it_says_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("words");
        QTest::addColumn<int>("buttons");
        for (const int width : {700, 1032, 1600})
            for (const int words : {1, 12, 40, 90})
                for (const int buttons : {0, 1, 4})
                    QTest::addRow("%d pixels, %d words, %d buttons", width, words, buttons)
                        << width << words << buttons;
    }
    void a_band_shows_all_that_it_says() {
        QFETCH(int, width);
        QFETCH(int, words);
        QFETCH(int, buttons);
        QWidget window;
        auto* column = new QVBoxLayout(&window);
        auto* band = new StateBand;
        column->addWidget(band);
        column->addWidget(new QWidget, 1);
        window.resize(width, 700);
        window.show();
        for (const int count : {words, 1, words}) { // another message in its place, and the first one again
            band->clear_actions();
            band->set_message(StateBand::Tone::fault,
                              QStringLiteral("optimizer.learning_rate=10 ").repeated(count).trimmed(),
                              QStringLiteral("No checkpoint has been written yet."));
            for (int i = 0; i < buttons; ++i)
                band->add_action(QStringLiteral("Start again in safe mode"), QStringLiteral("shield"), i == 0);
            const auto labels = band->findChildren<QLabel*>();
            for (const auto* label : labels) // layouts are made by events
                QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()),
                             qPrintable(QStringLiteral("%1 < %2").arg(label->height()).arg(
                                 label->heightForWidth(label->width()))));
            QVERIFY(2 * labels.front()->width() >= band->width() || labels.front()->height() < 50);
            for (const auto* button : band->findChildren<QPushButton*>())
                QVERIFY(!button->isVisible() || button->width() >= button->sizeHint().width());
        }
    }

    void every_choice_of_a_machine_shows_its_arrow() {
        MachineDialog dialog({MachineSpec::Kind::wsl, {}, QStringLiteral("Ubuntu"), {}}, {});
        dialog.show();
        const auto choices = dialog.findChildren<QComboBox*>();
        QCOMPARE(choices.size(), 2);
        for (QComboBox* choice : choices) {
            QVERIFY(choice->isVisible());
            const QRect arrow(choice->width() - 21, 6, 12, choice->height() - 12);
            const QImage picture = choice->grab(arrow).toImage();
            int inked = 0;
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x)
                    inked += picture.pixel(x, y) != picture.pixel(0, 0);
            QVERIFY2(inked > 8, qPrintable(choice->objectName()));
        }
    }

    void each_area_of_a_plot_has_its_colour_explained_data() {
        QTest::addColumn<int>("width");
        for (const int width : {600, 540, 500, 460, 440}) // of the window's plots: 460
            QTest::addRow("%d", width) << width;
    }
    void each_area_of_a_plot_has_its_colour_explained() {
        QFETCH(int, width);
        const std::vector<std::pair<const char*, Role>> areas{{"data", Role::hint},
                                                              {"workspace", Role::series2},
                                                              {"activations", Role::series3},
                                                              {"optimizer", Role::series4},
                                                              {"weights", Role::series1}};
        std::vector<Curve> curves;
        for (const auto& [name, role] : areas)
            curves.push_back({QLatin1String(name), role, nullptr, Curve::Shape::area});
        curves.push_back({QStringLiteral("process"), Role::secondary, nullptr, Curve::Shape::dash});
        PlotHeader header;
        header.set_title(QStringLiteral("GPU memory"));
        header.set_curves(curves);
        QImage picture(QSize(width, 60), QImage::Format_ARGB32_Premultiplied); // room for lines below the first
        picture.fill(Theme::instance().color(Role::panel));
        QPainter painter(&picture);
        header.draw(painter, picture.size());
        for (const auto& [name, role] : areas) {
            int inked = 0;
            for (int y = 0; y < picture.height(); ++y)
                for (int x = 0; x < picture.width(); ++x)
                    inked += picture.pixelColor(x, y) == Theme::instance().color(role);
            QVERIFY2(inked >= 49, name);
        }
    }

    void digits_keep_their_columns() {
        const QFontMetrics metrics(Theme::instance().font(TextSize::value));
        QCOMPARE(tabular_width(metrics, QStringLiteral("111.11")), tabular_width(metrics, QStringLiteral("888.88")));
    }

    void what_has_no_room_is_left_out_whole() {
        const QFontMetrics metrics(Theme::instance().font(TextSize::small));
        const QStringList parts{QStringLiteral("about 9 min"), QStringLiteral("up to batch 4,000"),
                                QStringLiteral("99 k parameters")};
        const QString all = parts.join(QStringLiteral(" · "));
        for (int width = 0; width < tabular_width(metrics, all) + 10; ++width) {
            const QString shown = whole_parts(parts, metrics, width);
            QVERIFY(tabular_width(metrics, shown) <= width);
            QVERIFY(shown.isEmpty() || all == shown || all.startsWith(shown + QStringLiteral(" · ")));
        }
        QCOMPARE(whole_parts(parts, metrics, tabular_width(metrics, all)), all);
    }

    void numbers_are_written_for_people() {
        QCOMPARE(format_count(9120), QStringLiteral("9,120"));
        QCOMPARE(format_short(78000), QStringLiteral("78 k"));
        QCOMPARE(format_short(2790000), QStringLiteral("2.8 M"));
        QCOMPARE(format_short(999999), QStringLiteral("1 M"));
        QCOMPARE(format_bytes(7.4 * 1024 * 1024 * 1024), QStringLiteral("7.4 GB"));
        QCOMPARE(format_bytes(52000000), QStringLiteral("50 MB"));
        QCOMPARE(format_percent(0.8834), QStringLiteral("88.3 %"));
        for (int right = 0; right <= 2000; ++right) { // whether a curve or an event tells it
            const double share = right / 2000.0;
            QCOMPARE(format_percent(static_cast<double>(static_cast<float>(share))), format_percent(share));
        }
        QCOMPARE(format_percent(0.8765), QStringLiteral("87.7 %"));
        QCOMPARE(format_percent(1), QStringLiteral("100.0 %"));
        QCOMPARE(format_loss(0.41234), QStringLiteral("0.412"));
        QCOMPARE(format_loss(std::nan("")), QStringLiteral("NaN"));
        QCOMPARE(format_clock(760), QStringLiteral("0:12:40"));
        QCOMPARE(format_about(4210), QStringLiteral("1 h 10"));
        QCOMPARE(format_about(0.2), QStringLiteral("1 s"));
    }

    void settings_survive_and_damage_is_said() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("a/settings.json"));
        QString problem;
        Settings settings = Settings::load(file, &problem);
        QVERIFY(problem.isEmpty());
        settings.theme = Theme::Mode::dark;
        settings.geometry = QByteArray("\0\1\2", 3);
        settings.safe_mode = true;
        QCOMPARE(settings.save(file), QString());
        const Settings again = Settings::load(file, &problem);
        QVERIFY(problem.isEmpty());
        QCOMPARE(again.theme, Theme::Mode::dark);
        QCOMPARE(again.geometry, settings.geometry);
        QVERIFY(again.safe_mode);
        QFile broken(file);
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("{\"version\": 1, \"theme\": ");
        broken.close();
        QCOMPARE(Settings::load(file, &problem).theme, Theme::Mode::system);
        QVERIFY(problem.contains(QStringLiteral("settings.json.damaged")));
        QVERIFY(QFile::exists(file + QStringLiteral(".damaged")));
    }
};

WATCHED_TEST_MAIN(TestLooks)
#include "tst_looks.moc"
