// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine_test.h"

#include "device_summary.h"

namespace espalier {

namespace {
constexpr int beat_ms = 50;
constexpr int patience_ms = 30000; ///< a machine that has to start its driver takes a while
} // namespace

MachineTest::MachineTest(const MachineSpec& spec, const CommandLine& here, QObject* parent)
    : QObject(parent), machine_(here) {
    connect(&machine_, &Machine::connected, this, [this] {
        machine_.request(
            "probe", Json::object(),
            {[this](const Json& probe) {
                 const DeviceSummary devices = summarize_devices(probe);
                 QString text = tr("Connected: espalier-train %1. %2.").arg(machine_.build(), devices.line);
                 if (!machine_.noise().isEmpty())
                     text +=
                         QLatin1Char(' ') +
                         tr("Its login prints other text first (\"%1\"), which is passed over.").arg(machine_.noise());
                 end(true, text);
             },
             [this](const QString& text, int) { end(false, text); },
             {},
             {}});
    });
    connect(&machine_, &Machine::lost, this, [this](const QString& reason, bool) { end(false, reason); });
    connect(&machine_, &Machine::silent, this, [this](const QString& text) { end(false, text); });
    connect(&tick_, &QTimer::timeout, this, [this] { machine_.take(beat_ms / 2); });
    connect(&patience_, &QTimer::timeout, this, [this] {
        end(false,
            machine_.is_connected()
                ? tr("espalier-train answers on %1, but does not say what devices there are.").arg(machine_.name())
                : tr("%1 has not answered for %2 seconds.").arg(machine_.name()).arg(patience_ms / 1000));
    });
    tick_.start(beat_ms);
    patience_.start(patience_ms);
    machine_.use(spec);
}

void MachineTest::end(bool ok, const QString& sentence) {
    if (std::exchange(over_, true))
        return;
    patience_.stop();
    tick_.stop();
    emit ended(ok, sentence);
}

} // namespace espalier
