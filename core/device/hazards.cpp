#include <tessera/core/device/hazards.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>

namespace tessera {
namespace {

using Access = StorageSync::Access;

constexpr StreamId kHost{};

/// A stream can wait for another one of its own kind of device; else the host waits for both.
void make_wait(const StreamId& stream, const Ticket& ticket) {
  if (!stream.device.is_cpu() && stream.device.type == ticket.stream.device.type) {
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

/// Whether work is over and went well: its error is for those who ask for its bytes.
bool is_over_well(const Ticket& ticket) noexcept {
  try {
    return reached(ticket);
  } catch (...) {
    return false;
  }
}

template <class Done>
void forget(std::vector<Access>& accesses, const ByteRange& bytes, const Done& done) {
  std::vector<Access> left;
  std::ranges::remove_copy_if(accesses, std::back_inserter(left), [&](const Access& access) {
    return access.bytes.meets(bytes) ? done(access.ticket) : is_over_well(access.ticket);
  });
  accesses = std::move(left);
}

/// Drops what is reached, of other bytes too, so that a storage without hazards is asked no more:
/// of many tensors in one memory the first one asks for all. Its record is locked.
void forget_reached(Storage& storage, StorageSync& sync, const ByteRange& bytes) {
  forget(sync.reads, bytes, is_over);
  forget(sync.writes, bytes, reached);
  storage.set_hazards(!sync.writes.empty() || !sync.reads.empty() ||
                      !sync.put_off.meanwhile.expired());
}

/// Whether somebody who comes after a read comes after this write, too.
bool is_read_since(const Access& write, const std::vector<Access>& reads) {
  return std::ranges::any_of(reads, [&](const Access& read) {
    return read.number > write.number && read.bytes.holds(write.bytes);
  });
}

/// These bytes of a storage as what it is a part of counts them.
ByteRange in_whole(Storage& storage, const ByteRange& bytes) {
  if (&storage.whole() == &storage) {
    return bytes;
  }
  const auto offset = static_cast<std::size_t>(storage.data() - storage.whole().data());
  return {offset + std::min(bytes.first, storage.nbytes()),
          offset + std::min(bytes.last, storage.nbytes())};
}

void check_not_put_off(Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return;
  }
  const std::lock_guard lock(sync->mutex);
  if (!sync->put_off.meanwhile.expired()) [[unlikely]] {
    fail<RuntimeError>('"', sync->put_off.name, "\" ", sync->put_off.why);
  }
  if (&storage.whole() != &storage) {
    storage.set_hazards(false);  // its tickets are the whole's
  }
}

}  // namespace

std::vector<Ticket> tickets_before(Storage& part, bool writes, const ByteRange& of_part) {
  if (!part.has_hazards()) {
    return {};
  }
  check_not_put_off(part);
  Storage& storage = part.whole();
  const ByteRange bytes = in_whole(part, of_part);
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  forget_reached(storage, sync, bytes);
  std::vector<Ticket> tickets;
  for (const Access& write : sync.writes) {
    if (write.bytes.meets(bytes) && !(writes && is_read_since(write, sync.reads))) {
      tickets.push_back(write.ticket);
    }
  }
  for (const Access& read : sync.reads) {
    if (writes && read.bytes.meets(bytes)) {
      tickets.push_back(read.ticket);
    }
  }
  return tickets;
}

std::vector<Ticket> tickets_of_others(const StorageSync& sync, const StreamId& home) {
  const auto on_device = [](const Access& access) {
    return !access.ticket.stream.device.is_cpu();  // polled work held a Ref
  };
  std::vector<Access> reads, writes;
  std::ranges::copy_if(sync.reads, std::back_inserter(reads), on_device);
  std::ranges::copy_if(sync.writes, std::back_inserter(writes), [&](const Access& write) {
    return on_device(write) && !is_read_since(write, reads);
  });
  std::vector<Ticket> others;
  for (const std::vector<Access>* accesses : {&reads, &writes}) {
    for (const Access& access : *accesses) {
      if (access.ticket.stream != home) {
        others.push_back(access.ticket);
      }
    }
  }
  return others;
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

void after_read(Storage& part, const Ticket& ticket, const ByteRange& of_part) {
  if (!ticket) {
    return;  // done already
  }
  Storage& storage = part.whole();
  const ByteRange bytes = in_whole(part, of_part);
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  // Threads may note what they launched in another order than they launched it.
  const bool newer_known = std::ranges::any_of(sync.reads, [&](const Access& read) {
    return read.ticket.stream == ticket.stream && read.ticket.number > ticket.number &&
           read.bytes.holds(bytes);
  });
  if (!newer_known) {
    std::erase_if(sync.reads, [&](const Access& read) {
      return read.ticket.stream == ticket.stream && bytes.holds(read.bytes);
    });
    sync.reads.push_back({ticket, bytes, ++sync.noted});
  }
  storage.set_hazards(true);
}

void after_write(Storage& part, const Ticket& ticket, const ByteRange& of_part) {
  if (!ticket) {
    return;
  }
  Storage& storage = part.whole();
  const ByteRange bytes = in_whole(part, of_part);
  StorageSync& sync = storage.ensure_sync();
  const std::lock_guard lock(sync.mutex);
  for (std::vector<Access>* accesses : {&sync.reads, &sync.writes}) {
    std::erase_if(*accesses, [&](const Access& access) { return bytes.holds(access.bytes); });
  }
  sync.writes.push_back({ticket, bytes, ++sync.noted});
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
