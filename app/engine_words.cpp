// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine_words.h"

#include "format.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <array>
#include <utility>
#include <vector>

namespace espalier {

namespace {

/// As they stand in resources/presets and in the engine's sources; %1 is what the engine puts there.
constexpr std::array texts{
    // presets
    QT_TRANSLATE_NOOP("espalier::engine", "One-minute demo"),
    QT_TRANSLATE_NOOP("espalier::engine", "Train, small"),
    QT_TRANSLATE_NOOP("espalier::engine", "Train, medium"),
    QT_TRANSLATE_NOOP("espalier::engine", "Train, large"),
    QT_TRANSLATE_NOOP("espalier::engine", "Search, small"),
    QT_TRANSLATE_NOOP("espalier::engine", "Search, medium"),
    QT_TRANSLATE_NOOP("espalier::engine", "Search, large"),
    QT_TRANSLATE_NOOP("espalier::engine", "Search, recommended"),
    QT_TRANSLATE_NOOP("espalier::engine", "Search, stability first"),
    QT_TRANSLATE_NOOP("espalier::engine", "Grow, small"),
    QT_TRANSLATE_NOOP("espalier::engine", "Grow, medium"),
    QT_TRANSLATE_NOOP("espalier::engine", "Grow, large"),
    QT_TRANSLATE_NOOP("espalier::engine", "A small convolution network learns the built-in clothing images to about 89 "
                                          "% in less than a minute, on any processor."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "A residual network of 3 blocks for photos of 96 pixels: a first result on your own images."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "A ResNet-18 of half the width for photos of 160 pixels: good accuracy in hours on a GPU."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "ResNet-18 for photos of 224 pixels: the best accuracy of the three, for a GPU and a night."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "A quick check of the architecture search: 8 channels, 4 cells; too short for a meaningful genotype."),
    QT_TRANSLATE_NOOP("espalier::engine", "Architecture search with 20 channels and 12 cells."),
    QT_TRANSLATE_NOOP("espalier::engine", "Architecture search with 28 channels and 16 cells."),
    QT_TRANSLATE_NOOP("espalier::engine", "Architecture search that is worth its time: 16 channels, 8 cells."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "Architecture search with recomputation and safe mode on: 12 channels, 6 cells."),
    QT_TRANSLATE_NOOP("espalier::engine", "A network that starts with %1 parameters and grows to at most 500,000."),
    QT_TRANSLATE_NOOP("espalier::engine", "A network that starts with %1 parameters and grows to at most %2 million."),
    QT_TRANSLATE_NOOP("espalier::engine", "It comes with the growing networks."),
    QT_TRANSLATE_NOOP("espalier::engine", "It comes with the architecture search."),
    // values
    QT_TRANSLATE_NOOP("espalier::engine", "on"),
    QT_TRANSLATE_NOOP("espalier::engine", "off"),
    // why a run was made smaller
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "This step needs %1 (weights %2, optimizer %3, activations and workspace %4, the data set %5), but "
        "the limit is %6. Most is in use at %7 of layer '%8', with %9."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "This step needs %1 (weights %2, optimizer %3, activations and workspace %4), but the limit is %5. "
        "Most is in use at %6 of layer '%7', with %8."),
    // the queue, and ends
    QT_TRANSLATE_NOOP("espalier::engine", "Waits in the queue until %1 has ended or is paused."),
    QT_TRANSLATE_NOOP("espalier::engine", "Waits in the queue: %1 run begins before it."),
    QT_TRANSLATE_NOOP("espalier::engine", "Waits in the queue: %1 runs begin before it."),
    QT_TRANSLATE_NOOP("espalier::engine", "Stopped by the user."),
    QT_TRANSLATE_NOOP("espalier::engine", "Stopped by the user; the worker did not say how it went."),
    QT_TRANSLATE_NOOP("espalier::engine", "Stopped by the user, but the worker failed: %1"),
    QT_TRANSLATE_NOOP("espalier::engine", "The run's folder, %1, was removed or renamed while the run trained."),
    QT_TRANSLATE_NOOP("espalier::engine", "The run was interrupted; the state was saved."),
    QT_TRANSLATE_NOOP("espalier::engine", "The supervisor was ended."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "It was waiting in the queue when its supervisor was ended. Resume it to train it."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "It was waiting in the queue when its supervisor was lost. Resume it to train it."),
    QT_TRANSLATE_NOOP("espalier::engine", "No checkpoint could be written, and training goes on without. %1"),
    QT_TRANSLATE_NOOP("espalier::engine", "No checkpoint could be written: while the run pauses, what it has learned "
                                          "since the last one is in its memory alone. %1"),
    QT_TRANSLATE_NOOP("espalier::engine", "Checkpoints can be written again."),
    // why it is not the GPU
    QT_TRANSLATE_NOOP("espalier::engine", "No NVIDIA driver is installed."),
    QT_TRANSLATE_NOOP("espalier::engine", "The engine for NVIDIA GPUs is not installed (%1)."),
    QT_TRANSLATE_NOOP("espalier::engine", "There is no NVIDIA GPU in this machine, or its driver is not loaded."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The NVIDIA driver was updated and not loaded anew: restart the machine (CUDA error 803)."),
    QT_TRANSLATE_NOOP("espalier::engine", "The NVIDIA driver is too old: it serves CUDA %1, and CUDA %2 (driver 580 or "
                                          "newer) is needed."),
    // notes of a plan
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The precision is %1: in a self-test its losses were within %2 % of those in fp32."),
    QT_TRANSLATE_NOOP("espalier::engine", "Each update takes the mean gradient of %1 batches of 1 image."),
    QT_TRANSLATE_NOOP("espalier::engine", "Each update takes the mean gradient of %1 batches of %2 images."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "%1 images in batches of %2 leave %3 over. The last batch of each epoch has %4."),
    QT_TRANSLATE_NOOP("espalier::engine", "%1 images in batches of %2 leave %3 over. A batch of one is no use, so one "
                                          "image, another one each epoch, sits out."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "%1 images in batches of %2 leave %3 over. They are too few for a batch of their own, so the "
                      "last two batches of each epoch share the images: %4 and %5."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The batch of %1 is larger than the training set, so all %2 images make one batch."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The warm-up takes the whole run: the learning rate never reaches its value."),
    QT_TRANSLATE_NOOP("espalier::engine", "There is no validation part: no checkpoint will be called the best."),
    // of a data set
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The data set has a single class: there is nothing to tell apart, the loss is zero from the "
                      "first step on, and an accuracy of 100 % means nothing. Is a folder of classes missing?"),
    QT_TRANSLATE_NOOP("espalier::engine", "Training refuses this set until its bad files are mended."),
    QT_TRANSLATE_NOOP("espalier::engine", "Training leaves the bad files out: %1 of %2."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "Training leaves the bad files out only if max_bad_share allows so many: %1 of %2."),
    QT_TRANSLATE_NOOP("espalier::engine", "The class '%1' has no training image: it can never be learned."),
    QT_TRANSLATE_NOOP("espalier::engine", "Only one class has images: there is nothing to tell apart."),
    QT_TRANSLATE_NOOP("espalier::engine", "There is no image that could be used."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "The classes are far from balanced: the largest has %1 images, the smallest %2."),
    QT_TRANSLATE_NOOP("espalier::engine", "Of a single colour throughout: %1 image."),
    QT_TRANSLATE_NOOP("espalier::engine", "Of a single colour throughout: %1 images."),
    QT_TRANSLATE_NOOP("espalier::engine", "The same in two classes: %1 image. One of the two labels is wrong."),
    QT_TRANSLATE_NOOP("espalier::engine", "The same in two classes: %1 images. One of the two labels is wrong."),
    QT_TRANSLATE_NOOP("espalier::engine", "Repeated within the training part: %1 image."),
    QT_TRANSLATE_NOOP("espalier::engine", "Repeated within the training part: %1 images."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "In the training part and in the validation part: %1 image. Accuracy will look a little better than it is."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "In the training part and in the validation part: %1 images. Accuracy will look a little better than it is."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "In the training part and in the test part: %1 image. Accuracy will look a little better than it is."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "In the training part and in the test part: %1 images. Accuracy will look a little better than it is."),
    QT_TRANSLATE_NOOP("espalier::engine",
                      "1 hidden file or leftover of the system (such as ._a.jpg, Thumbs.db) was passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "1 image lies beside the folders of the classes and was passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "1 folder was reached a second time, through a link, and passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "1 file is no image by its name (%1) and was passed over."),
    QT_TRANSLATE_NOOP(
        "espalier::engine",
        "%1 hidden files or folders and leftovers of the system (such as ._a.jpg, Thumbs.db) were passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "%1 images lie beside the folders of the classes and were passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "%1 folders were reached a second time, through a link, and passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "%1 files are no images by their names (%2) and were passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "There is no '%1': the training part is smaller than the whole set's."),
    QT_TRANSLATE_NOOP("espalier::engine", "The folder '%1' lies beside 'train' and was passed over."),
    QT_TRANSLATE_NOOP("espalier::engine", "The first line of the table names no columns 'file' and 'label': column %1 "
                                          "was taken for the file, column %2 for the class."),
};

/// What the engine says to somebody at a command line, and the same for somebody at a window.
constexpr std::array commands{
    std::pair{"%1 Go back to checkpoint %2 with a smaller rate: espalier-train resume %3 --checkpoint %4 --set "
              "optimizer.learning_rate=%5.",
              QT_TRANSLATE_NOOP("espalier::engine",
                                "%1 Resume from checkpoint %2, which is from before (Resume from…). If it comes again, "
                                "begin a new run like this one with a smaller learning rate, such as %5.")},
    std::pair{"%1 There is no checkpoint from before to go back to: begin a new run with a smaller rate, such as --set "
              "optimizer.learning_rate=%2.",
              QT_TRANSLATE_NOOP("espalier::engine",
                                "%1 There is no checkpoint from before to go back to: begin a new run like this one "
                                "with a smaller learning rate, such as %2.")},
    std::pair{"This run has trained %1, and %2 asked for. To go on, resume it with more: --set epochs=%3.",
              QT_TRANSLATE_NOOP("espalier::engine", "This run has trained all of its epochs. To go on, give it more "
                                                    "(More epochs…).")},
    std::pair{"%1 Resume from another checkpoint, if there is one (resume --checkpoint).",
              QT_TRANSLATE_NOOP("espalier::engine", "%1 Resume from another checkpoint, if there is one (Resume "
                                                    "from…).")},
};

/// Matches a whole text; what stands for %1, %2 ... is captured in this order.
QRegularExpression pattern_of(const char* text) {
    QString pattern;
    for (const QString& part : QString::fromUtf8(text).split(QRegularExpression(QStringLiteral("%[1-9]"))))
        pattern +=
            (pattern.isEmpty() ? QStringLiteral("^") : QStringLiteral("(.+?)")) + QRegularExpression::escape(part);
    return QRegularExpression(pattern + QLatin1Char('$'), QRegularExpression::DotMatchesEverythingOption);
}

/// Sizes and, where they `count` images, numbers as the window writes them; what stands in quotes or brackets is a
/// name.
QString as_shown(const QString& captured, const QString& before, bool count) {
    static const QRegularExpression number(QStringLiteral("^[0-9]{1,15}$")), name(QStringLiteral("['\"“(（]$")),
        size(QStringLiteral("^([0-9.]+ [KMG])iB$"));
    if (const auto bytes = size.match(captured); bytes.hasMatch())
        return bytes.captured(1) + QLatin1Char('B');
    if (!count || !number.match(captured).hasMatch() || name.match(before).hasMatch())
        return captured;
    return format_count(captured.toDouble());
}

/// In one pass: what was captured may have a %1 in it.
QString filled(const QString& words, const QRegularExpressionMatch& captured, bool counts) {
    QString text;
    qsizetype at = 0;
    static const QRegularExpression place(QStringLiteral("%([1-9])"));
    for (auto places = place.globalMatch(words); places.hasNext();) {
        const auto here = places.next();
        text += words.mid(at, here.capturedStart() - at);
        const QString part = captured.captured(here.captured(1).toInt());
        text += as_shown(part, text, counts);
        at = here.capturedEnd();
    }
    return text + words.mid(at);
}

} // namespace

QString engine_words(const QString& text) {
    struct Sentence {
        const char* text; ///< of the window
        QRegularExpression pattern;
    };
    static const std::vector<Sentence> sentences = [] {
        std::vector<Sentence> all;
        for (const char* one : texts)
            all.push_back({one, pattern_of(one)});
        for (const auto& [said, shown] : commands)
            all.push_back({shown, pattern_of(said)});
        return all;
    }();
    for (const Sentence& sentence : sentences)
        if (const auto match = sentence.pattern.match(text); match.hasMatch())
            return filled(QCoreApplication::translate("espalier::engine", sentence.text), match,
                          QLatin1String(sentence.text).contains(QLatin1String("image")));
    return text;
}

} // namespace espalier
