#include <tessera/dist/comm/host_operand.h>

#include <cstring>

#include <tessera/core/device/backend.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

void copy_to_host(std::byte* to, const Operand& from, std::size_t offset, std::size_t nbytes) {
  const Device device = from.device();
  if (is_host_addressable(device)) {
    std::memcpy(to, from.data() + offset, nbytes);
  } else {
    backend_of(device.type).read(device.index, to, from.data() + offset, nbytes);
  }
}

void copy_from_host(const Operand& to, std::size_t offset, const std::byte* from,
                    std::size_t nbytes) {
  const Device device = to.device();
  if (is_host_addressable(device)) {
    std::memcpy(to.data() + offset, from, nbytes);
  } else {
    backend_of(device.type).write(device.index, to.data() + offset, from, nbytes);
  }
}

bool is_taken(const Operand& given, Addresses addresses) noexcept {
  return is_host_addressable(given.device()) &&
         (addresses == Addresses::taken || given.storage() || !given);
}

}  // namespace

bool takes_as_given(const Collective& c, Addresses addresses) noexcept {
  return c.counts.empty() && is_taken(c.send, addresses) && is_taken(c.receive, addresses);
}

HostOperand::HostOperand(const Collective& c, const Operand& given, const Contents& contents)
    : given_(given), host_(given) {
  const bool uneven = !c.counts.empty();
  if (!uneven && is_taken(given, contents.addresses)) {
    return;
  }
  const std::size_t element = size_of(c.dtype);
  const std::size_t nbytes = contents.elements * element;
  host_ = Operand(make_ref<Storage>(nbytes, Device{}, MemoryCategory::communication));
  if (!uneven) {
    runs_.push_back({0, 0, nbytes});
  } else if (contents.own_part) {
    runs_.push_back({0, 0, c.counts[static_cast<std::size_t>(contents.rank)] * element});
  } else {
    std::size_t from = 0, host = 0;
    for (int block = 0; block < contents.blocks; ++block) {
      for (const std::size_t count : c.counts) {
        runs_.push_back({from, host, count * element});
        from += count * element, host += c.count * element;
      }
    }
  }
}

HostOperand HostOperand::sent(const Collective& c, int rank, int size, Addresses addresses) {
  const bool own_part = c.kind == CollectiveKind::all_gather;
  return {c, c.send, {send_count(c, rank, size), own_part, rank, blocks_of(c, rank), addresses}};
}

HostOperand HostOperand::received(const Collective& c, int rank, int size, Addresses addresses) {
  const bool own_part = c.kind == CollectiveKind::reduce_scatter;
  return {c, c.receive, {receive_count(c, size), own_part, rank, 1, addresses}};
}

/// Padding is zeros: it is summed.
void HostOperand::fetch() const {
  if (!runs_.empty() && host_.nbytes() > 0) {
    std::memset(host_.data(), 0, host_.nbytes());
  }
  for (const Run& run : runs_) {
    if (run.nbytes > 0) {
      copy_to_host(host_.data() + run.host, given_, run.given, run.nbytes);
    }
  }
}

void HostOperand::give_back() const {
  for (const Run& run : runs_) {
    if (run.nbytes > 0) {
      copy_from_host(given_, run.given, host_.data() + run.host, run.nbytes);
    }
  }
}

}  // namespace tessera::dist
