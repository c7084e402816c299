// Which work on which stream must wait before it may touch a storage.
//
// Note [Hazards]. A storage remembers the event of its last write and, per stream, of the last read
// since. A read waits for the last write; a write waits for the last write and for every read
// since. Work on one stream is in order already, so only other streams' events are waited for; the
// inline stream blocks the host instead. Freeing counts as a write: whoever launches work on a
// storage keeps a Ref to it until the work is done, so memory is never reused before that.
//
// A write may also be put off: it is known that it will come, and whoever touches the storage in
// the meantime gets an error instead of old contents.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/core/device/storage.h>
#include <tessera/core/device/stream.h>

namespace tessera {

/// The events that order access to one storage. Locked, because threads may read one tensor at
/// once.
struct StorageSync {
  struct Access {
    std::uint64_t stream = 0;
    Event event;
  };
  /// A write that comes when `meanwhile` is gone.
  struct PutOff {
    std::weak_ptr<const void> meanwhile;
    std::string name;           ///< of what the storage holds
    const char* why = nullptr;  ///< what to say after the name
  };
  std::mutex mutex;
  PutOff put_off;
  Access last_write;
  std::vector<Access> reads;  ///< since the last write, the newest of each stream
};

/// Makes `stream` wait for what it must before it reads or writes `storage`.
void before_read(Stream& stream, Storage& storage);
void before_write(Stream& stream, Storage& storage);
/// Notes that `stream` was given work, done at `event`, that reads or writes `storage`. The work
/// keeps the storage alive.
void after_read(Stream& stream, Storage& storage, const Event& event);
void after_write(Stream& stream, Storage& storage, const Event& event);

/// A write is put off until `meanwhile` is gone: before that, what touches `storage` throws
/// RuntimeError with `name` in quotes and `why`, a literal.
void put_off_write(Storage& storage, const std::shared_ptr<const void>& meanwhile,
                   const std::string& name, const char* why);

/// Whether one is, until now.
[[nodiscard]] bool write_is_put_off(const Storage& storage);

/// Blocks the host until the last write is done, and rethrows its error. Throws as `put_off_write`
/// says.
void wait_until_readable(const Storage& storage);
/// Blocks the host until it may also write.
void wait_until_writable(const Storage& storage);

}  // namespace tessera
