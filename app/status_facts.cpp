// SPDX-License-Identifier: GPL-3.0-or-later
#include "status_facts.h"

#include "format.h"
#include "report.h"
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

} // namespace

std::vector<Fact> status_facts(const RunModel& run, bool live, double now) {
    const RunModel::Plan& plan = *run.plan();
    std::vector<Fact> facts{{plan.precision,
                             QStringLiteral(" · %1").arg(plan.device.isEmpty() ? plan.backend : shortened(plan.device)),
                             Role::text,
                             plan.device,
                             {}}};
    if (run.images_per_second() > 0)
        facts.push_back({format_count(std::round(run.images_per_second())), tr(" img/s"), Role::text, {}, {}});
    const Json& resources = run.resources();
    if (resources.contains("temperature") && resources.contains("power"))
        facts.push_back({tr("%1 °C").arg(format_count(protocol::number_at(resources, "temperature"))),
                         tr(" · %1 W").arg(format_count(protocol::number_at(resources, "power"))),
                         Role::text,
                         {},
                         {}});
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
