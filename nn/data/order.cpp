#include <tessera/nn/data/order.h>

#include <tessera/core/base/philox.h>
#include <tessera/nn/data/permutation.h>

namespace tessera::data {

std::int64_t sample_at(bool shuffle, std::uint64_t seed, std::int64_t size, std::int64_t place) {
  const std::int64_t in_epoch = place % size;
  if (!shuffle) {
    return in_epoch;
  }
  const auto epoch = static_cast<std::uint64_t>(place / size);
  return Permutation(size, mix(mix(seed, hash_name("data order")), epoch))[in_epoch];
}

}  // namespace tessera::data
