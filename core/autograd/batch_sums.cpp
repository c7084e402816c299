#include <tessera/core/autograd/batch_sums.h>

#include <algorithm>
#include <utility>

#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

using Kind = std::vector<const BatchSumUse*>;

/// The shape of one microbatch of `x`.
Shape shape_of_microbatch(const Tensor& x) {
  Shape shape = x.shape();
  if (x.microbatches().per_microbatch) {
    shape.erase(0);
  } else if (x.microbatches()) {
    shape[x.microbatches().dim] /= x.microbatches().count;
  }
  return shape;
}

bool have_like_samples(const Tensor& x, const Tensor& y) {
  const Shape a = shape_of_microbatch(x);
  const Shape b = shape_of_microbatch(y);
  return x.dtype() == y.dtype() && a.size() == b.size() && !a.empty() &&
         std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

bool are_of_one_kind(const BatchSumUse& a, const BatchSumUse& b) {
  return a.op == b.op && a.attrs->type().equal(a.attrs->get(), b.attrs->get()) &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    have_like_samples);
}

std::vector<Kind> sort_by_kind(std::span<const BatchSumUse> uses) {
  std::vector<Kind> kinds;
  for (const BatchSumUse& use : uses) {
    const auto known =
        std::ranges::find_if(kinds, [&](const Kind& k) { return are_of_one_kind(*k[0], use); });
    known != kinds.end() ? known->push_back(&use) : kinds.push_back({&use});
  }
  return kinds;
}

std::int32_t microbatch_count_of(const Kind& kind) {
  std::int32_t microbatch_count = 1;
  for (const BatchSumUse* use : kind) {
    for (const Tensor& x : use->inputs) {
      microbatch_count = std::max(microbatch_count, x.microbatches().count);
    }
  }
  return microbatch_count;
}

bool depends_on_samples(const BatchSumUse& use) {
  return std::ranges::any_of(use.inputs, [](const Tensor& x) { return bool{x.microbatches()}; });
}

/// Input `i` of `use` as (microbatches, a microbatch's shape...), without borders.
Tensor by_microbatch(const BatchSumUse& use, std::size_t i, std::int32_t microbatch_count) {
  Tensor x = use.inputs[i];
  if (!x.microbatches()) {
    // Of what no sample had a part in each microbatch has a share; the first factor takes it.
    const bool share = i == 0 && microbatch_count > 1 && !depends_on_samples(use);
    x = repeat_microbatches(share ? x * (1.0 / microbatch_count) : x, microbatch_count);
  } else if (!x.microbatches().per_microbatch && x.microbatches().dim > 0) {
    x = stack_microbatches(x);
  }
  Shape shape = shape_of_microbatch(x);
  shape.insert(0, microbatch_count);
  x = x.detach();
  x.get().set_microbatches({});
  return reshape(x, shape);
}

/// The `i`-th inputs of all uses: each microbatch holds the samples of the first use, then those of
/// the second, and so on.
Tensor join_samples(const Kind& kind, std::size_t i, std::int32_t microbatch_count) {
  std::vector<Tensor> pieces;
  for (const BatchSumUse* use : kind) {
    pieces.push_back(by_microbatch(*use, i, microbatch_count));
  }
  const Tensor all = concat(std::vector<TensorRef>(pieces.begin(), pieces.end()), 1);
  Shape shape = all.shape();
  shape.erase(0);
  shape[0] *= microbatch_count;
  Tensor joined = reshape(all, shape);
  if (microbatch_count > 1) {
    joined = joined.detach();
    joined.get().set_microbatches({.count = microbatch_count, .dim = 0});
  }
  return joined;
}

Tensor sum_kind(const Kind& kind, const Tensor& destination) {
  std::vector<Tensor> inputs = kind[0]->inputs;
  if (kind.size() > 1) {
    const std::int32_t microbatch_count = microbatch_count_of(kind);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = join_samples(kind, i, microbatch_count);
    }
  }
  Outputs outputs{destination};
  call(*kind[0]->op, std::vector<TensorRef>(inputs.begin(), inputs.end()), kind[0]->attrs->get(),
       outputs);
  return std::move(outputs[0]);
}

}  // namespace

BatchSumUse::BatchSumUse(const OpDef& sum, std::span<const TensorRef> of, const void* attributes)
    : op(&sum), attrs(std::make_unique<AttrsBox>(*sum.attrs, attributes)) {
  inputs.assign(of.begin(), of.end());
}

bool are_summed_together(std::span<const Tensor> inputs, std::int64_t weights) {
  std::int64_t samples = 0;
  for (const Tensor& x : inputs) {
    samples += numel_of(shape_of_microbatch(x));
  }
  return samples <= weights;
}

std::vector<Tensor> sum_uses(std::span<const BatchSumUse> uses, bool alone,
                             const Tensor& destination) {
  const std::vector<Kind> kinds = sort_by_kind(uses);
  const bool whole = alone && kinds.size() == 1;
  const ModeGuard<&Modes::batch_sum> sum(whole ? BatchSum::tree : BatchSum::per_microbatch);
  std::vector<Tensor> gradients;
  for (const Kind& kind : kinds) {
    gradients.push_back(sum_kind(kind, whole ? destination : Tensor()));
  }
  return gradients;
}

}  // namespace tessera
