#include <tessera/dist/comm/shm/segment_table.h>

#include <mutex>

#include <tessera/core/base/error.h>

namespace tessera::dist {

std::shared_ptr<const void> SegmentTable::add(const std::shared_ptr<SegmentTable>& table,
                                              const std::shared_ptr<SharedSegment>& segment,
                                              int group) {
  const std::uint64_t id = segment->id();
  {
    const std::unique_lock lock(table->mutex_);
    table->entries_[id] = {segment->data(), segment->nbytes(), group};
  }
  return {segment->data(), [table, segment, id](const void*) {
            const std::unique_lock lock(table->mutex_);
            table->entries_.erase(id);
          }};
}

int SegmentTable::new_group() {
  const std::unique_lock lock(mutex_);
  return ++groups_;
}

Reference SegmentTable::find(const void* data, std::size_t nbytes,
                             const std::set<int>& groups) const {
  const auto* begin = static_cast<const std::byte*>(data);
  const std::shared_lock lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    if (begin >= entry.data && begin + nbytes <= entry.data + entry.nbytes) {
      return groups.contains(entry.group)
                 ? Reference{id, static_cast<std::uint64_t>(begin - entry.data)}
                 : Reference{};
    }
  }
  return {};
}

std::byte* SegmentTable::resolve(const Reference& reference) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(reference.segment);
  check<CommError>(found != entries_.end(),
                   "shared memory: a peer uses a buffer that was released here; expected buffers "
                   "from allocate to be released on all ranks alike");
  return found->second.data + reference.offset;
}

}  // namespace tessera::dist
