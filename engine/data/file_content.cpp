// SPDX-License-Identifier: Apache-2.0
#include "data/file_content.h"

#include "base/error.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace espalier {
namespace {

[[noreturn]] void refuse_cut_off(const std::string& name, const std::string& what) {
    throw DataError("The image '" + name + "' is cut off: " + what + ".");
}

/// What the segments before a JPEG's first scan tell.
struct JpegHeader {
    std::size_t scan_at = 0; ///< of the first scan's marker; the size of the file if there is none
    int components = 0;
    bool adobe = false; ///< whether Adobe's marker says how the components are meant
};

JpegHeader jpeg_header(std::span<const std::uint8_t> bytes) {
    JpegHeader header;
    std::size_t at = 2;
    while (at + 4 <= bytes.size() && bytes[at] == 0xff && bytes[at + 1] != 0xda) {
        const auto marker = bytes[at + 1];
        if (marker == 0xff) { // padding
            ++at;
            continue;
        }
        const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if (is_frame && at + 9 < bytes.size())
            header.components = bytes[at + 9];
        constexpr std::uint8_t name[] = {'A', 'd', 'o', 'b', 'e'};
        if (marker == 0xee && at + 9 <= bytes.size() && std::ranges::equal(bytes.subspan(at + 4, 5), name))
            header.adobe = true;
        at += 2 + (std::size_t{bytes[at + 2]} << 8 | bytes[at + 3]);
    }
    header.scan_at = std::min(at, bytes.size());
    return header;
}

void check_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
    const auto header = jpeg_header(bytes);
    // Ink is stored as it is, or inverted as Adobe does; Qt takes it for inverted.
    if (header.components == 4 && !header.adobe)
        throw DataError("The image '" + name +
                        "' is a CMYK JPEG without Adobe's marker, which leaves its colours undefined. Save it as RGB.");
    // libjpeg fills the rest of a cut-off image with grey and reports success. A whole file has an end marker (FF D9)
    // behind its first scan; within a scan's data FF is always followed by 00 or a restart marker, and a preview in the
    // metadata stands before the scan.
    constexpr std::uint8_t end_marker[] = {0xff, 0xd9};
    if (std::ranges::search(bytes.subspan(header.scan_at), end_marker).empty())
        refuse_cut_off(name, "the end of its JPEG data is missing");
}

/// Qt shows what there is of a GIF. All blocks up to the end of its first image must be there.
void check_gif(std::span<const std::uint8_t> bytes, const std::string& name) {
    const auto at = [&](std::size_t i) -> std::size_t {
        if (i >= bytes.size())
            refuse_cut_off(name, "its GIF data ends within the first image, after " + std::to_string(bytes.size()) +
                                     " bytes");
        return bytes[i];
    };
    const auto colours = [&](std::size_t flags) { return flags & 0x80 ? std::size_t{3} << ((flags & 7) + 1) : 0; };
    std::size_t place = 13 + colours(at(10)); // behind the header and its colours
    for (;;) {
        const auto kind = at(place);
        if (kind == 0x2c) // an image: its place, size and colours, the size of its first codes
            place += 10 + colours(at(place + 9)) + 1;
        else if (kind == 0x21) // an extension and its label
            place += 2;
        else
            return; // no image, or damaged: the decoder will say so
        for (std::size_t length; (length = at(place)) != 0;)
            place += length + 1;
        ++place;
        if (kind == 0x2c)
            return;
    }
}

/// Qt leaves the lines black that a BMP lacks.
void check_bmp(std::span<const std::uint8_t> bytes, const std::string& name) {
    const auto number = [&](std::size_t at, int size) {
        std::uint32_t value = 0;
        for (int i = 0; i < size; ++i)
            value |= at + static_cast<std::size_t>(i) < bytes.size()
                         ? std::uint32_t{bytes[at + static_cast<std::size_t>(i)]} << 8 * i
                         : 0;
        return value;
    };
    const bool old = number(14, 4) == 12; // OS/2
    const auto width = static_cast<std::int32_t>(number(18, old ? 2 : 4));
    const auto height = static_cast<std::int32_t>(number(old ? 20 : 22, old ? 2 : 4));
    const std::uint64_t bits = number(old ? 24 : 28, 2), compression = old ? 0 : number(30, 4);
    if (width <= 0 || height == 0 || bits > 32)
        return; // damaged: the decoder will say so
    const auto rows = static_cast<std::uint64_t>(std::abs(static_cast<std::int64_t>(height)));
    const auto row_bits = static_cast<std::uint64_t>(width) * bits;
    const bool packed = compression == 1 || compression == 2;
    // A last row without its padding is a whole one.
    const auto pixels = packed ? number(34, 4) : (rows - 1) * ((row_bits + 31) / 32 * 4) + (row_bits + 7) / 8;
    if (const auto expected = number(10, 4) + pixels; bytes.size() < expected)
        refuse_cut_off(name,
                       std::to_string(expected) + " bytes were expected, " + std::to_string(bytes.size()) + " came");
}

} // namespace

