// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/work_watch.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Parts of a data set. Only `train` is always there. Test images are for the end of a run alone.
enum class Part { train, validation, test };
inline constexpr Part all_parts[] = {Part::train, Part::validation, Part::test};

[[nodiscard]] std::string_view name_of(Part part);

struct ImageShape {
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;

    [[nodiscard]] std::size_t pixels() const noexcept { return static_cast<std::size_t>(height * width); }
    /// Bytes of one image, and its number of values.
    [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(channels) * pixels(); }
    /// For example "3x32x32".
    [[nodiscard]] std::string text() const;

    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// What is known of a data set before an image is read.
struct DatasetInfo {
    std::string spec; ///< as open_dataset takes it
    std::string kind; ///< "builtin", "fashion-mnist", "idx", "cifar10", "cifar100", "folder", "csv", "synthetic"
    std::vector<std::string> classes; ///< names; a label is an index into them
    ImageShape image;                 ///< every image has this shape
};

/// A file, or an image within one, that cannot be used.
struct BadFile {
    std::string file;
    std::string reason;
};

/// A set of labelled images of one shape. All functions may be called from several threads at once.
class Dataset {
public:
    explicit Dataset(DatasetInfo info) : info_(std::move(info)) {}
    virtual ~Dataset() = default;
    Dataset(const Dataset&) = delete;
    Dataset& operator=(const Dataset&) = delete;

    [[nodiscard]] const DatasetInfo& info() const noexcept { return info_; }
    [[nodiscard]] const ImageShape& image() const noexcept { return info_.image; }
    [[nodiscard]] std::size_t classes() const noexcept { return info_.classes.size(); }

    /// Number of images of a part; 0 if the set has no such part.
    [[nodiscard]] virtual std::size_t size(Part part) const = 0;
    /// 0 <= label < classes(). Requires index < size(part).
    [[nodiscard]] virtual std::int32_t label(Part part, std::size_t index) const = 0;
    /// Writes one image, planar [C, H, W], 0 to 255. Requires out.size() == image().bytes(). Throws DataError.
    virtual void read(Part part, std::size_t index, std::span<std::uint8_t> out) const = 0;
    /// As read(), but where an image is longer than image(), the cut lies at `place` of what is too long: 0 is its top
    /// or left end, 1 the other one. Training crops at random with it, where may_crop() says that there is such an
    /// image.
    virtual void read_cropped(Part part, std::size_t index, double /*place*/, std::span<std::uint8_t> out) const {
        read(part, index, out);
    }
    [[nodiscard]] virtual bool may_crop() const { return false; }
    /// As read(); returns the size that the image has in its file.
    virtual ImageShape inspect(Part part, std::size_t index, std::span<std::uint8_t> out) const {
        read(part, index, out);
        return image();
    }
    /// Where the image comes from, for messages: "train-images-idx3-ubyte.gz, image 17".
    [[nodiscard]] virtual std::string file(Part part, std::size_t index) const = 0;
    /// 16 hexadecimal digits that change with any pixel, label, class name or order. It tells data sets apart in a
    /// run's passport; it is no protection against forgery.
    [[nodiscard]] virtual std::string content_hash() const = 0;
    /// What cannot be used and is not among the images.
    [[nodiscard]] virtual std::span<const BadFile> left_out() const { return {}; }
    /// What people should know of the set, in sentences.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

private:
    DatasetInfo info_;
};

/// How a data set is opened.
struct OpenOptions {
    /// Image files are scaled and cut to a square of that side; 0: to the size of the first one. Sets whose images have
    /// a size of their own ignore it.
    std::int64_t image_size = 0;
    /// The very height and width to which image files are scaled and cut, in the place of image_size.
    std::optional<ImageShape> image;
    /// Image files of other parts are left aside.
    std::optional<Part> only;
    /// Whether image files are decoded now and kept, or each one whenever it is read.
    bool decode = false;
    /// Bytes of memory that decoded images may take; what is more lies in a file. 0: no limit.
    std::size_t memory = 0;
    /// Where decoded images are kept for the next time, if decoding them took so long; empty: nowhere.
    std::filesystem::path cache;
    double cache_after_seconds = 5;
    /// Of the image files, how many may be bad before the set is refused: 0.1 is every tenth.
    double max_bad_share = 0.1;
    /// Goes on after a fault: notes it here and leaves out what cannot be used. Not for image files that are decoded
    /// when they are read.
    std::vector<BadFile>* bad = nullptr;
    WorkWatch watch;
};

/// Opens a data set and checks it, so that training meets no surprise:
///   builtin                              4,000 + 2,000 images of Fashion-MNIST that are part of the program
///   fashion-mnist                        from $ESPALIER_FASHION_MNIST or /usr/share/datasets/fashion-mnist
///   folder:DIR                           image files, a folder for each class (data/file_listing.h)
///   csv:FILE                             image files with their classes, as a table (data/csv_listing.h)
///   cifar10:DIR, cifar100:DIR            the binary files of CIFAR
///   idx:DIR[,classes=N]                  the files of MNIST and its kin, packed with gzip or not
///   synthetic:CxHxW,classes,count[,seed] made-up patterns that can be learned
/// Throws ConfigError if SPEC cannot be understood, DataError if the files cannot be used. With options.bad, returns
/// null if nothing is left.
[[nodiscard]] std::shared_ptr<const Dataset> open_dataset(const std::string& spec, const OpenOptions& options = {});

/// What can be told in a moment, without a look into any image: throws as open_dataset if SPEC cannot be understood,
/// its folder or file is not there, or nothing in the folder is named like images of classes, or like the set's files.
void check_dataset_is_there(const std::string& spec);

/// SPEC with the path in it made absolute, so that it means the same wherever a run is resumed.
[[nodiscard]] std::string with_absolute_path(const std::string& spec);

/// The forms of SPEC that open_dataset takes, one a line, for help texts.
[[nodiscard]] std::string dataset_specs_text();

} // namespace espalier
