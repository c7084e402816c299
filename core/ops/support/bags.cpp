#include <tessera/core/ops/support/bags.h>

#include <algorithm>

#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {
namespace {

constexpr std::int8_t kBags = 0;
constexpr std::int8_t kWidth = 1;

std::int64_t check_offsets(const Infer& c, const Tensor& offsets, const BagAttrs& attrs) {
  check_layout(offsets.ndim() == 1, c.op(), "offsets", offsets.shape(), "one dim");
  check_integer(c.op(), "offsets", offsets.dtype());
  check(!attrs.include_last_offset || offsets.numel() > 0, c.op(),
        ": wrong number of offsets; got 0, expected at least 1 with include_last_offset");
  return offsets.numel() - (attrs.include_last_offset ? 1 : 0);
}

/// Where bags begin, and the last one of `count` ids ends.
std::vector<std::int64_t> edges_of(const char* op, const TensorImpl& offsets, std::int64_t count,
                                   const BagAttrs& attrs) {
  std::vector<std::int64_t> edges = dense_values<std::int64_t>(offsets);
  if (!attrs.include_last_offset) {
    edges.push_back(count);
  }
  check(edges.size() == 1 || edges.front() == 0, op, ": offsets out of range; got ", edges.front(),
        " first, expected 0");
  check(std::ranges::is_sorted(edges) && edges.back() <= count, op, ": offsets out of range; got ",
        edges.back(), " last, expected a rising sequence up to ", count);
  return edges;
}

}  // namespace

std::int64_t check_bags(const Infer& c, int first, const BagAttrs& attrs) {
  const Tensor& weight = c.input(first);
  const Tensor& ids = c.input(first + 1);
  check_layout(weight.ndim() == 2, c.op(), "weight", weight.shape(), "(rows, width)");
  check_floating(c.op(), "weight", weight.dtype());
  check_integer(c.op(), "ids", ids.dtype());
  const bool offsets = c.has_input(first + 2);
  check_layout(ids.ndim() == (offsets ? 1 : 2), c.op(), "ids", ids.shape(),
               offsets ? "one dim, as there are offsets" : "(bags, ids)");
  if (c.has_input(first + 3)) {
    const Tensor& factors = c.input(first + 3);
    check(factors.shape() == ids.shape() && factors.dtype() == weight.dtype(), c.op(),
          ": weights of ids do not fit; got ", factors.shape(), " ", factors.dtype(), ", expected ",
          ids.shape(), " ", weight.dtype());
    check(attrs.mode == BagMode::sum, c.op(),
          ": weights of ids go with sums only; got another mode, expected BagMode::sum");
  }
  return offsets ? check_offsets(c, c.input(first + 2), attrs) : ids.shape()[0];
}

InlineVector<DimLabels, 4> bag_labels(const Infer& c, int first) {
  InlineVector<DimLabels, 4> labels;
  for (int i = first; i < std::min(c.input_count(), first + 4); ++i) {
    labels.emplace_back(c.has_input(i) ? c.input(i).ndim() : 0);
  }
  labels[0][1] = bag_output_labels(c, first)[1];
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[i].size == 2) {
      labels[i][0] = kBags;
    }
  }
  return labels;
}

DimLabels bag_output_labels(const Infer& c, int first) {
  DimLabels labels(2);
  labels[0] = c.has_input(first + 2) ? DimLabels::kWhole : kBags;
  labels[1] = c.has_input(first + 3) ? DimLabels::kWhole : kWidth;
  return labels;
}

Bags::Bags(const Kernel& k, int first, const BagAttrs& attrs)
    : padding_(attrs.padding_idx), ids_(dense_values<std::int64_t>(k.input(first + 1))) {
  const std::int64_t rows = k.input(first).shape[0];
  for (const std::int64_t id : ids_) {
    check(id >= 0 && id < rows, k.op(), ": id out of range; got ", id, ", expected [0, ", rows,
          ")");
  }
  const Shape& shape = k.input(first + 1).shape;
  if (k.has_input(first + 2)) {
    edges_ = edges_of(k.op(), k.input(first + 2), numel_of(shape), attrs);
    return;
  }
  for (std::int64_t bag = 0; bag <= shape[0]; ++bag) {
    edges_.push_back(bag * shape[1]);
  }
}

double Bags::divisor(std::int64_t bag) const {
  std::int64_t counted = 0;
  for (std::int64_t i = begin(bag); i < end(bag); ++i) {
    counted += counts(i) ? 1 : 0;
  }
  return static_cast<double>(std::max<std::int64_t>(counted, 1));
}

}  // namespace tessera
