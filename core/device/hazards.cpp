#include <tessera/core/device/hazards.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>

namespace tessera {
namespace {

constexpr StreamId kHost{};

/// A stream can wait for another one of its own kind of device; else the host waits for both.
void make_wait(const StreamId& stream, const Ticket& ticket) {
  if (!is_host_addressable(stream.device) && stream.device.type == ticket.stream.device.type) {
    backend_of(stream.device.type).wait(stream, ticket);
  } else {
    synchronize(ticket);
  }
}

/// Whether a read is over; its error is no business of others.
bool is_over(const Ticket& read) noexcept {
  try {
    return reached(read);
  } catch (...) {
    return true;
  }
}

/// Drops what is reached; a storage without hazards is asked no more. Its record is locked.
void forget_reached(Storage& storage, StorageSync& sync) {
  std::vector<Ticket> reads;
  std::ranges::remove_copy_if(sync.reads, std::back_inserter(reads), is_over);
  sync.reads = std::move(reads);
  if (reached(sync.last_write)) {
    sync.last_write = {};
  }
  storage.set_hazards(sync.last_write || !sync.reads.empty() || !sync.put_off.meanwhile.expired());
}

}  // namespace

std::vector<Ticket> tickets_before(Storage& storage, bool writes) {
  if (!storage.has_hazards()) {
    return {};
  }
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  if (!sync.put_off.meanwhile.expired()) [[unlikely]] {
    fail<RuntimeError>('"', sync.put_off.name, "\" ", sync.put_off.why);
  }
  forget_reached(storage, sync);
  if (writes && !sync.reads.empty()) {
    return sync.reads;
  }
  return sync.last_write ? std::vector{sync.last_write} : std::vector<Ticket>();
}

void wait_for(const StreamId& stream, std::vector<Ticket> tickets) {
  std::ranges::sort(tickets, [](const Ticket& a, const Ticket& b) {
    return a.stream != b.stream ? a.stream < b.stream : a.number > b.number;
  });
  const Ticket* before = nullptr;
  for (const Ticket& ticket : tickets) {
    const bool newest = before == nullptr || before->stream != ticket.stream;
    if (newest && ticket.stream != stream) {
      make_wait(stream, ticket);
    }
    before = &ticket;
  }
}

void after_read(Storage& storage, const Ticket& ticket) {
  if (!ticket) {
    return;  // done already
  }
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  const auto known = std::ranges::find(sync.reads, ticket.stream, &Ticket::stream);
  if (known != sync.reads.end()) {
    *known = ticket;
  } else {
    sync.reads.push_back(ticket);
  }
  storage.set_hazards(true);
}

void after_write(Storage& storage, const Ticket& ticket) {
  if (!ticket) {
    return;
  }
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  sync.last_write = ticket;
  sync.reads.clear();
  storage.set_hazards(true);
}

void put_off_write(Storage& storage, const std::shared_ptr<const void>& meanwhile,
                   const std::string& name, const char* why) {
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  sync.put_off = {meanwhile, name, why};
  storage.set_hazards(true);
}

bool write_is_put_off(const Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return false;
  }
  const std::lock_guard lock(sync->mutex);
  return !sync->put_off.meanwhile.expired();
}

void wait_until_readable(Storage& storage) {
  wait_for(kHost, tickets_before(storage, false));
}

void wait_until_writable(Storage& storage) {
  wait_for(kHost, tickets_before(storage, true));
}

}  // namespace tessera
