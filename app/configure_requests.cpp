// SPDX-License-Identifier: GPL-3.0-or-later
#include "configure_requests.h"

namespace espalier {

namespace {
constexpr int thumbnails = 24;
constexpr int thumbnail_size = 88; ///< pixels
} // namespace

ConfigureRequests::ConfigureRequests(Machine* machine, ConfigurePage* page, QObject* parent)
    : QObject(parent), machine_(machine), page_(page) {
    connect(page, &ConfigurePage::plan_wanted, this, &ConfigureRequests::ask_plan);
    connect(page, &ConfigurePage::scan_wanted, this, &ConfigureRequests::ask_scan);
    connect(page, &ConfigurePage::left, this, [this] { // a folder may take hours to look at
        machine_->cancel(plan_);
        machine_->cancel(scan_);
        machine_->cancel(thumbnails_);
    });
}

void ConfigureRequests::ask_plan(const Json& config) {
    if (!machine_->can("plan")) {
        page_->show_no_plan();
        return;
    }
    machine_->cancel(plan_);
    plan_ = machine_->request("plan", Json{{"config", config}},
                              {[this](const Json& plan) { page_->show_plan(plan); },
                               [this](const QString& text, int code) {
                                   if (code != Machine::cancelled)
                                       page_->show_plan_error(text, static_cast<ExitCode>(code));
                               },
                               [this](const Json& progress) {
                                   if (const auto fit = progress.find("fit"); fit != progress.end() && fit->is_object())
                                       page_->show_fit(*fit);
                               },
                               {}});
}

void ConfigureRequests::ask_scan(const QString& data_set) {
    machine_->cancel(scan_);
    machine_->cancel(thumbnails_); // of another data set
    scan_ = machine_->request(
        "scan", Json{{"data", data_set.toStdString()}},
        {[this, data_set](const Json& scan) {
             page_->show_scan(scan);
             if (!machine_->can("thumbnails"))
                 return;
             thumbnails_ = machine_->request(
                 "thumbnails", Json{{"data", data_set.toStdString()}, {"count", thumbnails}, {"size", thumbnail_size}},
                 {[this](const Json& answer) { page_->show_thumbnails(answer); }, {}, {}, {}});
         },
         [this](const QString& text, int code) {
             if (code != Machine::cancelled)
                 page_->show_scan_error(text);
         },
         [this](const Json& progress) { page_->show_scan_progress(progress); },
         {}});
}

} // namespace espalier
