// SPDX-License-Identifier: GPL-3.0-or-later
// The device of new runs, chosen in the menu of the machine chip. A stand-in for the engine says what there is.
#include "configure_page.h"
#include "device_choice.h"
#include "run_form.h"
#include "stand_in.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QWidgetAction>

using namespace espalier;
using namespace espalier::test;

namespace {

const QStringList two_gpus{QStringLiteral("--two-gpus")};
const QString first_card = QStringLiteral("device-cuda:GPU-1"), second_card = QStringLiteral("device-cuda:GPU-2"),
              old_card = QStringLiteral("device-cuda:GPU-3"), processor = QStringLiteral("device-cpu");

/// What the chip says once it does.
bool chip_says(WindowDriver& driver, const QString& words) {
    const auto* chip = driver.find<QPushButton>(QStringLiteral("machine"));
    return QTest::qWaitFor([&] { return chip->text() == words; }) || (qWarning("%s", qPrintable(chip->text())), false);
}

QMenu* open_menu(WindowDriver& driver) {
    auto* menu = driver.find<QMenu>(QStringLiteral("machineMenu"));
    return driver.click(QStringLiteral("machine")) && QTest::qWaitFor([&] { return menu->isVisible(); }) ? menu
                                                                                                         : nullptr;
}

QStringList checked(const QMenu* menu) {
    QStringList names;
    for (const QAction* action : menu->actions())
        if (action->isCheckable() && action->isChecked())
            names.append(action->objectName());
    return names;
}

QString facts_of(WindowDriver& driver, const char* preset) {
    auto* card = driver.find(QStringLiteral("preset-") + QLatin1String(preset));
    return card ? card->accessibleDescription() : QString();
}

QString backend_in_form(WindowDriver& driver) {
    return driver.find<QComboBox>(QStringLiteral("field-backend"))->currentData().toString();
}

Settings remembered(const QString& file) {
    QString problem;
    return Settings::load(file, &problem);
}

} // namespace

