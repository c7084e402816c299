#include <tessera/dist/comm/shm/segment.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/device/huge_pages.h>

namespace tessera::dist {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> made{0};
  return (static_cast<std::uint64_t>(getpid()) << 32) + ++made;
}

}  // namespace

SharedSegment::SharedSegment(int descriptor, std::size_t nbytes, std::uint64_t id)
    : nbytes_(nbytes), id_(id), descriptor_(descriptor) {
  data_ = map_from_huge_page(nbytes, descriptor);
  if (data_ == nullptr) {
    close(descriptor);
    fail<DeviceError>("shared memory: cannot map; got ", std::strerror(errno), " for ", nbytes,
                      " bytes");
  }
}

std::shared_ptr<SharedSegment> SharedSegment::create(std::size_t nbytes) {
  const int descriptor = memfd_create("tessera", MFD_CLOEXEC);
  check<DeviceError>(descriptor >= 0, "shared memory: cannot create; got ", std::strerror(errno));
  if (ftruncate(descriptor, static_cast<off_t>(nbytes)) != 0) {
    close(descriptor);
    fail<DeviceError>("shared memory: cannot reserve ", nbytes, " bytes; got ",
                      std::strerror(errno));
  }
  return std::shared_ptr<SharedSegment>(new SharedSegment(descriptor, nbytes, next_id()));
}

std::shared_ptr<SharedSegment> SharedSegment::open(const SegmentAddress& address) {
  const std::string path = detail::concat("/proc/", address.process, "/fd/", address.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  check<DeviceError>(descriptor >= 0, "shared memory: cannot open ", path, "; got ",
                     std::strerror(errno));
  auto* segment = new SharedSegment(descriptor, address.nbytes, address.id);
  std::shared_ptr<SharedSegment> owner(segment);
  owner->seal();
  return owner;
}

SharedSegment::~SharedSegment() {
  munmap(data_, nbytes_);
  seal();
}

SegmentAddress SharedSegment::address() const {
  return {id_, nbytes_, getpid(), descriptor_};
}

void SharedSegment::seal() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace tessera::dist
