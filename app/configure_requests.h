// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "configure_page.h"
#include "machine.h"

namespace espalier {

/// Asks the machine what the form wants to know: what lies in a data set, and whether the run fits. A newer question
/// cancels the older one of its kind.
class ConfigureRequests : public QObject {
    Q_OBJECT

public:
    ConfigureRequests(Machine* machine, ConfigurePage* page, QObject* parent = nullptr);

private:
    void ask_plan(const Json& config);
    void ask_scan(const QString& data_set);

    Machine* machine_;
    ConfigurePage* page_;
    std::int64_t plan_ = 0, scan_ = 0, thumbnails_ = 0;
};

} // namespace espalier
