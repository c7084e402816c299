// A data set whose samples go through a transform.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include <tessera/nn/data/dataset.h>
#include <tessera/nn/data/transforms/apply.h>

namespace tessera::data {

/// `f` of the input of every sample of `dataset`: of a sample that is a tensor, or of the first
/// part of a pair, tuple or array. Made by `transform`.
template <class D, Transform F>
class Transformed final : public Dataset<typename D::Sample> {
 public:
  using Sample = typename D::Sample;

  Transformed(D dataset, F f) : dataset_(std::move(dataset)), f_(std::move(f)) {}

  [[nodiscard]] std::int64_t size() const override { return dataset_.size(); }
  /// A random transform does the same to a sample at every call.
  [[nodiscard]] Sample get(std::int64_t index) const override {
    Random random(static_cast<std::uint64_t>(index));
    return draw(index, random);
  }
  [[nodiscard]] Sample draw(std::int64_t index, Random& random) const override {
    Sample sample = dataset_.draw(index, random);
    Tensor& input = input_of(sample);
    input = apply_transform(f_, input, random);
    return sample;
  }
  [[nodiscard]] DatasetFacts facts() const override { return dataset_.facts(); }
  [[nodiscard]] const D& dataset() const { return dataset_; }

 private:
  static Tensor& input_of(Sample& sample) {
    if constexpr (std::same_as<Sample, Tensor>) {
      return sample;
    } else {
      return std::get<0>(sample);
    }
  }

  D dataset_;
  F f_;
};

/// `dataset` with `f` of its inputs: transform(ImageFolder(root), Compose(ToFloat(), ...)).
template <class D, Transform F>
[[nodiscard]] Transformed<D, F> transform(D dataset, F f) {
  return {std::move(dataset), std::move(f)};
}

}  // namespace tessera::data
