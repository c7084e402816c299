// Which shared segments this process has mapped, and for which groups of ranks.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <shared_mutex>

#include <tessera/dist/comm/shared/address_space.h>
#include <tessera/dist/comm/shm/segment.h>

namespace tessera::dist {

/// Shared by a world's communicators. Thread-safe.
class SegmentTable {
 public:
  struct Entry {
    std::byte* data = nullptr;
    std::size_t nbytes = 0;
    int group = 0;
  };
  /// Registers a segment that all ranks of `group` on this host map; the returned owner keeps it.
  static std::shared_ptr<const void> add(const std::shared_ptr<SegmentTable>& table,
                                         const std::shared_ptr<SharedSegment>& segment, int group);
  /// A new number for a group, of this process only.
  int new_group();

  /// Segment that holds [data, data + nbytes) and was made for one of `groups`.
  [[nodiscard]] Reference find(const void* data, std::size_t nbytes,
                               const std::set<int>& groups) const;
  [[nodiscard]] std::byte* resolve(const Reference& reference) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
  int groups_ = 0;
};

/// Memory that ranks of a group on one host reach: segments made by the group or its ancestors.
class SegmentSpace final : public AddressSpace {
 public:
  SegmentSpace(std::shared_ptr<SegmentTable> table, std::set<int> groups)
      : table_(std::move(table)), groups_(std::move(groups)) {}
  [[nodiscard]] Reference describe(const void* data, std::size_t nbytes) const override {
    return table_->find(data, nbytes, groups_);
  }
  [[nodiscard]] std::byte* resolve(const Reference& reference) const override {
    return table_->resolve(reference);
  }

 private:
  std::shared_ptr<SegmentTable> table_;
  std::set<int> groups_;
};

}  // namespace tessera::dist
