// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever stands in the file of the settings, the window starts, can be seen and used, keeps what was damaged, and
// says so.
#include "settings.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QDataStream>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QScreen>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

namespace {

/// What QWidget::saveGeometry writes (Qt 6), for a window that stood there.
QByteArray place(const QRect& frame, int screen = 0, int screen_width = 1920, bool maximized = false,
                 bool full_screen = false) {
    QByteArray bytes;
    QDataStream stream(&bytes, QIODevice::WriteOnly);
    stream.setVersion(QDataStream::Qt_4_0);
    stream << quint32{0x1D9D0CB} << quint16{3} << quint16{0} << frame << frame << qint32{screen}
           << static_cast<quint8>(maximized) << static_cast<quint8>(full_screen) << qint32{screen_width} << frame;
    return bytes;
}

QByteArray random_bytes(int count) {
    QRandomGenerator random(7);
    QByteArray bytes;
    for (int i = 0; i < count; ++i)
        bytes.append(static_cast<char>(random.bounded(256)));
    return bytes;
}

QByteArray with_place(const QByteArray& geometry) {
    return QJsonDocument(QJsonObject{{QStringLiteral("version"), 1},
                                     {QStringLiteral("theme"), QStringLiteral("dark")},
                                     {QStringLiteral("geometry"), QString::fromLatin1(geometry.toBase64())}})
        .toJson();
}

void write(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// As much of it lies on a screen as a hand needs to take hold of it, and to reach the tool bar.
bool can_be_seen(const QWidget* window) {
    const QRect grip(window->frameGeometry().topLeft(), QSize(200, 40));
    const auto screens = QGuiApplication::screens();
    return std::any_of(screens.begin(), screens.end(),
                       [&](const QScreen* screen) { return screen->availableGeometry().contains(grip); });
}

} // namespace

class TestSettings : public WatchedTest {
    Q_OBJECT

private slots:
    void damage_is_kept_and_said_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("said");
        const QByteArray sound = with_place(place({40, 40, 1280, 720}));
        const QString anew = QStringLiteral("The settings could not be read"),
                      moved = QStringLiteral("The window's place could not be read");
        QTest::newRow("empty") << QByteArray() << anew;
        QTest::newRow("zeros") << QByteArray(4096, '\0') << anew; // what a power cut leaves
        QTest::newRow("half") << sound.left(sound.size() / 2) << anew;
        QTest::newRow("random") << random_bytes(2000) << anew;
        QTest::newRow("another file") << QByteArray("[1, 2, 3]") << anew;
        QTest::newRow("deep") << QByteArray(100000, '[') << anew;
        QTest::newRow("random window state") << with_place(random_bytes(66)) << moved;
        QTest::newRow("half a window state") << with_place(place({40, 40, 1280, 720}).left(20)) << moved;
        QTest::newRow("no window state") << QByteArray(R"({"version": 1, "geometry": "!?!"})") << moved;
    }
    void damage_is_kept_and_said() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, said);
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        write(file, bytes);
        {
            WindowDriver driver(QStringLiteral(FAKE_SERVE), {}, file);
            auto* band = driver.find(QStringLiteral("message"));
            QVERIFY(band->isVisible());
            QVERIFY2(band->accessibleName().startsWith(said), qPrintable(band->accessibleName()));
            QVERIFY2(band->accessibleName().endsWith(QStringLiteral("is kept as %1.damaged.").arg(file)),
                     qPrintable(band->accessibleName()));
            QCOMPARE(read(file + QStringLiteral(".damaged")), bytes);
            QVERIFY(can_be_seen(driver.window.get()));
            QVERIFY(driver.click(QStringLiteral("preset-quick")));
            QVERIFY(driver.window->close());
        }
        QString problem;
        (void)Settings::load(file, &problem);
        QVERIFY2(problem.isEmpty(), qPrintable(problem)); // it was written anew
        QCOMPARE(read(file + QStringLiteral(".damaged")), bytes);
    }

    /// Fields of other types count for nothing; those that are sound stay.
    void what_is_sound_counts() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        write(file,
              R"({"version": 1, "theme": "dark", "safe_mode": "maybe", "last_run": 7, "geometry": {}, "machine": [], )"
              R"("machines": [7, {"kind": "ssh"}, {"kind": "ssh", "host": "lab"}]})");
        QString problem;
        const Settings settings = Settings::load(file, &problem);
        QVERIFY(problem.isEmpty());
        QCOMPARE(settings.theme, Theme::Mode::dark);
        QVERIFY(!settings.safe_mode && settings.last_run.isEmpty() && settings.machine.isEmpty());
        QCOMPARE(settings.machines.size(), std::size_t{1});
        QCOMPARE(settings.machines.front().host, QStringLiteral("lab"));
    }

    void a_backup_that_cannot_be_made_is_said() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        write(file, "{");
        QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("settings.json.damaged/full"))); // in the way
        QString problem;
        QCOMPARE(Settings::load(file, &problem).theme, Theme::Mode::system);
        QVERIFY2(problem.contains(QStringLiteral("could not be kept")), qPrintable(problem));
    }

    /// A screen has gone, or another one has come with fewer pixels: a lid was closed, a scale was changed.
    void a_window_that_was_elsewhere_comes_back_data() {
        QTest::addColumn<QByteArray>("geometry");
        QTest::newRow("on a screen at the right") << place({5000, 200, 1280, 720}, 1);
        QTest::newRow("on a screen at the left") << place({-3000, 100, 1280, 720}, 1);
        QTest::newRow("above") << place({100, -2000, 1280, 720});
        QTest::newRow("its title above the edge") << place({100, -700, 1280, 720});
        QTest::newRow("far below") << place({100, 30000, 1280, 720});
        QTest::newRow("on the fourth of one screen") << place({40, 40, 1280, 720}, 3);
        QTest::newRow("larger than any screen") << place({0, 0, 30000, 20000}, 0, 30720);
        QTest::newRow("nothing of it") << place({100, 100, 0, 0});
        QTest::newRow("turned inside out") << place(QRect(QPoint(500, 500), QPoint(100, 100)));
        QTest::newRow("at the end of the numbers") << place(QRect(2147483000, 2147483000, 640, 640));
        QTest::newRow("maximized on a screen that is gone") << place({5000, 200, 1280, 720}, 1, 3840, true);
    }
    void a_window_that_was_elsewhere_comes_back() {
        QFETCH(QByteArray, geometry);
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        write(file, with_place(geometry));
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {}, file);
        QVERIFY(driver.window->isVisible());
        QVERIFY(!driver.find(QStringLiteral("message"))->isVisible()); // another screen is no damage
        QTRY_VERIFY2(can_be_seen(driver.window.get()),
                     qPrintable(QDebug::toString(driver.window->frameGeometry()) + QStringLiteral(" on ") +
                                QDebug::toString(driver.window->screen()->availableGeometry())));
        const QSize size = driver.window->size(), most = driver.window->screen()->availableSize();
        QVERIFY(size.width() >= driver.window->minimumWidth() && size.height() >= driver.window->minimumHeight());
        QVERIFY2(size.width() <= std::max(most.width(), driver.window->minimumWidth()),
                 qPrintable(QDebug::toString(size)));
        QVERIFY(size.height() <= std::max(most.height(), driver.window->minimumHeight()));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
    }
};

WATCHED_TEST_MAIN(TestSettings)
#include "tst_settings.moc"