class TestDevices : public WatchedTest {
    Q_OBJECT

private slots:
    void the_menu_lists_what_can_train_and_why_the_rest_cannot() {
        WindowDriver driver(engine, two_gpus);
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 · this PC")));
        QMenu* menu = open_menu(driver);
        QVERIFY(menu);
        QCOMPARE(checked(menu), QStringList{first_card});
        QCOMPARE(menu->findChild<QAction*>(second_card)->text(),
                 QStringLiteral("RTX 3090 (1) · 22.5 GB of 24.0 GB free"));
        QCOMPARE(menu->findChild<QAction*>(processor)->text(), QStringLiteral("AMD EPYC 7B13 · 24.0 GB of memory"));
        auto* refused = menu->findChild<QWidgetAction*>(old_card);
        QVERIFY(refused && !refused->isEnabled());
        QStringList words;
        for (const auto* label : refused->defaultWidget()->findChildren<QLabel*>())
            words.append(label->text());
        QCOMPARE(words, (QStringList{QStringLiteral("GTX 980"),
                                     QStringLiteral("Its compute capability is 5.2, and 7.5 or newer is needed.")}));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(refused).center());
        menu->close();
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 · this PC")));
    }

    void one_device_is_listed_too() {
        WindowDriver driver(engine);
        QVERIFY(chip_says(driver, QStringLiteral("AMD EPYC 7B13 · this PC")));
        QMenu* menu = open_menu(driver);
        QVERIFY(menu);
        QCOMPARE(checked(menu), QStringList{processor});
        QCOMPARE(menu->findChild<QAction*>(processor)->text(), QStringLiteral("AMD EPYC 7B13 · 24.0 GB of memory"));
        menu->close();
    }

    void why_it_is_not_the_gpu_is_said_and_what_to_do() {
        WindowDriver driver(engine, {QStringLiteral("--old-driver")});
        const auto* line = driver.find<QLabel>(QStringLiteral("machineLine"));
        QTRY_COMPARE(line->text(), QStringLiteral("Training on the processor: No NVIDIA driver is installed."));
        QVERIFY(driver.click(QStringLiteral("how")));
        QTRY_VERIFY(driver.find(QStringLiteral("gpuHelp")));
        auto* help = driver.find<QMessageBox>(QStringLiteral("gpuHelp"));
        QTRY_VERIFY(help->isVisible());
        for (const char* words : {"No NVIDIA driver is installed.", "release 580 or newer", "espalier-cuda"})
            QVERIFY2(help->informativeText().contains(QLatin1String(words)), words);
        QVERIFY(driver.click(QStringLiteral("closeHelp")));
        QTRY_VERIFY(!driver.find(QStringLiteral("gpuHelp")));
    }

    void a_machine_with_its_gpu_offers_no_help() {
        WindowDriver driver(engine, two_gpus);
        const auto* line = driver.find<QLabel>(QStringLiteral("machineLine"));
        QTRY_COMPARE(line->text(), QStringLiteral("● RTX 3090 ready · 22.5 GB of 24.0 GB free"));
        QVERIFY(!driver.find(QStringLiteral("how"))->isVisible());
        QVERIFY(driver.pick(processor)); // somebody wants it so
        QTRY_VERIFY(line->text().contains(QStringLiteral("EPYC 7B13 ready")));
        QVERIFY(!driver.find(QStringLiteral("how"))->isVisible());
    }

    void the_chosen_device_is_that_of_new_runs() {
        WindowDriver driver(engine, two_gpus);
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 · this PC")));
        QTRY_VERIFY(facts_of(driver, "train-small").contains(QStringLiteral("48 s")));
        QVERIFY(driver.pick(processor));
        QVERIFY(chip_says(driver, QStringLiteral("AMD EPYC 7B13 · this PC")));
        QTRY_VERIFY2(facts_of(driver, "train-small").contains(QStringLiteral("8 min")),
                     qPrintable(facts_of(driver, "train-small")));
        QVERIFY(driver.pick(second_card));
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 (1) · this PC")));

        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QCOMPARE(backend_in_form(driver), QStringLiteral("cuda:GPU-2"));
        QVERIFY(driver.click(QStringLiteral("copyCommand")));
        QVERIFY2(QApplication::clipboard()->text().contains(QStringLiteral("--set backend=cuda:GPU-2")),
                 qPrintable(QApplication::clipboard()->text()));
        QVERIFY(driver.pick(processor)); // with the form open
        QCOMPARE(backend_in_form(driver), QStringLiteral("cpu"));
        auto* form = driver.window->findChild<RunForm*>();
        QCOMPARE(form->changes().value(QStringLiteral("backend")).toString(), QStringLiteral("cpu"));
        QVERIFY(driver.pick(first_card)); // the best: as without a choice
        QCOMPARE(backend_in_form(driver), QStringLiteral("auto"));
        QVERIFY(!form->changes().contains(QStringLiteral("backend")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::running));
    }

    void each_machine_has_its_own_and_keeps_it() {
        const QTemporaryDir folder;
        const QString settings = folder.filePath(QStringLiteral("settings.json"));
        QFile ssh(folder.filePath(QStringLiteral("ssh"))); // to a machine with a processor alone
        QVERIFY(ssh.open(QIODevice::WriteOnly));
        ssh.write("#!/bin/sh\nexec " FAKE_SERVE "\n");
        ssh.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        ssh.close();
        const QByteArray path = qgetenv("PATH");
        qputenv("PATH", folder.path().toLocal8Bit() + ':' + path);
        const MachineSpec lab{MachineSpec::Kind::ssh, QStringLiteral("lab"), QStringLiteral("ada@lab"), {}};
        {
            WindowDriver driver(engine, two_gpus, settings);
            QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 · this PC")));
            QVERIFY(driver.pick(second_card));
            driver.window->use_machine(lab);
            QVERIFY(chip_says(driver, QStringLiteral("AMD EPYC 7B13 · lab")));
            QVERIFY(driver.click(QStringLiteral("preset-quick")));
            QCOMPARE(backend_in_form(driver), QStringLiteral("auto"));
            driver.window->use_machine({});
            QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 (1) · this PC")));
            driver.window->close();
        }
        qputenv("PATH", path);
        QCOMPARE(remembered(settings).devices,
                 (std::map<QString, QString>{{MachineSpec().id(), QStringLiteral("cuda:GPU-2")}}));
        WindowDriver driver(engine, two_gpus, settings);
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 (1) · this PC")));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QCOMPARE(backend_in_form(driver), QStringLiteral("cuda:GPU-2"));
        QVERIFY(driver.pick(first_card));
        driver.window->close();
        QVERIFY(remembered(settings).devices.empty());
    }

    void a_form_that_is_open_before_the_machine_has_answered_gets_it() {
        ConfigurePage page;
        page.set_preset(QStringLiteral("quick"), QStringLiteral("Quick"), Json::object(), false);
        auto* box = page.findChild<QComboBox*>(QStringLiteral("field-backend"));
        page.set_device({}, QStringLiteral("cpu"));
        QCOMPARE(box->currentData().toString(), QStringLiteral("auto"));
        DeviceSummary devices;
        devices.choices = {
            {QStringLiteral("cuda:GPU-1"), QStringLiteral("RTX 3090"), {}, {}, QStringLiteral("cuda"), {}},
            {QStringLiteral("cpu"), QStringLiteral("EPYC"), {}, {}, QStringLiteral("cpu"), {}}};
        page.set_device(devices, QStringLiteral("cpu"));
        QCOMPARE(box->currentData().toString(), QStringLiteral("cpu"));
    }

    void a_chosen_device_that_is_gone_is_said_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("words");
        QTest::newRow("pulled") << QStringLiteral("cuda:GPU-9") << QStringLiteral("is not there. They take RTX 3090.");
        QTest::newRow("too old") << QStringLiteral("cuda:GPU-3")
                                 << QStringLiteral("GTX 980, chosen for new runs, cannot train now: Its compute");
    }
    void a_chosen_device_that_is_gone_is_said() {
        QFETCH(QString, device);
        QFETCH(QString, words);
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        Settings settings;
        settings.devices[MachineSpec().id()] = device;
        QCOMPARE(settings.save(file), QString());
        WindowDriver driver(engine, two_gpus, file);
        QVERIFY(chip_says(driver, QStringLiteral("RTX 3090 · this PC")));
        auto* band = driver.find(QStringLiteral("message"));
        QTRY_VERIFY2(band->isVisible() && band->accessibleName().contains(words), qPrintable(band->accessibleName()));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QCOMPARE(backend_in_form(driver), QStringLiteral("auto"));
        driver.window->close();
        QCOMPARE(remembered(file).devices[MachineSpec().id()], device); // it may come back
    }
};

WATCHED_TEST_MAIN(TestDevices)
#include "tst_devices.moc"
