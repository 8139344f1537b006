// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
    std::string spec;                 ///< as open_dataset takes it
    std::string kind;                 ///< "builtin", "fashion-mnist", "idx", "synthetic"
    std::vector<std::string> classes; ///< names; a label is an index into them
    ImageShape image;                 ///< every image has this shape
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
    /// Where the image comes from, for messages: "train-images-idx3-ubyte.gz, image 17".
    [[nodiscard]] virtual std::string file(Part part, std::size_t index) const = 0;
    /// 16 hexadecimal digits that change with any pixel, label, class name or order. It tells data sets apart in a
    /// run's passport; it is no protection against forgery.
    [[nodiscard]] virtual std::string content_hash() const = 0;

private:
    DatasetInfo info_;
};

/// A file, or an image within one, that cannot be used.
struct BadFile {
    std::string file;
    std::string reason;
};

/// Opens a data set and checks it whole, so that training meets no surprise:
///   builtin                              4,000 + 2,000 images of Fashion-MNIST that are part of the program
///   fashion-mnist                        from $ESPALIER_FASHION_MNIST or /usr/share/datasets/fashion-mnist
///   idx:DIR[,classes=N]                  the files of MNIST and its kin, packed with gzip or not
///   synthetic:CxHxW,classes,count[,seed] made-up patterns that can be learned
/// Throws ConfigError if SPEC cannot be understood, DataError if the files cannot be used.
[[nodiscard]] std::shared_ptr<const Dataset> open_dataset(const std::string& spec);

/// The same, but goes on after a fault: notes it in `bad`, leaves out what cannot be used, and returns null if nothing
/// is left.
[[nodiscard]] std::shared_ptr<const Dataset> open_dataset(const std::string& spec, std::vector<BadFile>& bad);

/// The forms of SPEC that open_dataset takes, one a line, for help texts.
[[nodiscard]] std::string dataset_specs_text();

} // namespace espalier
