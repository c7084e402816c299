// Parts of a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <tessera/core/base/mapped.h>
#include <tessera/core/base/philox.h>
#include <tessera/nn/data/dataset.h>
#include <tessera/nn/data/permutation.h>

namespace tessera::data {

/// Some samples of a data set, in a given order.
template <class D>
class Subset final : public Dataset<typename D::Sample> {
 public:
  using Sample = typename D::Sample;

  /// Throws InvalidArgument for an index that `dataset` has not.
  Subset(D dataset, std::vector<std::int64_t> indices)
      : dataset_(std::move(dataset)),
        indices_(std::make_shared<const std::vector<std::int64_t>>(std::move(indices))) {
    for (const std::int64_t index : *indices_) {
      check_index("subset", index, dataset_.size());
    }
  }

  [[nodiscard]] std::int64_t size() const override { return std::ssize(*indices_); }
  [[nodiscard]] Sample get(std::int64_t index) const override { return dataset_.get(at(index)); }
  [[nodiscard]] Sample draw(std::int64_t index, Random& random) const override {
    return dataset_.draw(at(index), random);
  }
  [[nodiscard]] auto get_batch(std::span<const std::int64_t> indices) const requires
      MakesBatches<D> {
    const auto chosen = mapped(indices, [this](std::int64_t index) { return at(index); });
    return dataset_.get_batch(chosen);
  }
  [[nodiscard]] DatasetFacts facts() const override {
    DatasetFacts facts = dataset_.facts();
    std::uint64_t hash = 0;
    for (const std::int64_t index : *indices_) {
      hash = mix(hash, static_cast<std::uint64_t>(index));
    }
    facts.emplace_back("choice of samples", hash);
    return facts;
  }
  [[nodiscard]] const D& dataset() const { return dataset_; }
  [[nodiscard]] const std::vector<std::int64_t>& indices() const { return *indices_; }

 private:
  [[nodiscard]] std::int64_t at(std::int64_t index) const {
    check_index("subset", index, size());
    return (*indices_)[static_cast<std::size_t>(index)];
  }

  D dataset_;
  std::shared_ptr<const std::vector<std::int64_t>> indices_;
};

/// Parts of `dataset` that share no sample, of the given sizes, picked at random by `seed`. Throws
/// InvalidArgument when the sizes do not sum to that of the data set.
template <class D>
[[nodiscard]] std::vector<Subset<D>> random_split(const D& dataset,
                                                  std::span<const std::int64_t> sizes,
                                                  std::uint64_t seed) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    check(size >= 0, "random split: a negative size; got ", size);
    sum += size;
  }
  check(sum == dataset.size(), "random split: the sizes do not sum to that of the data set; got ",
        sum, ", expected ", dataset.size());
  const Permutation order(sum, mix(seed, hash_name("random split")));
  std::vector<Subset<D>> parts;
  std::int64_t next = 0;
  for (const std::int64_t size : sizes) {
    std::vector<std::int64_t> indices;
    for (const std::int64_t end = next + size; next < end; ++next) {
      indices.push_back(order[next]);
    }
    parts.emplace_back(dataset, std::move(indices));
  }
  return parts;
}
template <class D>
[[nodiscard]] std::vector<Subset<D>> random_split(const D& dataset,
                                                  std::initializer_list<std::int64_t> sizes,
                                                  std::uint64_t seed) {
  return random_split(dataset, std::span(sizes.begin(), sizes.size()), seed);
}

}  // namespace tessera::data
