// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "device_summary.h"
#include "worker/protocol.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTimer;

namespace espalier {

class DataPanel;
class FitBar;
class RunForm;

/// The centre of the window while a run is prepared: the form at the left, the data and the fit at the right. It says
/// what has to be asked (scan, plan) and shows what came back.
class ConfigurePage : public QWidget {
    Q_OBJECT

public:
    explicit ConfigurePage(QWidget* parent = nullptr);

    /// `config` of a preset. `safe_mode` is laid over it.
    void set_preset(const QString& name, const QString& title, const Json& config, bool safe_mode);
    /// Lays the settings of a run over the preset: what the form has no field for is kept as it was.
    void set_changes(const Json& changes, const QString& title);
    [[nodiscard]] Json config() const; ///< what would be started: the preset's name and what differs from it
    [[nodiscard]] QString preset() const { return preset_; }

    /// What can train here: toggles that change nothing there are greyed out, with the reason. `backend` is what new
    /// runs take.
    void set_device(const DeviceSummary& device, const QString& backend);
    void set_data(const QString& spec); ///< "folder:/home/me/photos"

    void show_fit(const Json& fit);   ///< the quick part of the fit check
    void show_plan(const Json& plan); ///< all of it
    void show_no_plan();              ///< the engine cannot say beforehand
    /// What the engine refuses greys Start out, and unless it is data that may come yet, the queue too; if the question
    /// itself failed (a driver that died, say) Start stays, for a run has more ways to go on.
    void show_plan_error(const QString& text, ExitCode code);
    void show_scan_progress(const Json& progress);
    void show_scan(const Json& scan);
    void show_scan_error(const QString& text);
    void show_thumbnails(const Json& answer);
    void set_connected(bool connected);  ///< to the engine; asks anew what it needs
    void set_starting(bool starting);    ///< between Start and its answer
    void set_error(const QString& text); ///< of a start that was refused

signals:
    void plan_wanted(const Json& config);
    void scan_wanted(const QString& data);
    void start_requested(const Json& config);
    void queue_requested(const Json& config);
    void back_requested();
    void data_folder_chosen(const QString& path);
    void copy_command_requested();
    void left(); ///< what it waits for is of no use any more

protected:
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void edited();
    void update_start();
    [[nodiscard]] QString data_refusal() const;
    /// Whether a run would end with that, too; else only the question has failed.
    [[nodiscard]] static bool is_refusal(ExitCode code);

    void apply_device();
    void show_device_limits();
    void choose_folder();
    void show_costs(const Json& plan);
    void show_findings();
    void tell_last_batch();

    QString preset_;
    DeviceSummary device_;
    QString backend_ = QStringLiteral("auto"); ///< of new runs
    Json beside_ = Json::object();             ///< settings that differ from the preset and have no field
    QString scanned_;
    Json scan_; ///< of it; null until it has come
    qint64 images_ = 0;
    QString last_batch_; ///< as the plan has it, which has looked at no image
    QLabel* title_;
    RunForm* form_;
    QWidget* form_card_;
    DataPanel* data_;
    FitBar* fit_;
    QPushButton *start_, *queue_;
    QLabel* problem_;
    QTimer* pause_; ///< of typing
    bool starting_ = false;
    QString lost_;       ///< the connection: why nothing can be started
    QString plan_error_; ///< why it is not known what it needs
    ExitCode plan_code_ = ExitCode::done;
    QString refusal_; ///< of the last Start
};

} // namespace espalier