std::string likely_content(std::span<const std::uint8_t> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.empty())
        return "it is empty";
    if (text.starts_with("<svg") || text.starts_with("<?xml"))
        return "it looks like a drawing (SVG) or another document of XML";
    if (text.starts_with("<") || text.starts_with("\xef\xbb\xbf<") || text.starts_with("\n<") ||
        text.starts_with("\r\n<"))
        return "it looks like a web page (HTML), which a failed download leaves behind";
    if (text.starts_with("PK"))
        return "it looks like a ZIP archive; unpack it first";
    if (text.starts_with("BZh") ||
        text.starts_with("\xfd"
                         "7z") ||
        text.starts_with("7z"))
        return "it is packed with something other than gzip; unpack it first";
    if (text.starts_with("vers"))
        return "it looks like a Git LFS pointer; fetch the file that it stands for";
    if (text.starts_with("RIFF") && text.substr(std::min<std::size_t>(8, text.size())).starts_with("WEBP"))
        return "it is a WebP image, which needs Qt's further image formats (Debian, Ubuntu: apt install "
               "qt6-image-formats-plugins)";
    if (text.starts_with("II*") || text.starts_with("MM" + std::string(1, '\0') + "*"))
        return "it is a TIFF image, which needs Qt's further image formats (Debian, Ubuntu: apt install "
               "qt6-image-formats-plugins)";
    if (text.substr(std::min<std::size_t>(4, text.size())).starts_with("ftyp"))
        return "it is a HEIC, AVIF or video file; save it as JPEG or PNG";
    if (text.starts_with("\xff\x0a") || text.substr(std::min<std::size_t>(4, text.size())).starts_with("JXL "))
        return "it is a JPEG XL image; save it as JPEG or PNG";
    if (text.starts_with("%PDF"))
        return "it is a PDF document";
    if (text.starts_with("\x89PNG") || text.starts_with("\xff\xd8\xff"))
        return "it looks like a single image";
    std::string hex;
    for (auto byte : bytes.first(std::min<std::size_t>(4, bytes.size()))) {
        constexpr char digits[] = "0123456789abcdef";
        hex += std::string(hex.empty() ? "" : " ") + digits[byte >> 4] + digits[byte & 15];
    }
    return "it begins with the bytes " + hex;
}

void check_png_is_whole(std::span<const std::uint8_t> bytes, const std::string& name) {
    constexpr std::uint64_t around = 12; // of a chunk: its length, name and checksum
    std::uint64_t at = 8;                // behind the signature
    while (at + 8 <= bytes.size()) {
        const std::span chunk = bytes.subspan(static_cast<std::size_t>(at), 8);
        const std::uint64_t length =
            std::uint64_t{chunk[0]} << 24 | std::uint64_t{chunk[1]} << 16 | std::uint64_t{chunk[2]} << 8 | chunk[3];
        constexpr std::uint8_t end[] = {'I', 'E', 'N', 'D'};
        at += around + length;
        if (at > bytes.size())
            refuse_cut_off(name, "at least " + std::to_string(at) + " bytes were expected, " +
                                     std::to_string(bytes.size()) + " came");
        if (std::ranges::equal(chunk.subspan(4), end))
            return;
    }
}

void check_image_is_whole(std::span<const std::uint8_t> bytes, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\xff\xd8"))
        check_jpeg(bytes, name);
    else if (text.starts_with("GIF8"))
        check_gif(bytes, name);
    else if (text.starts_with("BM"))
        check_bmp(bytes, name);
}

} // namespace espalier
