// SPDX-License-Identifier: GPL-3.0-or-later
#include "status_facts.h"

#include "device_summary.h"
#include "format.h"
#include "report.h"
#include "toggle_words.h"
#include "words.h"
#include "worker/protocol.h"

#include <cmath>

namespace espalier {

namespace {

using Fact = StatusStrip::Fact;

/// The one number of a sentence, set off from the words around it.
Fact set_off(const QString& sentence, const QString& number, const QString& help = {}, Role role = Role::text) {
    const auto at = sentence.indexOf(u"%1");
    return {number, sentence.mid(at + 2), role, help, sentence.left(at)};
}

Fact checkpoint_fact(const RunModel& run, bool live, double now) {
    if (!run.checkpoint())
        return {{}, tr("no checkpoint yet"), Role::text, {}, {}};
    const RunModel::Checkpoint& last = *run.checkpoint();
    if (live)
        return set_off(tr("last checkpoint %1 ago"), format_about(std::max(0.0, now - last.time)), last.file);
    return set_off(tr("last checkpoint %1"), tr("step %1").arg(format_count(static_cast<double>(last.step))),
                   last.file);
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
    const bool named = !plan.device.isEmpty() && plan.device != plan.backend;
    const QString device = named ? plan.device : device_words(plan.device, plan.backend);
    QStringList words{QString()};
    if (protocol::flag_at(plan.toggles, "safe_mode"))
        words << tr("safe mode");
    else if (protocol::flag_at(plan.toggles, "fused"))
        words << tr("fused");
    if (run.on_gpu() && protocol::flag_at(plan.toggles, "cuda_graphs"))
        words << tr("CUDA graph");
    if (protocol::flag_at(plan.toggles, "recompute"))
        words << tr("recompute");
    if (!run.on_gpu())
        words << (named ? shortened(device) : device);
    return {plan.precision, words.join(QStringLiteral(" · ")), Role::text, device, {}};
}

/// What the device says of itself now; what it does not say is left out.
void add_device_facts(const Json& resources, std::vector<Fact>& facts) {
    const auto value = [&](const char* key) { return protocol::number_at(resources, key, std::nan("")); };
    const auto known = [](double number) { return std::isfinite(number); };
    if (const double busy = value("utilisation"); known(busy))
        facts.push_back(set_off(tr("GPU %1"), format_count(std::round(busy * 100)) + QStringLiteral(" %"),
                                tr("Share of the time in which the GPU had a kernel to run")));
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
        facts.push_back(set_off(
            tr("%1 MHz"), format_count(clock),
            known(memory) ? tr("Clock of the multiprocessors; that of the memory is %1 MHz").arg(format_count(memory))
                          : tr("Clock of the multiprocessors")));
    }
    if (const QString words = throttle_words(static_cast<unsigned>(protocol::number_at(resources, "throttle")));
        !words.isEmpty())
        facts.push_back(set_off(tr("slowed by %1"), words, tr("The GPU runs below its highest clock because of this"),
                                Role::attention));
}

} // namespace

std::vector<Fact> status_facts(const RunModel& run, bool live, double now) {
    std::vector<Fact> facts{mode_fact(run)};
    if (run.images_per_second() > 0)
        facts.push_back(set_off(tr("%1 img/s"), format_count(std::round(run.images_per_second()))));
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
