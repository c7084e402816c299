#include <tessera/dist/comm/host_operand.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <tessera/core/device/backend.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

void copy_to_host(std::byte* to, const Operand& from, std::size_t offset, std::size_t nbytes) {
  const Device device = from.storage->device();
  if (is_host_addressable(device)) {
    std::memcpy(to, from.data() + offset, nbytes);
  } else {
    backend_of(device.type).read(device.index, to, from.data() + offset, nbytes);
  }
}

void copy_from_host(const Operand& to, std::size_t offset, const std::byte* from,
                    std::size_t nbytes) {
  const Device device = to.storage->device();
  if (is_host_addressable(device)) {
    std::memcpy(to.data() + offset, from, nbytes);
  } else {
    backend_of(device.type).write(device.index, to.data() + offset, from, nbytes);
  }
}

}  // namespace

HostOperand::HostOperand(const Operand& given, bool uneven, std::vector<Run> runs,
                         std::size_t nbytes)
    : given_(given), host_(given) {
  if (uneven || (given.storage && !is_host_addressable(given.storage->device()))) {
    host_.storage = make_ref<Storage>(nbytes, Device{}, MemoryCategory::communication);
    host_.offset = 0;
    runs_ = std::move(runs);
  }
}

HostOperand HostOperand::sent(const Collective& c, int rank, int size) {
  const std::size_t element = size_of(c.dtype);
  const std::size_t nbytes = send_count(c, rank, size) * element;
  std::vector<Run> runs;
  if (c.counts.empty()) {
    runs.push_back({0, 0, nbytes});
  } else if (c.kind == CollectiveKind::all_gather) {
    runs.push_back({0, 0, c.counts[static_cast<std::size_t>(rank)] * element});
  } else {
    std::size_t given = 0, host = 0;
    for (int block = 0; block < blocks_of(c, rank); ++block) {
      for (const std::size_t count : c.counts) {
        runs.push_back({given, host, count * element});
        given += count * element, host += c.count * element;
      }
    }
  }
  return {c.send, !c.counts.empty(), std::move(runs), nbytes};
}

HostOperand HostOperand::received(const Collective& c, int rank, int size) {
  const std::size_t element = size_of(c.dtype);
  const std::size_t nbytes = receive_count(c, size) * element;
  std::vector<Run> runs;
  if (c.counts.empty()) {
    runs.push_back({0, 0, nbytes});
  } else if (c.kind == CollectiveKind::reduce_scatter) {
    runs.push_back({0, 0, c.counts[static_cast<std::size_t>(rank)] * element});
  } else {
    std::size_t given = 0, host = 0;
    for (const std::size_t count : c.counts) {
      runs.push_back({given, host, count * element});
      given += count * element, host += c.count * element;
    }
  }
  return {c.receive, !c.counts.empty(), std::move(runs), nbytes};
}

/// Padding is zeros: it is summed.
void HostOperand::fetch() const {
  if (!runs_.empty()) {
    std::memset(host_.data(), 0, host_.storage->nbytes());
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
