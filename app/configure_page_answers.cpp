// SPDX-License-Identifier: GPL-3.0-or-later
// What the engine answers about a run that is prepared: what it needs, what its toggles cost, what its data are.
#include "configure_page.h"
#include "data_panel.h"
#include "engine_words.h"
#include "fit_bar.h"
#include "format.h"
#include "json_convert.h"
#include "run_form.h"
#include "scan_findings.h"
#include "toggle_words.h"
#include "worker/protocol.h"

#include <cmath>
#include <map>
#include <utility>

namespace espalier {

namespace {

/// Speeds of runs that differ in that toggle alone from what is asked for: "Measured: on 1,840 img/s, off 1,310 img/s."
QString measured_cost(const Json& runs, const Json& in_force, const Toggle& toggle) {
    const std::string name = toggle.name.toStdString();
    const auto without = [&](Json toggles) {
        if (toggles.is_object())
            toggles.erase(name);
        return toggles;
    };
    if (!runs.is_array() || !in_force.is_object())
        return {};
    std::map<QString, QString> speeds;
    for (const Json& run : runs) {
        const auto toggles = run.is_object() ? run.find("toggles") : run.end();
        if (!run.is_object() || toggles == run.end() || !toggles->is_object() || !toggles->contains(name) ||
            without(*toggles) != without(in_force))
            continue;
        const Json& value = (*toggles)[name];
        const QString word = value.is_boolean()
                                 ? (value.get<bool>() ? ConfigurePage::tr("on") : ConfigurePage::tr("off"))
                             : value.is_string() ? to_qstring(value.get<std::string>())
                                                 : QString();
        speeds.try_emplace(word, format_count(std::round(protocol::number_at(run, "images_per_second"))));
    }
    if (speeds.size() < 2) // one alone tells nothing of a difference
        return {};
    QStringList words;
    for (const auto& [value, speed] : speeds)
        words.append(ConfigurePage::tr("%1 %2 img/s").arg(value, speed));
    return ConfigurePage::tr("Measured here: %1.").arg(words.join(QStringLiteral(", ")));
}

/// Says so where the largest class has far more images than the smallest one that has any.
QString imbalance(const std::vector<std::pair<QString, qint64>>& classes) {
    constexpr double far_more = 3;
    const std::pair<QString, qint64>*largest = nullptr, *smallest = nullptr;
    for (const auto& one : classes) {
        if (one.second > 0 && (!smallest || one.second < smallest->second))
            smallest = &one;
        if (!largest || one.second > largest->second)
            largest = &one;
    }
    if (!smallest || static_cast<double>(largest->second) <= far_more * static_cast<double>(smallest->second))
        return {};
    return ConfigurePage::tr("Here %1 has %2 times as many images as %3: try it.")
        .arg(largest->first,
             screen_locale().toString(static_cast<double>(largest->second) / static_cast<double>(smallest->second), 'f',
                                      1),
             smallest->first);
}

} // namespace

void ConfigurePage::show_fit(const Json& fit) {
    if (!std::exchange(plan_error_, QString()).isEmpty())
        update_start();
    const bool fits = protocol::flag_at(fit, "fits", true);
    const Json asked = fit.contains("asked") && fit["asked"].is_object() ? fit["asked"] : fit;
    const Json memory = asked.contains("memory") ? asked["memory"] : Json::object();
    const auto bytes = [&](const char* part) { return protocol::number_at(memory, part); };
    const double limit = protocol::number_at(fit, "limit");
    const double device = protocol::number_at(fit, "device_memory");
    const double others = protocol::number_at(fit, "used_by_others");
    fit_->set_parts({{tr("Weights"), Role::series1, bytes("weights")},
                     {tr("Optimizer"), Role::series4, bytes("optimizer")},
                     {tr("Activations"), Role::series3, bytes("activations")},
                     {tr("Workspace"), Role::series2, bytes("workspace")},
                     {tr("Data set"), Role::hint, bytes("data")}},
                    limit);
    QStringList help;
    if (device > 0)
        help.append(tr("The device has %1.").arg(format_bytes(device)));
    if (others > 0)
        help.append(tr("%1 of it are in use by other programs, the desktop among them.").arg(format_bytes(others)));
    if (limit > 0)
        help.append(tr("A run may take %1.").arg(format_bytes(limit)));
    fit_->set_help(help.join(QLatin1Char('\n')));

    QStringList more;
    const double largest = protocol::number_at(fit, "largest_batch");
    if (!fits && largest > 0)
        more.append(tr("largest batch that fits %1").arg(format_count(largest)));
    if (const double seconds = protocol::number_at(fit, "estimated_seconds"); seconds > 0 && fits)
        more.append(tr("about %1").arg(format_about(seconds)));
    if (fits && largest > protocol::number_at(fit, "batch") && largest < static_cast<double>(images_))
        more.append(tr("up to batch %1").arg(format_count(largest)));
    more.append(tr("%1 parameters").arg(format_short(protocol::number_at(fit, "parameters"))));
    const QString sizes = limit > 0 ? tr("%1 of %2").arg(format_bytes(bytes("total")), format_bytes(limit))
                                    : format_bytes(bytes("total"));
    last_batch_ = engine_words(text_at(fit, "last_batch"));
    tell_last_batch();
    const QString layer = text_at(asked, "layer");
    fit_->set_words(fits              ? tr("%1 · fits").arg(sizes)
                    : layer.isEmpty() ? tr("%1 · does not fit").arg(sizes)
                                      : tr("%1 · fails at %2").arg(sizes, layer),
                    more, fits ? Role::text : Role::attention);
}

void ConfigurePage::show_plan(const Json& plan) {
    show_fit(plan);
    show_costs(plan);
}

/// What the toggles cost, where that is known: from the plan, and from runs of the same configuration.
void ConfigurePage::show_costs(const Json& plan) {
    const Json recompute = plan.contains("recompute") ? plan["recompute"] : Json::object();
    const double saves =
        protocol::number_at(recompute, "memory_without") - protocol::number_at(recompute, "memory_with");
    const double more = protocol::number_at(recompute, "more_flops");
    const QString recompute_cost =
        !recompute.is_object() || recompute.empty() ? QString()
        : saves > 0
            ? tr("Here it saves %1 and costs about %2 more arithmetic.").arg(format_bytes(saves), format_percent(more))
            : tr("Here it would save nothing.");
    const Json in_force = plan.contains("toggles") ? plan["toggles"] : Json::object();
    for (const Toggle& toggle : toggles()) {
        QStringList costs;
        if (toggle.name == u"recompute" && !recompute_cost.isEmpty())
            costs.append(recompute_cost);
        if (const QString measured = measured_cost(plan.value("measured", Json::array()), in_force, toggle);
            !measured.isEmpty())
            costs.append(measured);
        form_->set_cost(QStringLiteral("toggles.") + toggle.name, costs.join(QLatin1Char(' ')));
    }
}

void ConfigurePage::show_plan_error(const QString& text, ExitCode code) {
    fit_->set_parts({}, 0);
    form_->set_cost(QStringLiteral("batch"), {}); // it was told of other data
    plan_error_ = text;
    plan_code_ = code;
    update_start();
    fit_->set_words(is_refusal(code) ? tr("Cannot run like this") : tr("What it needs is not known"), {},
                    Role::attention);
}

void ConfigurePage::show_no_plan() {
    fit_->set_parts({}, 0);
    fit_->set_words(tr("Ready"), {tr("what it needs is known once the network is built")});
}

void ConfigurePage::show_scan_progress(const Json& progress) {
    if (const double total = protocol::number_at(progress, "total"); total > 0)
        data_->set_message(tr("Looking at the data… %1 of %2 images")
                               .arg(format_count(protocol::number_at(progress, "done")), format_count(total)),
                           Role::secondary);
}

void ConfigurePage::show_scan(const Json& scan) {
    std::vector<std::pair<QString, qint64>> classes;
    images_ = static_cast<qint64>(protocol::number_at(scan, "images"));
    if (const auto list = scan.find("classes"); list != scan.end() && list->is_array())
        for (const Json& item : *list)
            if (item.is_object())
                classes.emplace_back(text_at(item, "name"), static_cast<qint64>(protocol::number_at(item, "count")));
    form_->set_cost(QStringLiteral("class_weights"), imbalance(classes));
    const auto number_of_classes = classes.size();
    data_->set_classes(QString::number(number_of_classes), std::move(classes));
    scan_ = scan;
    show_findings();
}

/// The files that cannot be read are counted in it: which of them would be in the training part is known to no scan.
void ConfigurePage::tell_last_batch() {
    const bool bad = !scan_.is_null() && protocol::number_at(scan_, "bad_images") > 0;
    form_->set_cost(QStringLiteral("batch"),
                    last_batch_.isEmpty() || !bad
                        ? last_batch_
                        : tr("%1 Files that cannot be read are left out: there will be fewer.").arg(last_batch_));
}

void ConfigurePage::show_findings() {
    tell_last_batch();
    data_->set_findings(scan_findings(scan_, form_->values().value(QStringLiteral("max_bad_share")).toDouble()));
    update_start();
}

void ConfigurePage::show_scan_error(const QString& text) { data_->set_message(text, Role::fault); }

void ConfigurePage::show_thumbnails(const Json& answer) {
    std::vector<QImage> images;
    if (const auto list = answer.find("images"); list != answer.end() && list->is_array())
        for (const Json& item : *list) {
            const QByteArray png = QByteArray::fromBase64(QByteArray::fromStdString(protocol::text_at(item, "png")));
            if (QImage image = QImage::fromData(png, "PNG"); !image.isNull())
                images.push_back(std::move(image));
        }
    const auto shown = images.size();
    data_->set_images(tr("%1 of %2 images").arg(shown).arg(format_count(static_cast<double>(images_))),
                      std::move(images));
}

} // namespace espalier
