// Training on the device whose memory the host cannot touch and whose work comes late gives the
// CPU's bits.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/transformer_block.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/make.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

#include "support/guarded_device.h"
#include "support/sweep.h"

namespace tessera::nn {
namespace {

using test::guarded_device;
using test::GuardedRun;
using Sentences = std::vector<std::string>;
using Bits = std::vector<std::uint64_t>;

constexpr int kSteps = 3;

/// GPT-2's form, in small, with a tied head.
struct SmallGpt : Module {
  SmallGpt() { lm_head->weight.tie(wte->weight); }
  Tensor forward(const Tensor& ids, const Tensor& targets) const {
    const Tensor places = arange(ids.size(-1), {.dtype = DType::i64, .device = ids.device()});
    const Tensor x = ln_f(second(first(drop(wte(ids) + wpe(places)))));
    return linear_cross_entropy(x, lm_head->weight, targets);
  }
  Child<Embedding> wte{this, "wte", 31, 16};
  Child<Embedding> wpe{this, "wpe", 8, 16};
  Child<Dropout> drop{this, "drop", 0.1};
  Child<TransformerBlock> first{this, "first", 16, 2, TransformerBlockOptions{.dropout = 0.1}};
  Child<TransformerBlock> second{this, "second", 16, 2};
  Child<LayerNorm> ln_f{this, "ln_f", 16};
  Child<Linear> lm_head{this, "lm_head", 16, 31, LinearOptions{.bias = false}};
};

struct NormedConv : Module {
  NormedConv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride)
      : conv(this, "conv", in, out, kernel,
             ConvOptions{.stride = stride, .padding = kernel / 2, .bias = false}),
        norm(this, "norm", out) {}
  Tensor forward(const Tensor& x) const { return norm(conv(x)); }
  Child<Conv2d> conv;
  Child<BatchNorm2d> norm;
};

/// A block of ResNet-18: where it halves pictures, so does a convolution past it.
struct SmallBlock : Module {
  SmallBlock(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(this, "first", in, out, 3, stride), second(this, "second", out, out, 3, 1) {
    if (stride > 1) {
      past.emplace(this, "past", in, out, 1, stride);
    }
  }
  Tensor forward(const Tensor& x) const {
    return relu(second(relu(first(x))) + (past ? (*past)(x) : x));
  }
  Child<NormedConv> first, second;
  std::optional<Child<NormedConv>> past;
};

/// The first layers of ResNet-18, two of its blocks, and its head.
struct SmallResNet : Module {
  Tensor forward(const Tensor& x) const {
    return head(flat(pool(second(first(halved(relu(stem(x))))))));
  }
  Child<NormedConv> stem{this, "stem", 3, 8, 3, 1};
  Child<MaxPool2d> halved{this, "halved", 3, MaxPoolOptions{.stride = 2, .padding = 1}};
  Child<SmallBlock> first{this, "first", 8, 8, 1};
  Child<SmallBlock> second{this, "second", 8, 12, 2};
  Child<AdaptiveAvgPool2d> pool{this, "pool", 1};
  Child<Flatten> flat{this, "flat"};
  Child<Linear> head{this, "head", 12, 10};
};

/// Work of each module goes to another stream, forward; the rest to whichever was the last.
class StreamOfEachModule {
 public:
  StreamOfEachModule()
      : side_(guarded_device(), "side"),
        hook_(global_hooks::register_forward_pre([this](const Module&, const Args&) {
          scope_.reset();
          if (++calls_ % 2 == 0) {
            scope_.emplace(side_.id());
          }
        })) {}

