// Which work on which stream must wait before it may touch a storage.
//
// Note [Hazards]. A storage remembers the tickets of writes, and of reads since, with the bytes
// that they concern: a write of all is remembered in place of everything before. A read waits for
// the writes of its bytes. A write waits for the reads since, which waited for the writes, or for
// those where there are none. Work on one stream is in order already, so only tickets of other
// streams are waited for; the host's stream waits on the host. A ticket that is reached is
// forgotten, so that memory which another stream once touched costs an op nothing later. Freeing
// counts as a write. It waits for nothing: the memory's home stream does, before it gives the
// memory away (DeviceBackend::deallocate).
//
// A part of a storage keeps no tickets: those of its bytes are with the whole.
//
// A write may also be put off: it is known that it will come, and whoever touches the storage in
// the meantime gets an error instead of old contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/core/device/storage.h>
#include <tessera/core/device/stream.h>

namespace tessera {

/// Bytes of a storage from `first` to behind `last`; all by default.
struct ByteRange {
  std::size_t first = 0;
  std::size_t last = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool meets(const ByteRange& other) const noexcept {
    return first < other.last && other.first < last;
  }
  [[nodiscard]] bool holds(const ByteRange& other) const noexcept {
    return first <= other.first && other.last <= last;
  }
};

/// The tickets that order access to one storage. Locked, because threads may read one tensor at
/// once.
struct StorageSync {
  struct Access {
    Ticket ticket;
    ByteRange bytes;
    std::uint64_t number;  ///< among the storage's, in the order in which they were noted
  };
  /// A write that comes when `meanwhile` is gone.
  struct PutOff {
    std::weak_ptr<const void> meanwhile;
    std::string name;           ///< of what the storage holds
    const char* why = nullptr;  ///< what to say after the name
  };
  std::mutex mutex;
  PutOff put_off;
  std::vector<Access> writes;
  std::vector<Access> reads;  ///< that no later write covers; of each stream the newest
  std::uint64_t noted = 0;
};

/// What work that reads, or writes, these bytes of `storage` must come after, wherever it is done.
/// Throws as `put_off_write` says, and what work threw that wrote to them and failed.
[[nodiscard]] std::vector<Ticket> tickets_before(Storage& storage, bool writes,
                                                 const ByteRange& bytes = {});
/// Makes `stream` wait for `tickets`: for the newest of each other stream, which the others of that
/// come before.
void wait_for(const StreamId& stream, std::vector<Ticket> tickets);
/// Notes that a stream was given work, done at `ticket`, that reads or writes these bytes.
void after_read(Storage& storage, const Ticket& ticket, const ByteRange& bytes = {});
void after_write(Storage& storage, const Ticket& ticket, const ByteRange& bytes = {});

/// Tickets of devices' streams other than `home` that the end of a storage must come after.
[[nodiscard]] std::vector<Ticket> tickets_of_others(const StorageSync& sync, const StreamId& home);

/// A write is put off until `meanwhile` is gone: before that, what touches `storage` throws
/// RuntimeError with `name` in quotes and `why`, a literal.
void put_off_write(Storage& storage, const std::shared_ptr<const void>& meanwhile,
                   const std::string& name, const char* why);

/// Whether one is, until now.
[[nodiscard]] bool write_is_put_off(const Storage& storage);

/// Blocks the host until the last write is done, and rethrows its error. Throws as `put_off_write`
/// says.
void wait_until_readable(Storage& storage);
/// Blocks the host until it may also write.
void wait_until_writable(Storage& storage);

}  // namespace tessera
