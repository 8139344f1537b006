// SPDX-License-Identifier: GPL-3.0-or-later
// Plots in files: all of them or one, as pictures and as a table of their numbers.
#include "plot_driver.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QFile>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QSvgRenderer>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

namespace {

/// Types the file's name and presses Enter.
void save_as(QFileDialog* dialog, const QString& file) {
    auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    name->setText(file);
    QTest::keyClick(name, Qt::Key_Return);
}

} // namespace

class TestPlotExports : public WatchedTest {
    Q_OBJECT

private slots:
    void all_plots_go_into_a_file_data() {
        QTest::addColumn<QString>("suffix");
        for (const char* suffix : {"png", "svg", "pdf", "csv"})
            QTest::newRow(suffix) << QString::fromLatin1(suffix);
    }
    void all_plots_go_into_a_file() {
        QFETCH(QString, suffix);
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("all.") + suffix);
        QLocale::setDefault(QLocale(QLocale::German)); // commas between digits
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        driver.window->run_page()->redraw_plots();
        const QSize size = driver.window->run_page()->plots()->size();
        driver.key(Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("exportPlots"));
        QVERIFY(dialog);
        QVERIFY(dialog->selectedFiles().value(0).contains(QStringLiteral("quick-1-plots")));
        save_as(dialog, file);
        QTRY_VERIFY(QFile::exists(file));
        auto* message = driver.find(QStringLiteral("message"));
        QTRY_VERIFY(message->isVisible());
        QVERIFY2(message->accessibleName().contains(file), qPrintable(message->accessibleName()));
        QLocale::setDefault(QLocale::system());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QByteArray bytes = written.readAll();
        if (suffix == u"png") {
            const QImage image = QImage::fromData(bytes);
            QCOMPARE(image.size(), (size + QSize(16, 16)) * 2);
            const QColor curve = Theme::instance().color(Role::series1);
            int drawn = 0;
            for (int y = 0; y < image.height() / 2; ++y)
                for (int x = 0; x < image.width() / 2; ++x)
                    drawn += image.pixelColor(x, y) == curve ? 1 : 0;
            QVERIFY(drawn > 200);
        } else if (suffix == u"svg") {
            QVERIFY(QSvgRenderer(bytes).isValid());
            QVERIFY(bytes.contains("Accuracy"));
            QVERIFY(!bytes.contains("starts with the first step")); // what an empty plot says
            QVERIFY(bytes.size() > 20000);
        } else if (suffix == u"pdf") {
            QVERIFY(bytes.startsWith("%PDF"));
            QVERIFY(bytes.size() > 5000);
        } else {
            const QList<QByteArray> lines = bytes.split('\n');
            QCOMPARE(lines.size(), 756 + 2); // header, a row a step, the end
            QVERIFY2(lines[0].startsWith("step,epoch,seconds,Loss,Loss train smoothed,Loss validation,Accuracy"),
                     lines[0].constData());
            const SmoothedSeries& loss = driver.run()->loss;
            for (const int row : {1, 500, 756}) {
                const QList<QByteArray> cells = lines[row].split(',');
                QCOMPARE(cells.size(), lines[0].count(',') + 1);
                QCOMPARE(cells[0].toInt(), row);
                QCOMPARE(cells[3].toFloat(), loss.raw.value_at(static_cast<std::size_t>(row - 1)));
                QCOMPARE(cells[4].toFloat(), loss.smooth.value_at(static_cast<std::size_t>(row - 1)));
            }
            const qsizetype workspace = lines[0].split(',').indexOf("Memory workspace");
            QVERIFY(workspace > 0);
            QCOMPARE(lines[9].split(',')[workspace].toFloat(), 9 * 1024 * 1024.0F); // itself, not the sum that is drawn
            QVERIFY(lines[63].split(',')[5].toFloat() > 0);                         // evaluated at the end of an epoch
            QVERIFY(lines[62].split(',')[5].isEmpty());                             // and not before
        }
    }

    void one_plot_goes_into_a_file_and_faults_are_said() {
        const QTemporaryDir folder;
        WindowDriver driver(engine);
        QVERIFY(open_finished(driver));
        LivePlot* plot = driver.window->run_page()->plots()->accuracy();
        QVERIFY(choose(plot->findChild<QPushButton*>(QStringLiteral("plotMenu")), QStringLiteral("Export this plot…")));
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("exportPlots"));
        QVERIFY(dialog);
        const QSize size = plot->size();
        const QString file = folder.filePath(QStringLiteral("one.png"));
        save_as(dialog, file);
        QTRY_VERIFY(QFile::exists(file));
        QCOMPARE(QImage(file).size(), size * 2);
        auto* message = driver.find(QStringLiteral("message"));
        for (const char* name : {"/no/such/folder/plot.svg", "/no/such/folder/plot.csv"}) {
            driver.window->run_page()->exports()->write({plot}, QString::fromLatin1(name));
            QTRY_VERIFY2(message->accessibleName().startsWith(QLatin1String(name) + QStringLiteral(" could not be")),
                         qPrintable(message->accessibleName()));
        }
    }
};

WATCHED_TEST_MAIN(TestPlotExports)
#include "tst_plot_exports.moc"
