#include <tessera/core/autograd/loss_counts.h>

#include <algorithm>
#include <memory>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/ops/support/microbatch_sum.h>

namespace tessera {
namespace {

AutogradMeta& autograd_of(TensorImpl& x) {
  if (x.autograd == nullptr) {
    x.autograd = std::make_unique<AutogradMeta>();
  }
  return *x.autograd;
}

/// What of each microbatch's elements counts.
std::vector<double> shares_of(const LossCounts& counts) {
  std::vector<double> shares = counts.values.to_vector<double>();
  for (double& share : shares) {
    share /= counts.elements;
  }
  return shares;
}

bool count_alike(const LossCounts& a, const LossCounts& b) {
  std::vector<double> left = shares_of(a);
  std::vector<double> right = shares_of(b);
  const std::size_t parts = std::max(left.size(), right.size());
  left.resize(parts, left[0]);  // one number stands for every microbatch
  right.resize(parts, right[0]);
  return left == right;
}

bool is_like(const Tensor& x, const LossCounts& counts) {
  return x.numel() == counts.values.numel() && x.cut().stacked == counts.values.cut().stacked &&
         is_floating(x.dtype());
}

double tree_total(std::vector<double> values) {
  tree_sum(values, std::ssize(values), 1);
  return values[0];
}

}  // namespace

void attach_counts(const Tensor& loss, const char* name, const Tensor& counted,
                   std::int64_t elements) {
  if (loss.device().type == DeviceType::meta) {
    return;
  }
  check<InternalError>(counted.numel() == loss.numel() && counted.dtype() == DType::f64, name,
                       ": counts do not fit the loss; got ", counted.shape(), ", expected ",
                       loss.shape());
  auto counts = make_ref<LossCounts>();
  counts->loss = name;
  counts->values = counted.detach();
  counts->elements = static_cast<double>(std::max<std::int64_t>(elements, 1));
  autograd_of(loss.get()).counts = Ref<const LossCounts>(counts.get());
}

const LossCounts* counts_of(const Tensor& x) {
  const TensorImpl& impl = x.get();
  return impl.autograd != nullptr ? impl.autograd->counts.get() : nullptr;
}

Ref<const LossCounts> combine_counts(const Ref<const LossCounts>& a,
                                     const Ref<const LossCounts>& b) {
  if (!a || a.get() == b.get() || b->other != nullptr) {
    return b;
  }
  if (a->other != nullptr) {
    return a;
  }
  if (count_alike(*a, *b)) {
    return a->elements < b->elements ? b : a;
  }
  auto both = make_ref<LossCounts>();
  both->loss = a->loss;
  both->values = a->values;
  both->elements = a->elements;
  both->other = b->loss;
  return Ref<const LossCounts>(both.get());
}

void carry_counts(std::span<const TensorRef> inputs, const Outputs& outputs) {
  Ref<const LossCounts> found;
  for (const Tensor& x : inputs) {
    if (x.defined() && counts_of(x) != nullptr) {
      found = combine_counts(found, Ref<const LossCounts>(counts_of(x)));
    }
  }
  for (const Tensor& y : outputs) {
    if (found && is_like(y, *found)) {
      autograd_of(y.get()).counts = found;
    }
  }
}

std::vector<double> read_counts(const char* op, const LossCounts& counts) {
  check(counts.other == nullptr, op, ": losses that count different elements were combined; got ",
        counts.loss, " and ", counts.other, ", expected one of them: call ", op, " on each");
  return counts.values.to_vector<double>();
}

std::int64_t elements_of_microbatch(const Tensor& x) {
  return x.numel() / (x.cut() ? x.cut().parts : 1);
}

double mean_by_counts(std::vector<double> means, std::vector<double> counts) {
  const bool alike = std::ranges::adjacent_find(counts, std::not_equal_to{}) == counts.end();
  if (alike) {
    const auto count = static_cast<double>(means.size());
    return tree_total(std::move(means)) / count;
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] *= counts[i];
  }
  return tree_total(std::move(means)) / tree_total(std::move(counts));
}

}  // namespace tessera
