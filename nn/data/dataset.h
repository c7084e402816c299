// Dataset: numbered samples, which a DataLoader makes batches of.
//
//   struct Squares : data::Dataset<std::pair<Tensor, float>> {
//     std::int64_t size() const override { return 100; }
//     Sample get(std::int64_t index) const override { ... }
//   };
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/nn/data/random.h>

namespace tessera::data {

/// What tells one set of data from another, by name; a resumed run must find the same.
using DatasetFacts = std::vector<std::pair<std::string, std::uint64_t>>;

/// Samples of type `S`, numbered from 0. Several threads read at once, so what is const here must
/// be safe to call from all of them. Data sets are values and cheap to copy: large parts are
/// shared.
template <class S>
class Dataset {
 public:
  using Sample = S;

  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Sample `index` of [0, size()), the same at every call.
  [[nodiscard]] virtual Sample get(std::int64_t index) const = 0;
  /// The sample as training sees it, which may draw from `random`: what a loader asks for.
  [[nodiscard]] virtual Sample draw(std::int64_t index, Random& random) const {
    static_cast<void>(random);
    return get(index);
  }
  [[nodiscard]] virtual DatasetFacts facts() const {
    return {{"samples", static_cast<std::uint64_t>(size())}};
  }

 protected:
  Dataset() = default;
  Dataset(const Dataset&) = default;
  Dataset& operator=(const Dataset&) = default;
};

/// A data set that makes a whole batch at once, faster than sample by sample. Its `draw` is `get`.
template <class D>
concept MakesBatches = requires(const D& dataset, std::span<const std::int64_t> indices) {
  dataset.get_batch(indices);
};

/// Throws InvalidArgument unless `index` is one of `size` samples.
inline void check_index(const char* dataset, std::int64_t index, std::int64_t size) {
  check(index >= 0 && index < size, dataset, ": no such sample; got ", index, ", expected 0 to ",
        size - 1);
}

}  // namespace tessera::data
