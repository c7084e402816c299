#include <tessera/nn/io/sealed_bytes.h>

#include <cstdint>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/base/hash.h>

namespace tessera::nn {

std::vector<std::byte> seal(std::vector<std::byte> bytes) {
  const std::uint64_t checksum = hash_bytes(bytes);
  const auto* first = reinterpret_cast<const std::byte*>(&checksum);
  bytes.insert(bytes.end(), first, first + sizeof checksum);
  return bytes;
}

std::span<const std::byte> unseal(std::span<const std::byte> sealed, const std::string& what) {
  std::uint64_t checksum = 0;
  check<IoError>(sealed.size() >= sizeof checksum, what, ": the bytes are cut off; got ",
                 sealed.size());
  const auto bytes = sealed.first(sealed.size() - sizeof checksum);
  std::memcpy(&checksum, sealed.last<sizeof checksum>().data(), sizeof checksum);
  check<IoError>(checksum == hash_bytes(bytes), what,
                 ": the bytes are damaged: their checksum differs");
  return bytes;
}

}  // namespace tessera::nn
