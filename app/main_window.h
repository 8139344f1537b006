// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "replay.h"
#include "run_store.h"
#include "settings.h"

#include <QMainWindow>
#include <QTimer>
#include <memory>

class QStackedWidget;

namespace espalier {

class CloseGuard;
class ComparePage;
class ConfigurePage;
class DeleteUndo;
class DeviceChoice;
class DropOpener;
class MachineMenu;
class MainMenu;
class Notifications;
class PresetGallery;
class PresetList;
class RunActions;
class RunPage;
class StateBand;
class StatusStrip;
class ToolBar;

/// Arranges the parts of the window and connects them. What a run is knows its RunModel, what runs there are knows the
/// RunStore, what can be done to one knows RunActions.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    struct Options {
        QString engine; ///< espalier-train
        QStringList engine_arguments{QStringLiteral("serve")};
        QString settings_file; ///< empty: nothing is remembered
        bool connect = true;   ///< start the engine once the window is visible
        QString open;          ///< file or folder that is opened then, as if it were dropped; empty: none
    };
    explicit MainWindow(Options options, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Shows a replayed run and nothing else.
    void play(std::unique_ptr<Replay> replay, const QString& name);
    void show_gallery();
    void show_page(QWidget* page);
    void show_run(const QString& path);
    void show_comparison(const QStringList& paths);
    [[nodiscard]] ComparePage* compare_page() const { return compare_; }
    void choose_preset(const QString& name);
    [[nodiscard]] RunPage* run_page() const { return run_page_; }
    [[nodiscard]] RunStore* runs() const { return store_; }
    [[nodiscard]] Machine* machine() const { return machine_; }
    void use_machine(const MachineSpec& spec);

protected:
    void showEvent(QShowEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void build_tool_bar();
    void build_menu();
    void build_pages();
    void arrange();
    [[nodiscard]] QString restore_place();
    void connect_machine();
    void connect_runs();
    void tick();
    void show_device();
    void update_controls();
    void update_strip();
    void show_notes();
    void leave_out(const QString& path);
    void configure_with(const QString& data_set);
    void configure_like(const QString& run, const Json& config);
    void predict(const QString& image);
    void act(const QString& action);
    void tell(const QString& text, bool fault);
    void tell_of_machine(const QString& text, bool fault); ///< what stays when another page is shown
    void leave_message();
    void offer_retry(const QString& title);  ///< beside what tell() has said
    [[nodiscard]] RunModel* current() const; ///< the run that is looked at, if one is

    Options options_;
    Settings settings_;
    Machine* machine_;
    RunStore* store_;
    DeviceChoice* devices_;
    PresetList* presets_;
    RunActions* actions_;
    CloseGuard* guard_;
    Notifications* notifications_;
    std::unique_ptr<Replay> replay_;
    QString replay_path_;
    bool closing_ = false; ///< when the notes are written
    QString silence_;      ///< what was told of a machine that did not answer
    QString of_machine_;   ///< what was told last of the connection
    QTimer timer_;         ///< the only one that moves the window

    MachineMenu* machines_;
    MainMenu* menu_;
    ToolBar* tool_bar_;
    RunRail* rail_;
    StateBand* message_;
    DeleteUndo* undo_;
    DropOpener* opener_;
    QStackedWidget* pages_;
    PresetGallery* gallery_;
    ConfigurePage* configure_;
    RunPage* run_page_;
    ComparePage* compare_;
    StatusStrip* strip_;
};

} // namespace espalier
