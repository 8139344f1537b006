// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QAbstractButton>
#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace espalier {

struct PresetEntry {
    QString name; ///< as the command line calls it
    QString title;
    QString row;  ///< train, search, grow
    QString size; ///< small, medium, large; or demo, recommended, conservative
    QString summary;
    bool available = true;
    QString reason; ///< why not
};

/// One preset to click on.
class PresetCard : public QAbstractButton {
    Q_OBJECT

public:
    explicit PresetCard(const PresetEntry& preset, QWidget* parent = nullptr);
    /// "78 k parameters · about 3 min", and at the right whether it fits.
    void set_facts(const QString& facts, const QString& fit, Role fit_role);
    [[nodiscard]] QSize sizeHint() const override { return {320, 122}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {220, 122}; }
    /// So that all its words have room: a narrow card writes them on more lines.
    [[nodiscard]] int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent*) override;

private:
    void paint_picture(QPainter& painter, const QRectF& area) const;
    struct Lines {
        int summary, facts, fit; ///< heights; of the fit 0 if it stands beside the facts
    };
    [[nodiscard]] Lines lines(int width) const;
    [[nodiscard]] const QString& foot() const { return isEnabled() ? facts_ : preset_.reason; }

    PresetEntry preset_;
    QString facts_, fit_;
    Role fit_role_ = Role::good;
};

/// "What do you want to train?": a demo of a minute, then rows of presets in three sizes.
class PresetGallery : public QWidget {
    Q_OBJECT

public:
    explicit PresetGallery(QWidget* parent = nullptr);
    /// What trains: "AMD EPYC ready", or why it is not the GPU; then `how` offers to say what can be done about it.
    void set_machine_line(const QString& text, Role role, bool how = false);
    void set_presets(const std::vector<PresetEntry>& presets);
    void set_facts(const QString& preset, const QString& facts, const QString& fit, Role fit_role);
    /// Instead of presets, if none came yet: the sentence of a machine that does not answer.
    void set_waiting(const QString& text);

signals:
    void preset_chosen(const QString& name);
    void how_requested();

private:
    void add_row(const QString& row, const std::vector<PresetEntry>& presets);

    QLabel* machine_;
    QPushButton* how_;
    QWidget* demo_;
    QPushButton* demo_button_;
    QString demo_name_;
    QLabel* waiting_;
    QVBoxLayout* rows_;
    QWidget* row_area_;
    std::vector<std::pair<QString, PresetCard*>> cards_;
};

} // namespace espalier
