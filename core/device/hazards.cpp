#include <tessera/core/device/hazards.h>

#include <algorithm>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

StorageSync::Access last_write_of(StorageSync& sync) {
  const std::lock_guard lock(sync.mutex);
  if (!sync.put_off.meanwhile.expired()) [[unlikely]] {
    fail<RuntimeError>('"', sync.put_off.name, "\" ", sync.put_off.why);
  }
  return sync.last_write;
}

std::vector<StorageSync::Access> reads_of(StorageSync& sync) {
  const std::lock_guard lock(sync.mutex);
  return sync.reads;
}

}  // namespace

void before_read(Stream& stream, Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return;
  }
  const StorageSync::Access write = last_write_of(*sync);
  if (stream.is_inline()) {
    write.event.wait();
  } else if (write.stream != stream.id()) {
    stream.wait_for(write.event);
  }
}

void before_write(Stream& stream, Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return;
  }
  before_read(stream, storage);
  for (const StorageSync::Access& read : reads_of(*sync)) {
    // A reader's failure is no business of the writer's.
    if (stream.is_inline()) {
      read.event.wait_until_done();
    } else if (read.stream != stream.id()) {
      stream.wait_until_done(read.event);
    }
  }
}

void after_read(Stream& stream, Storage& storage, const Event& event) {
  if (stream.is_inline()) {
    return;  // done already
  }
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  const auto known =
      std::ranges::find(sync.reads, stream.id(), [](const auto& read) { return read.stream; });
  if (known != sync.reads.end()) {
    known->event = event;
  } else {
    sync.reads.push_back({stream.id(), event});
  }
}

void after_write(Stream& stream, Storage& storage, const Event& event) {
  if (stream.is_inline() && storage.sync() == nullptr) {
    return;
  }
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  sync.last_write = {stream.id(), event};
  sync.reads.clear();
}

void put_off_write(Storage& storage, const std::shared_ptr<const void>& meanwhile,
                   const std::string& name, const char* why) {
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  sync.put_off = {meanwhile, name, why};
}

bool write_is_put_off(const Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return false;
  }
  const std::lock_guard lock(sync->mutex);
  return !sync->put_off.meanwhile.expired();
}

void wait_until_readable(const Storage& storage) {
  if (StorageSync* sync = storage.sync(); sync != nullptr) {
    last_write_of(*sync).event.wait();
  }
}

void wait_until_writable(const Storage& storage) {
  wait_until_readable(storage);
  if (StorageSync* sync = storage.sync(); sync != nullptr) {
    for (const StorageSync::Access& read : reads_of(*sync)) {
      read.event.wait_until_done();
    }
  }
}

}  // namespace tessera
