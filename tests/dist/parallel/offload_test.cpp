// Hooks that keep saved tensors somewhere else, in host memory or in another dtype: the gradients
// of a run without them where nothing is lost, and the bits of one process in any case.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/sub.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

/// What is kept knows values and shape, and nothing of microbatches.
class InHostMemory final : public PackedTensor {
 public:
  InHostMemory(const Tensor& x, DType kept)
      : values_(cast(x, kept).to_vector<float>()), shape_(x.shape()) {}
  [[nodiscard]] Tensor unpack() override { return from_values<float>(values_, shape_); }

 private:
  std::vector<float> values_;
  Shape shape_;
};

struct Offloading final : SavedTensorHooks {
  explicit Offloading(DType dtype) : kept(dtype) {}
  [[nodiscard]] std::unique_ptr<PackedTensor> pack(const Tensor& x) override {
    const bool packs = x.dtype() == DType::f32 && !(x.is_leaf() && x.requires_grad());
    return packs ? std::make_unique<InHostMemory>(x.detach(), kept) : nullptr;
  }
  DType kept;
};

using LossOf = std::function<Tensor(Pair& pair, const Tensor& x, const Tensor& classes)>;

const std::map<std::string, LossOf> kLosses = {
    {"a square of a mean",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor loss = square(p.a(x));
       return loss * loss;
     }},
    {"samples by their norm",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor h = p.a(x);
       return square(h / norm(h, 2, {0}, true) + h);
     }},
    {"samples by their mean",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor h = p.a(x);
       return square(h * mean(h, {0}, true));
     }},
    {"a variance",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor h = p.a(x);
       const Tensor centred = h - mean(h, {0}, true);
       return square(centred) * exp(square(h) * -1.0);
     }},
    {"a checkpointed region that draws",
     [](Pair& p, const Tensor& x, const Tensor&) {
       const Tensor h = tanh(p.a->first(x));
       return square(p.a->second(
           checkpoint([&](const Tensor& y) { return dropout(y * mean(y, {0}, true), 0.5); }, h)));
     }},
    {"the fused head",
     [](Pair& p, const Tensor& x, const Tensor& classes) {
       return linear_cross_entropy(tanh(p.a->first(x)), p.a->second->weight.value(), classes);
     }},
};

/// A run whose tensors are kept in dtype `kept`; none: as they are.
auto training(const LossOf& loss, std::optional<DType> kept) {
  return loop([loss, kept](Pair& p, const Tensor& x, const Tensor& classes) {
    Offloading hooks(kept.value_or(DType::f32));
    Tensor result;
    if (kept) {
      const SavedTensorHooksScope scope(hooks);
      result = loss(p, x, classes);
    } else {
      result = loss(p, x, classes);
    }
    result.backward();
    p.of_a.step();
  });
}

TEST(Offload, changes_no_bit) {
  for (const auto& [name, loss] : kLosses) {
    SCOPED_TRACE(name);
    const auto alone = [](nn::Module&) { return 0; };
    const auto offloaded = training(loss, DType::f32);
    EXPECT_EQ(offloaded(1, alone), training(loss, std::nullopt)(1, alone));
    expect_same_bits_on_ranks(offloaded, kGrain, {2, 4});
  }
}

/// Not in a checkpointed region: its input is a leaf when it is computed once more, which these
/// hooks leave as it is, and the microbatches of a leaf are none.
TEST(Offload, that_rounds_has_the_bits_of_one_process) {
  for (const auto& [name, loss] : kLosses) {
    if (name.starts_with("a checkpointed")) {
      continue;
    }
    SCOPED_TRACE(name);
    expect_same_bits_on_ranks(training(loss, DType::bf16), kGrain, {2, 4});
  }
}

/// A gradient that a hook made of a shape alone has an entry for each sample.
TEST(Offload, hooks_may_make_gradients_of_a_shape) {
  const std::map<std::string, GradientHook> hooks = {
      {"a constant", [](const Tensor& g) { return full(g.shape(), 0.01); }},
      {"rebuilt",
       [](const Tensor& g) { return from_values<float>(g.to_vector<float>(), g.shape()); }}};
  for (const auto& [name, hook] : hooks) {
    SCOPED_TRACE(name);
    const Body body = [&hook = hook](Pair& p, const Tensor& x, const Tensor& classes) {
      const Tensor h = tanh(p.a->first(x));
      const Tensor loss = cross_entropy(p.a->second(h), classes);
      const ScopedHandle of_samples = register_gradient_hook(h, hook);
      const ScopedHandle of_loss = register_gradient_hook(loss, hook);
      loss.backward();
      p.of_a.step();
    };
    expect_same_bits_on_ranks(loop(body), kGrain, {2, 4});
  }
}

}  // namespace
}  // namespace tessera::dist
