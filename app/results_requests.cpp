// SPDX-License-Identifier: GPL-3.0-or-later
#include "results_requests.h"

#include "image_file.h"
#include "image_upload.h"
#include "json_convert.h"

#include <QPointer>
#include <QThreadPool>

namespace espalier {

namespace {

constexpr int preview_side = 480; ///< pixels: enough for twice the panel's

} // namespace

ResultsRequests::ResultsRequests(Machine* machine, ResultsView* view, QObject* parent)
    : QObject(parent), machine_(machine), view_(view) {
    connect(view, &ResultsView::confusion_wanted, this, &ResultsRequests::ask_confusion);
    connect(view, &ResultsView::confusion_cancelled, this, [this] { machine_->cancel(confusion_); });
    connect(view, &ResultsView::images_wanted, this, &ResultsRequests::ask_images);
    connect(view, &ResultsView::images_cancelled, this, [this] { machine_->cancel(images_); });
    connect(view, &ResultsView::prediction_cancelled, this, [this] {
        machine_->cancel(prediction_);
        ++predictions_;
        ++previews_;
    });
    connect(view, &ResultsView::prediction_wanted, this, &ResultsRequests::ask_prediction);
    connect(view, &ResultsView::preview_wanted, this, &ResultsRequests::load_preview);
}

void ResultsRequests::ask_confusion(const Json& arguments) {
    machine_->cancel(confusion_);
    if (!machine_->can("confusion")) {
        view_->show_unsupported();
        return;
    }
    confusion_ = machine_->request("confusion", arguments,
                                   {[this](const Json& answer) { view_->show_results(answer); },
                                    [this](const QString& text, int code) {
                                        if (code != Machine::cancelled)
                                            view_->show_error(text);
                                    },
                                    [this](const Json& progress) { view_->show_progress(progress); },
                                    {}});
}

void ResultsRequests::ask_images(const Json& arguments) {
    machine_->cancel(images_);
    images_ = machine_->request("cell_images", arguments,
                                {[this](const Json& answer) { view_->show_images(answer); },
                                 [this](const QString& text, int code) {
                                     if (code != Machine::cancelled)
                                         view_->show_images_error(text);
                                 },
                                 {},
                                 {}});
}

/// Another machine does not have the file: it gets its bytes.
void ResultsRequests::ask_prediction(const Json& arguments) {
    machine_->cancel(prediction_);
    const int number = ++predictions_;
    if (machine_->is_here() || !arguments.contains("image"))
        return send_prediction(arguments);
    QThreadPool::globalInstance()->start(
        [self = QPointer(this), arguments = Json(arguments), number, id = machine_->spec().id()]() mutable {
            const ImageUpload upload = read_for_upload(text_at(arguments, "image"));
            arguments.erase("image");
            arguments["base64"] = upload.bytes.toBase64().toStdString();
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [self, arguments, number, id, problem = upload.problem] {
                    if (!self || self->predictions_ != number || self->machine_->spec().id() != id)
                        return;
                    if (problem.isEmpty())
                        self->send_prediction(arguments);
                    else
                        self->view_->show_prediction_error(problem);
                },
                Qt::QueuedConnection);
        });
}

void ResultsRequests::send_prediction(const Json& arguments) {
    prediction_ = machine_->request("predict", arguments,
                                    {[this](const Json& answer) { view_->show_prediction(answer); },
                                     [this](const QString& text, int code) {
                                         if (code != Machine::cancelled)
                                             view_->show_prediction_error(text);
                                     },
                                     {},
                                     {}});
}

/// Off the window's thread: a photo takes a while.
void ResultsRequests::load_preview(const QString& file) {
    const int number = ++previews_;
    QThreadPool::globalInstance()->start([self = QPointer(this), file, number] {
        const QImage image = read_image(file, preview_side);
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, file, number, image] {
                if (self && self->previews_ == number && !image.isNull())
                    self->view_->show_preview(file, image);
            },
            Qt::QueuedConnection);
    });
}

} // namespace espalier
