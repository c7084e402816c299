#include <tessera/dist/parallel/cold_copy.h>

#include <algorithm>
#include <cstdint>

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/array_loops.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

}  // namespace

void copy_past_caches(std::span<const std::byte> source, const std::vector<std::byte*>& targets,
                      std::size_t offset) {
  const auto copy = array_loops().copy_past_caches;
  const std::size_t pieces = (source.size() + kPiece - 1) / kPiece;
  parallel_for(static_cast<std::int64_t>(pieces), [&](std::int64_t piece) {
    const std::size_t at = static_cast<std::size_t>(piece) * kPiece;
    const std::size_t nbytes = std::min(kPiece, source.size() - at);
    for (std::byte* target : targets) {
      copy(source.data() + at, target + offset + at, nbytes);
    }
  });
}

}  // namespace tessera::dist
