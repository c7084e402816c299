// Memory shared by processes of one host: an anonymous file that survives nothing.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tessera::dist {

/// How another process of the host finds a segment while its creator keeps it open.
struct SegmentAddress {
  std::uint64_t id = 0;  ///< unique on the host
  std::uint64_t nbytes = 0;
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
};

/// A mapping of a segment, unmapped on destruction; the memory is freed with its last mapping.
class SharedSegment {
 public:
  /// New zero-filled memory. Throws DeviceError when the host gives none.
  static std::shared_ptr<SharedSegment> create(std::size_t nbytes);
  /// Maps what another process created. Throws DeviceError when it cannot be reached.
  static std::shared_ptr<SharedSegment> open(const SegmentAddress&);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t nbytes() const { return nbytes_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] SegmentAddress address() const;
  /// Ends its reachability: called once everybody has opened it.
  void seal();

 private:
  SharedSegment(int descriptor, std::size_t nbytes, std::uint64_t id);

  std::byte* data_ = nullptr;
  std::size_t nbytes_;
  std::uint64_t id_;
  int descriptor_;
};

}  // namespace tessera::dist
