#include <tessera/core/autograd/loss_counts.h>

#include <algorithm>
#include <unordered_set>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/node.h>
#include <tessera/core/autograd/record.h>
#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/pipeline.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>

namespace tessera {
namespace {

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
  const std::size_t microbatch_count = std::max(left.size(), right.size());
  left.resize(microbatch_count, left[0]);  // one number stands for every microbatch
  right.resize(microbatch_count, right[0]);
  return left == right;
}

/// A sum of losses may be taken through a stack of them: other shapes carry counts too. What counts
/// for all microbatches alike goes with what exists once in each: a pass of one microbatch cannot
/// tell the two.
bool may_carry(const Tensor& x, const LossCounts& counts) {
  const MicrobatchLayout& layout = counts.values.microbatches();
  return is_floating(x.dtype()) && (layout ? x.microbatches() == layout
                                           : !x.microbatches() || x.microbatches().per_microbatch);
}

bool adds(const OpDef& op) {
  return &op == &op_def<Add>() || &op == &op_def<Sub>() || &op == &op_def<Concat>();
}

/// Inputs of a model may want gradients too; they are no parameters, which have names.
bool holds_samples(const LeafNode& leaf) {
  const Shape& shape = leaf.meta.shape;
  return leaf.sink == nullptr && leaf.name.expired() && !shape.empty() &&
         shape[0] == Context::current().pass.samples;
}

/// True when a parameter of no model, or a constant that `is_data`, went into `x`.
bool is_made_of(const Tensor& x, bool (*is_data)(const Shape& constant)) {
  std::vector<const OpNode*> found;
  std::unordered_set<const OpNode*> seen;
  bool data = false;
  const auto find = [&](const TapeEdge& edge) {
    const OpNode* node = edge.node ? edge.node->as_op() : nullptr;
    if (node != nullptr && seen.insert(node).second) {
      found.push_back(node);
    }
    data |= edge.node && node == nullptr && holds_samples(*edge.node->as_leaf());
  };
  for (find(edge_of(x)); !found.empty() && !data;) {
    const OpNode& node = *found.back();
    found.pop_back();
    data = std::ranges::any_of(node.constants,
                               [&](const TensorMeta& of) { return is_data(of.shape); });
    std::ranges::for_each(node.edges, find);
  }
  return data;
}

}  // namespace

bool is_made_of_data(const Tensor& x) {
  return is_made_of(x, [](const Shape& constant) { return !constant.empty(); });
}

bool may_be_made_of_samples(const Tensor& x) {
  return is_made_of(x, [](const Shape& constant) {
    return std::ranges::find(constant, Context::current().pass.samples) != constant.end();
  });
}

namespace {

Ref<const LossCounts> with_other(const LossCounts& counts, const char* other) {
  auto both = make_ref<LossCounts>();
  both->loss = counts.loss;
  both->values = counts.values;
  both->elements = counts.elements;
  both->other = other;
  return Ref<const LossCounts>(both.get());
}

/// What counts for all microbatches alike, once for each of `microbatch_count`.
Ref<const LossCounts> once_each(const Ref<const LossCounts>& counts,
                                std::int32_t microbatch_count) {
  if (counts->values.microbatches() || microbatch_count == 1) {
    return counts;
  }
  auto each = make_ref<LossCounts>();
  each->loss = counts->loss;
  each->values = repeat_microbatches(counts->values, microbatch_count);
  each->elements = counts->elements;
  each->other = counts->other;
  return Ref<const LossCounts>(each.get());
}

/// What counts for all alike, once for each of those that `other` has one for: a sum of both losses
/// does.
Ref<const LossCounts> once_each(const Ref<const LossCounts>& counts, const LossCounts& other) {
  return once_each(counts, other.values.microbatches().count);
}

/// True when some of a microbatch's elements did not count.
bool counts_in_part(const LossCounts& counts) {
  return std::ranges::any_of(shares_of(counts), [](double share) { return share != 1; });
}

}  // namespace

Ref<const LossCounts> combine_counts(const Ref<const LossCounts>& a,
                                     const Ref<const LossCounts>& b) {
  if (!a || a.get() == b.get()) {
    return b;
  }
  if (a->other != nullptr || b->other != nullptr) {
    return b->other != nullptr ? once_each(b, *a) : once_each(a, *b);
  }
  if (count_alike(*a, *b)) {
    return a->elements < b->elements ? once_each(b, *a) : once_each(a, *b);
  }
  return once_each(with_other(*a, b->loss), *b);
}

/// Zeros add nothing, as long as they are no result of weights. In passes of one microbatch nothing
/// has borders to tell a mean over samples by.
bool is_plain_mean(const Tensor& x) {
  if (!is_floating(x.dtype()) || x.device().type == DeviceType::meta) {
    return false;
  }
  const Pass& pass = Context::current().pass;
  if (!x.microbatches()) {
    return pass.count == 1 && pass.grain > 1 && x.requires_grad() && is_made_of_data(x);
  }
  const std::vector<double> values =
      x.requires_grad() ? std::vector<double>{1} : x.to_vector<double>();
  return std::ranges::any_of(values, [](double value) { return value != 0; });
}

Ref<const LossCounts> beside(const Ref<const LossCounts>& counts, const char* other) {
  return counts->other == nullptr && counts_in_part(*counts) ? with_other(*counts, other) : counts;
}

bool adds_plain_mean(const OpDef& op, std::span<const TensorRef> inputs) {
  const auto in_part = [](const Tensor& x) {
    return x.defined() && counts_of(x) != nullptr && counts_in_part(*counts_of(x));
  };
  const auto plain = [](const Tensor& x) {
    return x.defined() && counts_of(x) == nullptr && is_plain_mean(x);
  };
  return adds(op) && std::ranges::any_of(inputs, in_part) && std::ranges::any_of(inputs, plain);
}

void carry_counts(std::span<const TensorRef> inputs, const Outputs& outputs, bool beside_plain) {
  Ref<const LossCounts> found;
  for (const Tensor& x : inputs) {
    if (x.defined() && counts_of(x) != nullptr) {
      found = combine_counts(found, Ref<const LossCounts>(counts_of(x)));
    }
  }
  found = found && beside_plain ? beside(found, "a mean over all samples") : found;
  for (const Tensor& y : outputs) {
    if (found && may_carry(y, *found)) {
      y.get().set_counts(once_each(found, y.microbatches().count));
    }
    const Ref<TensorImpl>& base = y.get().base;
    const bool part = base && base->numel() != y.numel();
    if (found && part && counts_of(Tensor(base)) == nullptr) {  // written, or it had counts
      base->set_counts(beside(found, "what lies beside it in a tensor"));
    }
  }
}

void forget_counts(Tensor& gradient) {
  if (gradient.defined() && counts_of(gradient) != nullptr) {
    gradient = gradient.requires_grad() ? gradient * 1 : gradient.detach();
    gradient.get().set_counts({});
  }
}

namespace {

/// The stage of calls with losses that counted their elements.
void count(Call& call) {
  const bool beside_plain = adds_plain_mean(call.op, call.inputs);
  proceed(call);
  carry_counts(call.inputs, call.outputs, beside_plain);
}

const RegisterStage register_count(Stage::count, count);

}  // namespace
}  // namespace tessera
