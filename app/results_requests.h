// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"
#include "results_view.h"

namespace espalier {

/// Asks the machine what the results of a run show. A newer question cancels the older one of its kind.
class ResultsRequests : public QObject {
    Q_OBJECT

public:
    ResultsRequests(Machine* machine, ResultsView* view, QObject* parent = nullptr);

private:
    void ask_confusion(const Json& arguments);
    void ask_images(const Json& arguments);
    void ask_prediction(const Json& arguments);
    void send_prediction(const Json& arguments);
    void load_preview(const QString& file);

    Machine* machine_;
    ResultsView* view_;
    std::int64_t confusion_ = 0, images_ = 0, prediction_ = 0;
    int previews_ = 0;
    int predictions_ = 0; ///< the newest one counts
};

} // namespace espalier
