#include <tessera/core/ops/embedding_bag.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/bags.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>

namespace tessera {

std::ostream& operator<<(std::ostream& out, BagMode value) {
  constexpr const char* kNames[] = {"sum", "mean", "max"};
  return out << kNames[static_cast<std::size_t>(value)];
}
namespace {

std::vector<double> factors_of(const Kernel& k, int i, std::int64_t count) {
  return k.has_input(i) ? dense_values<double>(k.input(i))
                        : std::vector<double>(static_cast<std::size_t>(count), 1);
}

/// Element `column` of the row of `id`.
double element(const TensorImpl& weight, std::int64_t id, std::int64_t column) {
  return load_as<double>(weight, id * weight.strides[0] + column * weight.strides[1]);
}

/// What one element of a bag is, and where it comes from.
struct Reduced {
  double value = 0;
  std::int64_t index = -1;
};

Reduced reduce(const Bags& bags, std::int64_t bag, const TensorImpl& weight, std::int64_t column,
               const std::vector<double>& factors, BagMode mode) {
  Reduced result;
  for (std::int64_t i = bags.begin(bag); i < bags.end(bag); ++i) {
    if (!bags.counts(i)) {
      continue;
    }
    const double value = element(weight, bags.id(i), column) * factors[static_cast<std::size_t>(i)];
    if (mode != BagMode::max) {
      result.value += value;
    } else if (result.index < 0 || value > result.value) {
      result = {value, i - bags.begin(bag)};
    }
  }
  result.value /= mode == BagMode::mean ? bags.divisor(bag) : 1;
  return result;
}

}  // namespace

void EmbeddingBag::infer(Infer& c, const Attrs& attrs) {
  const std::int64_t bags = check_bags(c, 0, attrs);
  const Tensor& weight = c.input(0);
  c.add_output({bags, weight.shape()[1]}, weight.dtype());
  if (attrs.mode == BagMode::max) {
    c.add_output({bags, weight.shape()[1]}, DType::i64);
  }
}

void EmbeddingBag::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& weight = k.input(0);
  const Bags bags(k, 0, attrs);
  const std::vector<double> factors = factors_of(k, 3, k.input(1).numel());
  std::vector<double> values;
  std::vector<std::int64_t> indices;
  for (std::int64_t bag = 0; bag < bags.count(); ++bag) {
    for (std::int64_t j = 0; j < weight.shape[1]; ++j) {
      const Reduced r = reduce(bags, bag, weight, j, factors, attrs.mode);
      values.push_back(r.value);
      indices.push_back(r.index);
    }
  }
  store_values(k.output(0), values);
  if (attrs.mode == BagMode::max) {
    store_values(k.output(1), indices);
  }
}

void EmbeddingBag::vjp(Vjp& v, const Attrs& attrs) {
  const auto optional = [&](int i) { return v.has_input(i) ? v.input(i) : Tensor(); };
  const Tensor indices = attrs.mode == BagMode::max ? v.output(1) : Tensor();
  const Outputs gradients = call_all<EmbeddingBagBackward>(
      {v.gradient(), v.input(0), v.input(1), optional(2), optional(3), indices}, attrs);
  if (v.needs(0)) {
    v.set_sparse(0, v.input(1), gradients[0]);
  }
  if (v.has_input(3) && v.needs(3)) {
    v.set(3, gradients[1]);
  }
}

ShardRule EmbeddingBag::shard(const Infer& c, const Attrs& attrs) {
  ShardRule rule;
  rule.inputs = bag_labels(c, 0);
  rule.outputs.push_back(bag_output_labels(c, 0));
  if (attrs.mode == BagMode::max) {
    rule.outputs.push_back(bag_output_labels(c, 0));
  }
  return rule;
}

