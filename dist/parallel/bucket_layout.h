// Which parameter's gradient lies where: buckets, each reduced by one collective.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tessera/nn/parameter.h>

namespace tessera::dist {

struct BucketOptions {
  std::size_t first_bytes = std::size_t{256} << 10;  ///< small, so that communication starts early
  /// 0: a thirty-second of all gradients, so that links wait little for the first ones and little
  /// is left when backward ends, from 512 KiB to 25 MiB.
  std::size_t bytes = 0;
};

/// One parameter's place in the flat space of all parameters.
struct BucketEntry {
  nn::Slot* slot = nullptr;
  std::int64_t offset = 0;  ///< in elements, from the start of the flat space
  std::int64_t count = 0;
  bool whole = false;               ///< one rank's, not dealt out
  std::weak_ptr<nn::Slot> alive{};  ///< `slot`, which owns the buckets through its ownership
};

struct Bucket {
  std::int64_t offset = 0;  ///< in elements, from the start of the flat space
  std::int64_t count = 0;   ///< elements, padding included
  std::vector<BucketEntry> entries;
  std::string label;  ///< for errors and traces
};

/// Cuts parameters into buckets in reverse order of registration, which is the order in which
/// backward completes them. Every parameter starts at a multiple of 16 elements. (The largest
/// limit is that of PyTorch's DistributedDataParallel: a bucket closes when it reaches its
/// limit.) Throws Unsupported for parameters that are not f32.
[[nodiscard]] std::vector<Bucket> make_buckets(const std::vector<nn::Parameter>& parameters,
                                               const BucketOptions& options);

/// Elements of the flat space.
[[nodiscard]] std::int64_t flat_count(const std::vector<Bucket>& buckets);

/// Where in the space of gradients the rank's sum over block number `block` of microbatches lies,
/// for an entry of `bucket`: a bucket's sums over a rank's blocks, at most `most`, lie one behind
/// the other, so that one collective takes them all.
[[nodiscard]] std::int64_t gradient_offset(const Bucket& bucket, const BucketEntry& entry,
                                           std::size_t block, int most);

/// How the flat space of all parameters is dealt out among the ranks of a host: part r is
/// [borders[r], borders[r + 1]). Borders lie at multiples of kNormBlock within a parameter, so that
/// every block of a gradient norm is one rank's; a parameter that stays whole has none within.
[[nodiscard]] std::vector<std::int64_t> deal_out(const std::vector<Bucket>& buckets, int ranks);

}  // namespace tessera::dist
