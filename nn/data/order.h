// Which sample of a data set comes when.
#pragma once

#include <cstdint>

#include <tessera/core/base/philox.h>
#include <tessera/nn/data/permutation.h>

namespace tessera::data {

/// The sample at place `place` of training, counted over all epochs, in a data set of `size`: each
/// epoch has every sample once, one after another or in a shuffled order of its own. A function of
/// (seed, epoch, place) alone: any rank computes any place, and resuming needs no other state than
/// the place.
[[nodiscard]] inline std::int64_t sample_at(bool shuffle, std::uint64_t seed, std::int64_t size,
                                            std::int64_t place) {
  const std::int64_t in_epoch = place % size;
  if (!shuffle) {
    return in_epoch;
  }
  const auto epoch = static_cast<std::uint64_t>(place / size);
  return Permutation(size, mix(mix(seed, hash_name("data order")), epoch))[in_epoch];
}

}  // namespace tessera::data
