// SPDX-License-Identifier: GPL-3.0-or-later
#include "status_facts.h"

#include "format.h"
#include "report.h"
#include "toggle_words.h"
#include "worker/protocol.h"

#include <QCoreApplication>
#include <cmath>

namespace espalier {

namespace {

using Fact = StatusStrip::Fact;

QString tr(const char* text) { return QCoreApplication::translate("espalier::StatusFacts", text); }

Fact checkpoint_fact(const RunModel& run, bool live, double now) {
    if (!run.checkpoint())
        return {{}, tr("no checkpoint yet"), Role::text, {}, {}};
    const RunModel::Checkpoint& last = *run.checkpoint();
    if (live)
        return {format_about(std::max(0.0, now - last.time)), tr(" ago"), Role::text, last.file,
                tr("last checkpoint ")};
    return {tr("step %1").arg(format_count(static_cast<double>(last.step))),
            {},
            Role::text,
            last.file,
            tr("last checkpoint ")};
}

Fact warnings_fact(const RunModel& run) {
    if (run.warnings() == 0)
        return {{}, tr("no warnings"), Role::text, {}, {}};
    return {run.warnings() == 1 ? tr("1 warning") : tr("%1 warnings").arg(run.warnings()),
            {},
            Role::attention,
            tr("They stand in the log"),
            {}};
}

/// "fp16 · fused · CUDA graph"
Fact mode_fact(const RunModel& run) {
    const RunModel::Plan& plan = *run.plan();
    const QString device = plan.device.isEmpty() ? plan.backend : plan.device;
    QString words;
    if (protocol::flag_at(plan.toggles, "safe_mode"))
        words += tr(" · safe mode");
    else if (protocol::flag_at(plan.toggles, "fused"))
        words += tr(" · fused");
    if (run.on_gpu() && protocol::flag_at(plan.toggles, "cuda_graphs"))
        words += tr(" · CUDA graph");
    if (protocol::flag_at(plan.toggles, "recompute"))
        words += tr(" · recompute");
    if (!run.on_gpu())
        words += QStringLiteral(" · %1").arg(shortened(device));
    return {plan.precision, words, Role::text, device, {}};
}

/// What the device says of itself now; what it does not say is left out.
void add_device_facts(const Json& resources, std::vector<Fact>& facts) {
    const auto value = [&](const char* key) { return protocol::number_at(resources, key, std::nan("")); };
    const auto known = [](double number) { return std::isfinite(number); };
    if (const double busy = value("utilisation"); known(busy))
        facts.push_back({format_count(std::round(busy * 100)) + tr(" %"),
                         {},
                         Role::text,
                         tr("Share of the time in which the GPU had a kernel to run"),
                         tr("GPU ")});
    const double heat = value("temperature"), power = value("power"), limit = value("power_limit");
    const QString heat_words = tr("%1 °C").arg(format_count(heat)),
                  power_words = tr("%1 W").arg(format_count(std::round(power)));
    const QString of_limit = known(limit) ? tr("Of at most %1 W").arg(format_count(std::round(limit))) : QString();
    if (known(heat) && known(power))
        facts.push_back({heat_words, QStringLiteral(" · ") + power_words, Role::text, of_limit, {}});
    else if (known(heat) || known(power))
        facts.push_back({known(heat) ? heat_words : power_words, {}, Role::text, of_limit, {}});
    if (const double clock = value("core_clock"); known(clock)) {
        const double memory = value("memory_clock");
        facts.push_back(
            {format_count(clock),
             tr(" MHz"),
             Role::text,
             known(memory) ? tr("Clock of the multiprocessors; that of the memory is %1 MHz").arg(format_count(memory))
                           : tr("Clock of the multiprocessors"),
             {}});
    }
    if (const QString words = throttle_words(static_cast<unsigned>(protocol::number_at(resources, "throttle")));
        !words.isEmpty())
        facts.push_back(
            {words, {}, Role::attention, tr("The GPU runs below its highest clock because of this"), tr("slowed by ")});
}

} // namespace

std::vector<Fact> status_facts(const RunModel& run, bool live, double now) {
    std::vector<Fact> facts{mode_fact(run)};
    if (run.images_per_second() > 0)
        facts.push_back({format_count(std::round(run.images_per_second())), tr(" img/s"), Role::text, {}, {}});
    if (live)
        add_device_facts(run.resources(), facts);
    facts.push_back(checkpoint_fact(run, live, now));
    facts.push_back(warnings_fact(run));
    if (!run.fallbacks().isEmpty())
        facts.push_back(
            {run.fallbacks().size() == 1 ? tr("1 fallback") : tr("%1 fallbacks").arg(run.fallbacks().size()),
             {},
             Role::attention,
             run.fallbacks().join(QLatin1Char('\n')),
             {}});
    return facts;
}

std::vector<Fact> status_hint(const QString& text) { return {{{}, text, Role::text, {}, {}}}; }

} // namespace espalier
