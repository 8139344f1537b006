// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "replay.h"
#include "run_store.h"
#include "settings.h"

#include <QMainWindow>
#include <QStackedWidget>
#include <QTimer>
#include <memory>

class QLabel;
class QMenu;
class QPushButton;
class QToolButton;

namespace espalier {

class ConfigurePage;
class PresetGallery;
class RunPage;
class StateBand;
class StatusStrip;
class ToggleSwitch;

/// Arranges the parts of the window and connects them. What a run is knows its RunModel, what runs there are knows the
/// RunStore.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    struct Options {
        QString engine; ///< espalier-train
        QStringList engine_arguments{QStringLiteral("serve")};
        QString settings_file; ///< empty: nothing is remembered
        bool connect = true;   ///< start the engine once the window is visible
    };
    explicit MainWindow(Options options, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Shows a replayed run and nothing else.
    void play(std::unique_ptr<Replay> replay, const QString& name);
    void show_gallery();
    void show_page(QWidget* page);
    void show_run(const QString& path);
    void choose_preset(const QString& name);
    [[nodiscard]] RunPage* run_page() const { return run_page_; }
    [[nodiscard]] RunStore* runs() const { return store_; }
    [[nodiscard]] Machine* machine() const { return machine_; }

protected:
    void showEvent(QShowEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void build_tool_bar();
    void build_menu();
    void build_pages();
    void connect_machine();
    void tick();
    void toggle_pause();
    void take_probe(const Json& answer);
    void take_presets(const Json& answer);
    void update_controls();
    void update_strip();
    void act(const QString& command);
    void ask_plan(const Json& config);
    void ask_scan(const QString& data);
    void copy_command();
    void copy_report();
    void more_epochs();
    void tell(const QString& text, bool fault);
    void run_ended(const QString& path, RunState now);
    [[nodiscard]] RunModel* current() const;

    struct Preset {
        QString title;
        Json config;
    };

    Options options_;
    Settings settings_;
    Machine* machine_ = nullptr;
    RunStore* store_ = nullptr;
    std::map<QString, Preset> presets_;
    std::unique_ptr<Replay> replay_;
    QString replay_path_;
    QTimer timer_; ///< the only one that moves the window

    QWidget* tool_bar_ = nullptr;
    QPushButton *machine_button_ = nullptr, *pause_ = nullptr, *stop_ = nullptr, *checkpoint_ = nullptr;
    QToolButton* menu_button_ = nullptr;
    ToggleSwitch* safe_ = nullptr;
    RunRail* rail_ = nullptr;
    StateBand* message_ = nullptr;
    QStackedWidget* pages_ = nullptr;
    PresetGallery* gallery_ = nullptr;
    ConfigurePage* configure_ = nullptr;
    RunPage* run_page_ = nullptr;
    StatusStrip* strip_ = nullptr;
    QString device_line_;
    std::int64_t plan_request_ = 0, scan_request_ = 0;
    bool closing_ = false;
    bool stopping_all_ = false;
};

} // namespace espalier