void EmbeddingBagBackward::infer(Infer& c, const Attrs& attrs) {
  const std::int64_t bags = check_bags(c, 1, attrs);
  const std::int64_t width = c.input(1).shape()[1];
  const Shape reduced{bags, width};
  check_shape(c.op(), "gradient", c.input(0).shape(), reduced);
  check_floating(c.op(), "gradient", c.input(0).dtype());
  check((attrs.mode == BagMode::max) == c.has_input(5), c.op(), ": indices go with mode max; got ",
        c.has_input(5) ? "some, expected none" : "none, expected some");
  if (c.has_input(5)) {
    check_shape(c.op(), "indices", c.input(5).shape(), reduced);
    check_i64(c.op(), "indices", c.input(5).dtype());
  }
  Shape rows = c.input(2).shape();
  rows.push_back(width);
  c.add_output(rows, c.input(0).dtype());
  if (c.has_input(4)) {
    c.add_output(c.input(2).shape(), c.input(4).dtype());
  }
}

void EmbeddingBagBackward::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& weight = k.input(1);
  const Bags bags(k, 1, attrs);
  const auto width = static_cast<std::size_t>(weight.shape[1]);
  const std::vector<double> gradient = dense_values<double>(k.input(0));
  const std::vector<double> factors = factors_of(k, 4, k.input(2).numel());
  const auto indices =
      k.has_input(5) ? dense_values<std::int64_t>(k.input(5)) : std::vector<std::int64_t>();
  std::vector<double> rows(factors.size() * width);
  std::vector<double> to_factors(factors.size());
  for (std::int64_t bag = 0; bag < bags.count(); ++bag) {
    const double divisor = attrs.mode == BagMode::mean ? bags.divisor(bag) : 1;
    for (std::int64_t i = bags.begin(bag); i < bags.end(bag); ++i) {
      for (std::size_t j = 0; bags.counts(i) && j < width; ++j) {
        const std::size_t from = static_cast<std::size_t>(bag) * width + j;
        const auto id = static_cast<std::size_t>(i);
        const bool taken = indices.empty() || indices[from] == i - bags.begin(bag);
        rows[id * width + j] = taken ? gradient[from] * factors[id] / divisor : 0;
        to_factors[id] +=
            gradient[from] * element(weight, bags.id(i), static_cast<std::int64_t>(j));
      }
    }
  }
  store_values(k.output(0), rows);
  if (k.has_input(4)) {
    store_values(k.output(1), to_factors);
  }
}

void EmbeddingBagBackward::vjp(Vjp&, const Attrs&) {
  fail<Unsupported>(
      "embedding_bag: second derivatives are not supported; write the bags out, as embedding, mul "
      "and sum");
}

ShardRule EmbeddingBagBackward::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  rule.inputs.push_back(bag_output_labels(c, 1));
  for (const DimLabels& labels : bag_labels(c, 1)) {
    rule.inputs.push_back(labels);
  }
  if (c.input_count() > 5) {
    rule.inputs.push_back(c.has_input(5) ? bag_output_labels(c, 1) : DimLabels(0));
  }
  DimLabels& rows = rule.outputs.emplace_back(c.input(2).ndim() + 1);
  rows[0] = rule.inputs[2][0];
  rows[c.input(2).ndim()] = rule.inputs[1][1];
  if (c.has_input(4)) {
    DimLabels& factors = rule.outputs.emplace_back(c.input(2).ndim());
    factors[0] = rule.inputs[2][0];
  }
  return rule;
}

Tensor embedding_bag(const Tensor& weight, const Tensor& ids, const Tensor& offsets,
                     const BagAttrs& options, const Tensor& per_sample_weights) {
  check<Unsupported>(!per_sample_weights.defined() || options.mode == BagMode::sum,
                     "embedding_bag: per_sample_weights go with sums only; use BagMode::sum");
  return call_all<EmbeddingBag>({weight, ids, offsets, per_sample_weights}, options)[0];
}

const Register<EmbeddingBag> register_embedding_bag;
const Register<EmbeddingBagBackward> register_embedding_bag_backward;

}  // namespace tessera