 private:
  Stream side_;
  std::optional<StreamScope> scope_;
  int calls_ = 0;
  ScopedHandle hook_;
};

Bits state_of(const Module& model, const optim::Optimizer& optimizer) {
  Bits bits;
  for (const auto& [name, slot] : model.named_slots()) {
    bits.push_back(hash_elements(slot->value));
  }
  for (const auto& [name, value] : optimizer.state().tensors) {
    bits.push_back(hash_elements(value));
  }
  return bits;
}

template <class M, class Optimizer, class Options, class Loss>
Bits train_on(const Device& device, const Options& options, const Loss& loss) {
  set_seed(1);
  const auto model = make<M>();
  model->to(device);
  Optimizer optimizer(model->parameters(), options);
  optimizer.clip_grad_norm(0.5);
  for (int step = 0; step < kSteps; ++step) {
    loss(model, device).backward();
    optimizer.step();
  }
  return state_of(*model, optimizer);
}

void expect_same_everywhere(const std::function<Bits(const Device&)>& train) {
  const Bits here = train(Device{});
  for (const std::uint64_t order : test::orders(5, 2)) {
    GuardedRun run(order);
    {
      const StreamOfEachModule streams;
      EXPECT_EQ(train(guarded_device()), here) << "order " << order;
    }
    EXPECT_EQ(run.reports(), Sentences{}) << "order " << order;
  }
}

Tensor loss_of_gpt(const Ptr<SmallGpt>& model, const Device& device) {
  const Tensor ids = cast(rand({4, 8}) * 31, DType::i64);
  const Tensor there = on_device(ids, device);
  return model(there, there);
}

TEST(AnyDevice, trains_a_gpt_with_dropout_and_a_tied_head) {
  expect_same_everywhere([](const Device& device) {
    return train_on<SmallGpt, optim::AdamW>(device, optim::AdamWOptions{.lr = 0.01}, loss_of_gpt);
  });
}

/// Global batches of four microbatches, whose targets do not all count, `at_once` of them a pass.
Bits train_in_passes(const Device& device, std::int32_t at_once) {
  set_seed(1);
  const auto model = make<SmallGpt>();
  model->to(device);
  optim::AdamW optimizer(model->parameters(), {.lr = 0.01});
  const Tensor ids = cast(rand({16, 8}) * 31, DType::i64);
  const Tensor targets = where(rand({16, 8}) < 0.2, -100, ids);
  data::DataLoader loader(data::TensorDataset(ids, targets),
                          {.batch_size = 8, .grain = 4, .at_once = at_once});
  for (auto& [x, y] : loader) {
    model(on_device(x, device), on_device(y, device)).backward();
    optimizer.step();
  }
  return state_of(*model, optimizer);
}

TEST(AnyDevice, trains_in_passes_of_several_microbatches) {
  for (const std::int32_t at_once : {1, 2, 4}) {
    expect_same_everywhere([&](const Device& device) { return train_in_passes(device, at_once); });
  }
}

TEST(AnyDevice, is_missed_by_the_clocks_where_a_wait_is_left_out) {
  const auto train = [] {
    const StreamOfEachModule streams;
    static_cast<void>(train_on<SmallGpt, optim::AdamW>(
        guarded_device(), optim::AdamWOptions{.lr = 0.01}, loss_of_gpt));
  };
  std::size_t waits = 0;
  {
    GuardedRun run(1);
    train();
    EXPECT_EQ(run.reports(), Sentences{});
    waits = run.waits();
  }
  EXPECT_GE(waits, 50U);
  for (const int i : test::sampled(static_cast<int>(waits), 20)) {
    GuardedRun run(1, static_cast<std::size_t>(i));
    try {
      train();
    } catch (const std::exception&) {  // of a kernel that met what was not written yet
    }
    EXPECT_GE(run.reports().size(), 1U) << "wait " << i << " of " << waits;
  }
}

TEST(AnyDevice, trains_a_resnet) {
  const auto loss = [](const Ptr<SmallResNet>& model, const Device& device) {
    const Tensor images = randn({4, 3, 7, 8});
    const Tensor classes = cast(rand({4}) * 10, DType::i64);
    return cross_entropy(model(on_device(images, device)), on_device(classes, device));
  };
  expect_same_everywhere([&](const Device& device) {
    return train_on<SmallResNet, optim::SGD>(device, optim::SGDOptions{.lr = 0.1, .momentum = 0.9},
                                             loss);
  });
}

struct TwoMatrices : Module {
  Tensor forward(const Tensor& x) const { return second(relu(first(x))); }
  Child<Linear> first{this, "first", 5, 7, LinearOptions{.bias = false}};
  Child<Linear> second{this, "second", 7, 3, LinearOptions{.bias = false}};
};

template <class Optimizer, class Options>
void expect_steps_everywhere(const Options& options) {
  const auto loss = [](const Ptr<TwoMatrices>& model, const Device& device) {
    const Tensor y = model(on_device(randn({4, 5}), device));
    return mean(y * y);
  };
  expect_same_everywhere([&](const Device& device) {
    return train_on<TwoMatrices, Optimizer>(device, options, loss);
  });
}

TEST(AnyDevice, steps_with_every_optimizer) {
  using namespace optim;  // NOLINT(google-build-using-namespace)
  expect_steps_everywhere<Adam>(AdamOptions{.lr = 0.01, .weight_decay = 0.1, .amsgrad = true});
  expect_steps_everywhere<AdamW>(AdamWOptions{.lr = 0.01});
  expect_steps_everywhere<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
  expect_steps_everywhere<Adagrad>(AdagradOptions{.lr_decay = 0.5});
  expect_steps_everywhere<RMSprop>(RMSpropOptions{.momentum = 0.9, .centered = true});
  expect_steps_everywhere<Lion>(LionOptions{.lr = 0.01, .weight_decay = 0.1});
  expect_steps_everywhere<Adafactor>(AdafactorOptions{.lr = 0.1, .weight_decay = 0.1});
  expect_steps_everywhere<Muon>(MuonOptions{.lr = 0.1});
}

}  // namespace
}  // namespace tessera::nn
