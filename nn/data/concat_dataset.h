// Data sets one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tessera/nn/data/dataset.h>

namespace tessera::data {

/// The samples of several data sets of one type, set after set.
template <class D>
class ConcatDataset final : public Dataset<typename D::Sample> {
 public:
  using Sample = typename D::Sample;

  explicit ConcatDataset(std::vector<D> parts) : parts_(std::move(parts)) {
    for (const D& part : parts_) {
      ends_.push_back(size() + part.size());
    }
  }

  [[nodiscard]] std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] Sample get(std::int64_t index) const override {
    const auto [part, inside] = find(index);
    return part->get(inside);
  }
  [[nodiscard]] Sample draw(std::int64_t index, Random& random) const override {
    const auto [part, inside] = find(index);
    return part->draw(inside, random);
  }
  [[nodiscard]] DatasetFacts facts() const override {
    DatasetFacts all;
    for (const D& part : parts_) {
      const DatasetFacts facts = part.facts();
      all.insert(all.end(), facts.begin(), facts.end());
    }
    return all;
  }

 private:
  [[nodiscard]] std::pair<const D*, std::int64_t> find(std::int64_t index) const {
    check_index("concat dataset", index, size());
    const auto end = std::ranges::upper_bound(ends_, index);
    const D& part = parts_[static_cast<std::size_t>(end - ends_.begin())];
    return {&part, index - (*end - part.size())};
  }

  std::vector<D> parts_;
  std::vector<std::int64_t> ends_;  ///< of each part, among all samples
};

}  // namespace tessera::data
