// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer: over each file of a folder, and over mutations of it that are the same every
// time.
//     fuzz_idx CORPUS [MUTATIONS OF EACH FILE]
#include "fuzz/fuzz_target.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Bytes mutated(Bytes bytes, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (auto changes = 1 + random() % 6; changes-- > 0 && !bytes.empty();) {
        const auto at = random() % bytes.size();
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (random() % 6) {
        case 0:
            *place = static_cast<std::uint8_t>(random());
            break;
        case 1:
            *place ^= static_cast<std::uint8_t>(1u << random() % 8);
            break;
        case 2:
            bytes.resize(at);
            break;
        case 3:
            bytes.insert(place, static_cast<std::uint8_t>(random()));
            break;
        case 4:
            bytes.erase(
                place, place + static_cast<std::ptrdiff_t>(std::min<std::size_t>(1 + random() % 8, bytes.size() - at)));
            break;
        default: { // a piece is repeated
            const Bytes piece(place, place + static_cast<std::ptrdiff_t>(
                                                 std::min<std::size_t>(1 + random() % 32, bytes.size() - at)));
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random() % bytes.size()), piece.begin(),
                         piece.end());
        }
        }
    }
    return bytes;
}

bool survives(const Bytes& bytes, const std::string& what) {
    try {
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        return true;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", what.c_str(), error.what());
        return false;
    }
}

} // namespace

int main(int argument_count, char** arguments) {
    if (argument_count < 2) {
        std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS]\n", arguments[0]);
        return 2;
    }
    const auto mutations = argument_count > 2 ? std::stoul(arguments[2]) : 2000;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[1]))
        files.push_back(entry.path());
    std::ranges::sort(files);
    bool good = !files.empty();
    for (const auto& path : files) {
        const auto bytes = read(path);
        good &= survives(bytes, path.string());
        for (std::uint32_t seed = 0; seed < mutations; ++seed)
            good &= survives(mutated(bytes, seed), path.string() + ", mutation " + std::to_string(seed));
    }
    std::printf("%zu files, %lu mutations of each: %s\n", files.size(), mutations, good ? "good" : "FAULTS");
    return good ? 0 : 1;
}
