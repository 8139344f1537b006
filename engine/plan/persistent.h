// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/backend.h"
#include "plan/layout.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// What a persistent tensor is kept for: MemoryUse is split by it.
enum class Purpose { weights, optimizer, data };

/// The parameters and buffers of a session: one layout each for the life of the session, and where each lies.
class PersistentTensors {
public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Entry {
        Tensor tensor;
        Layout layout;
        Purpose purpose = Purpose::weights;
        std::byte* address = nullptr; ///< null until allocate()
        std::size_t same_as = none;   ///< the entry that has taken this one's place
    };

    /// Index of the entry of that name or alias, `none` if there is none.
    [[nodiscard]] std::size_t find(const std::string& name) const;
    /// The entry of that index, or the one that has taken its place.
    [[nodiscard]] const Entry& at(std::size_t index) const { return entries_[resolved(index)]; }
    /// Names and aliases in the order in which they came.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Returns the new entry's index.
    std::size_t add(Tensor tensor, Layout layout, Purpose purpose);
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    /// Forgets the entries after the first `size`, none of which may be allocated: a plan that used them was refused.
    void shrink(std::size_t size);
    /// From now on `name` means the entry `same_as`. True if an entry had that name and now lies elsewhere, so that
    /// plans must be bound again. Nothing happens if there is no entry `same_as`.
    bool add_alias(const std::string& name, const std::string& same_as);

    /// Bytes that all entries together take once they are allocated.
    [[nodiscard]] std::size_t bytes(Purpose purpose) const;
    [[nodiscard]] std::size_t allocated() const;
    /// Takes one block of memory for all entries that have none. An entry begins with its initial value if that is a
    /// constant, else as rubbish, so that a forgotten Session::set shows at once.
    void allocate(Backend& backend);
    /// Gives the memory back; the entries stay, without values.
    void release();

private:
    [[nodiscard]] std::size_t resolved(std::size_t index) const;

    std::vector<Entry> entries_;
    std::map<std::string, std::size_t> index_;
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<Memory>> blocks_;
};

} // namespace espalier
