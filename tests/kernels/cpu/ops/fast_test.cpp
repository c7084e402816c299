// Every fast kernel against its op's reference kernel, through the call pipeline.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <tessera/core/ops/adagrad_step.h>
#include <tessera/core/ops/adamw_step.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/add_rows.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/block_squares.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/lion_step.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/core/ops/rmsprop_step.h>
#include <tessera/core/ops/sgd_step.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/tensor/factories.h>

#include "../support.h"
#include "compare.h"

namespace tessera::cpu {
namespace {

using test::compare;
using test::half;
using test::kHalf;
using test::took_fast_kernel;

TEST(FastOps, Elementwise) {
  const Tensor x = randn({3, 4, 17}), y = randn({3, 4, 17}), row = randn({17});
  const Tensor number = scalar(0.3, {.dtype = DType::f64});
  compare<Add>({x, y});
  compare<Add>({row, x});
  compare<Add>({half(x), half(row)}, {}, kHalf);
  compare<Add>({x, half(y)}, {}, 0);
  compare<Add>({half(x), y}, {}, 0);
  compare<Mul>({x, half(y)}, {}, 0);
  compare<Mul>({x, number});
  compare<Mul>({randn({4, 1}), x}, {}, 0);
  compare<Add>({x, randn({3, 1, 1})}, {}, 0);
  compare<Add>({half(x), half(randn({4, 1}))}, {}, 0);
  compare<Mul>({half(x), number}, {}, kHalf);
  compare<Cast>({x}, {DType::bf16}, 0);
  compare<Cast>({half(x)}, {DType::f32}, 0);
  compare<Cast>({x}, {DType::f32}, 0);
}

TEST(FastOps, Rows) {
  const Tensor weight = randn({11, 7});
  const Tensor ids = from_values<std::int64_t>({1, 10, 3, 1, 0, 1, 3, 3}, {2, 4});
  const Tensor values = randn({2, 4, 7});
  compare<Embedding>({weight, ids}, {}, 0);
  compare<Embedding>({weight, cast(ids, DType::u8)}, {}, 0);
  compare<AddRows>({values, ids, weight}, {.rows = 11, .microbatch_count = 4});
  compare<AddRows>({values, ids}, {.rows = 11});
  compare<AddRows>({half(values), ids, weight}, {.rows = 11, .microbatch_count = 2});
}

TEST(FastOps, Linear) {
  const Tensor x = randn({4, 6, 20}), weight = randn({30, 20}), bias = randn({30});
  const Tensor gradient = randn({4, 6, 30});
  compare<Linear>({x, weight, bias});
  compare<Linear>({x, weight});
  compare<Linear>({half(x), weight, bias}, {DType::bf16}, kHalf);
  compare<LinearBackwardInput>({gradient, weight});
  compare<LinearBackwardInput>({half(gradient), weight}, {DType::bf16, DType::f32}, kHalf);
  compare<LinearBackwardWeight>({gradient, x});
  compare<LinearBackwardWeight>({half(gradient), half(x)}, {DType::bf16, DType::f32}, kHalf);
  compare<LinearBackwardBias>({gradient});
  compare<LinearBackwardBias>({half(gradient)});
  compare<Linear>({half(x), half(weight), half(bias)}, {DType::bf16}, kHalf);
  compare<LinearBackwardWeight>({half(gradient), half(x)}, {DType::bf16, DType::bf16}, kHalf);
  compare<LinearBackwardBias>({half(gradient)}, {DType::bf16}, kHalf);
}

TEST(FastOps, SumsInMicrobatches) {
  const Tensor x = randn({4, 6, 20}), gradient = randn({4, 6, 30});
  const Tensor inverse = randn({4, 6, 1}), mean = randn({4, 6, 1}), weight = randn({20});
  const Tensor up = randn({4, 6, 20});
  const Tensor targets = from_values<std::int64_t>(
      {1, 2, 3, 4, 5, 6, 7, 8, 9, -100, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 6});
  for (const Tensor& t : {x, gradient, inverse, mean, up, targets}) {
    t.get().set_microbatches({.count = 4, .dim = 0});
  }
  compare<LinearBackwardWeight>({gradient, x});
  compare<LinearBackwardBias>({gradient});
  compare<LayerNormBackward>({up, x, inverse, weight, mean}, {.weight = true, .bias = true});
  compare<CrossEntropy>({x, targets});
}

TEST(FastOps, Matmul) {
  const Tensor a = randn({2, 3, 5, 7}), b = randn({2, 3, 7, 4}), one = randn({7, 4});
  const Tensor a_t = randn({2, 3, 7, 5}), b_t = randn({2, 3, 4, 7});
  compare<Matmul>({a, b});
  compare<Matmul>({a, one});
  compare<Matmul>({a_t, b}, {.transpose_a = true});
  compare<Matmul>({a, b_t}, {.transpose_b = true});
  compare<Matmul>({a_t, one}, {.transpose_a = true});
  compare<Matmul>({randn({5, 7}), b});
  compare<Matmul>({half(a), half(b)}, {.dtype = DType::bf16, .result = DType::bf16}, kHalf);
}

TEST(FastOps, SoftmaxAndLoss) {
  const Tensor x = randn({3, 4, 21}), up = randn({3, 4, 21});
  const Tensor y = softmax(x, 2), z = log_softmax(x, 2);
  compare<Softmax>({x}, {2});
  compare<SoftmaxBackward>({up, y}, {2});
  compare<LogSoftmax>({x}, {2});
  compare<LogSoftmaxBackward>({up, z}, {2});
  const Tensor targets =
      from_values<std::int64_t>({0, 1, 20, -100, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  for (const auto reduction : {LossReduction::mean, LossReduction::sum, LossReduction::none}) {
    compare<CrossEntropy>({x, targets}, {.label_smoothing = 0.1, .reduction = reduction});
  }
  const Tensor rows = randn({3, 4, 1});
  const Tensor log_sums = call_all<CrossEntropy>({x, targets})[1];
  const Tensor some = cast(targets, DType::i32);
  compare<CrossEntropyBackward>({rows, x, some, log_sums}, {0.1});
}

TEST(FastOps, Norms) {
  const Tensor x = randn({3, 4, 21}), up = randn({3, 4, 21});
  const Tensor weight = randn({21}), bias = randn({21});
  compare<LayerNorm>({x, weight, bias});
  compare<LayerNorm>({x});
  compare<LayerNorm>({x, weight, bias}, {1e-5, DType::bf16}, kHalf);
  compare<RmsNorm>({x, weight});
  const Outputs saved = call_all<LayerNorm>({x, weight, bias});
  compare<LayerNormBackward>({up, x, saved[1], weight, saved[2]}, {true, true});
  compare<LayerNormBackward>({half(up), x, saved[1], weight, saved[2]}, {true, true}, 1e-4);
  compare<LayerNormBackward>({up, x, saved[1], Tensor(), saved[2]});
  const Outputs rms = call_all<RmsNorm>({x, weight});
  compare<RmsNormBackward>({up, x, rms[1], weight, Tensor()}, {.weight = true});
}

TEST(FastOps, AttentionOnHeads) {
  const Tensor q = randn({2, 4, 70, 16}), k = randn({2, 2, 90, 16}), v = randn({2, 2, 90, 16});
  const Tensor mask = randn({70, 90}), up = randn({2, 4, 70, 16});
  AttentionAttrs attrs;
  for (const bool causal : {false, true}) {
    attrs.causal = causal;
    compare<tessera::Attention>({q, k, v}, attrs);
    compare<tessera::Attention>({q, k, v, mask}, attrs);
    const Outputs saved = call_all<tessera::Attention>({q, k, v, mask}, attrs);
    compare<AttentionBackward>({up, q, k, v, saved[0], saved[1], mask}, attrs, 1e-4);
  }
}

TEST(FastOps, AttentionOnPackedHeads) {
  const Tensor qkv = randn({2, 70, 8 * 16}), up = randn({2, 70, 4 * 16});
  PackedAttentionAttrs attrs{.heads = 4, .kv_heads = 2};
  attrs.attention.causal = true;
  compare<PackedAttention>({qkv}, attrs);
  const Outputs saved = call_all<PackedAttention>({qkv}, attrs);
  compare<PackedAttentionBackward>({up, qkv, saved[0], saved[1]}, attrs, 1e-4);
  attrs.attention.dtype = DType::bf16;
  compare<PackedAttention>({half(qkv)}, attrs, 3e-2);
}

TEST(FastOps, Dropout) {
  tessera::Dropout::Attrs attrs{.p = 0.3, .draw = {.key = 77, .first_sample = 5}};
  for (const std::int64_t columns : {8, 13, 900}) {  // samples begin at any word of a block
    const Tensor x = randn({6, 3, columns});
    attrs.draw.samples = 6, attrs.draw.per_sample = 3 * columns;
    compare<tessera::Dropout>({x}, attrs);
    compare<tessera::Dropout>({half(x)}, attrs, kHalf);
    x.get().set_microbatches({.count = 3, .dim = 0});
    attrs.draw.samples = 2;
    compare<tessera::Dropout>({x}, attrs);
    attrs.draw.samples = 4, attrs.draw.per_sample = 6 * columns;
    compare<tessera::Dropout>({x}, attrs);
  }
}

TEST(FastOps, DropoutOfABox) {
  const Box whole = Box::all_of({6, 5, 40});
  for (const Box& box : {whole.part(0, 2, 3), whole.part(1, 1, 3), whole.part(2, 7, 21),
                         whole.part(1, 3, 2).part(2, 1, 9)}) {
    const Tensor x = randn(box.shape);
    Dropout::Attrs attrs{.p = 0.3, .draw = {.key = 7, .samples = 6, .per_sample = 200, .box = box}};
    compare<tessera::Dropout>({x}, attrs);
    if (box.shape[0] == 6) {
      x.get().set_microbatches({.count = 3, .dim = 0});
      attrs.draw.samples = 2;
      compare<tessera::Dropout>({x}, attrs);
    }
  }
}

TEST(FastOps, AttentionDropsTheSameWeights) {
  AttentionAttrs attrs{.dropout = 0.25, .key = 99, .first_sample = 3, .first_head = 5};
  for (const std::int64_t keys : {90, 96}) {  // rows begin at any word of a block, or at the first
    const Tensor q = randn({2, 4, 70, 16}), k = randn({2, 2, keys, 16}),
                 v = randn({2, 2, keys, 16});
    const Tensor up = randn({2, 4, 70, 16});
    for (const bool causal : {false, true}) {
      attrs.causal = causal;
      compare<tessera::Attention>({q, k, v}, attrs);
      const Outputs saved = call_all<tessera::Attention>({q, k, v}, attrs);
      compare<AttentionBackward>({up, q, k, v, saved[0], saved[1]}, attrs, 1e-4);
    }
  }
  const Tensor qkv = randn({2, 70, 8 * 16}), up = randn({2, 70, 4 * 16});
  const PackedAttentionAttrs packed{.heads = 4, .kv_heads = 2, .attention = attrs};
  compare<PackedAttention>({qkv}, packed);
  const Outputs saved = call_all<PackedAttention>({qkv}, packed);
  compare<PackedAttentionBackward>({up, qkv, saved[0], saved[1]}, packed, 1e-4);
}

TEST(FastOps, FusedHead) {
  const Tensor x = randn({4, 6, 20}), weight = randn({30, 20}), one = scalar(0.5);
  const Tensor targets = from_values<std::int64_t>(
      {1, 2, 3, 4, 5, 6, 7, 8, 9, -100, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 6});
  LinearCrossEntropyAttrs attrs{.label_smoothing = 0.1, .max_bytes = 1 << 20};
  compare<tessera::LinearCrossEntropy>({x, weight, targets}, attrs);
  compare<LinearCrossEntropyBackward>({one, x, weight, targets}, {attrs, false});
  attrs.gradients = true;
  attrs.expected = 0.25;
  compare<tessera::LinearCrossEntropy>({x, weight, targets}, attrs);
  const Tensor each = randn({4});
  targets.get().set_microbatches({.count = 4, .dim = 0});
  x.get().set_microbatches(targets.microbatches());
  compare<tessera::LinearCrossEntropy>({x, weight, targets}, attrs);
  for (const bool stacked : {false, true}) {
    compare<LinearCrossEntropyBackward>({each, x, weight, targets}, {attrs, stacked});
  }
}

/// A parameter with so many states after a step, with the fast kernel and without.
template <OpStruct Op, class Number>
void compare_in_place_of(std::uint64_t states, const StepScalars& scalars,
                         const typename Op::Attrs& attrs, double tolerance) {
  auto& kernel = op_def<Op>().kernels[static_cast<std::size_t>(DeviceType::cpu)];
  static const OpDef::KernelFunction fast = kernel;
  const auto make = [=] {
    StepTensors all;
    std::vector<Tensor*> tensors{&all.parameter, &all.gradient};
    all.states.resize(states);
    for (Tensor& state : all.states) {
      tensors.push_back(&state);
    }
    for (std::uint64_t i = 0; i < tensors.size(); ++i) {
      auto values = test::random_values<Number>(70001, i + 1);
      for (Number& x : values) {  // states are not negative, the first is the largest
        x = i < 2 ? x : x * x + (i == 2 ? Number(2) : Number(0));
      }
      *tensors[i] = from_values<Number>(std::span(values), {70001});
    }
    return all;
  };
  const auto run = [&](const StepTensors& on) {
    call_step(op_def<Op>(), {&on, 1}, scalars, &attrs);
  };
  const auto flat = [](const StepTensors& tensors) {
    std::vector<double> values = tensors.parameter.template to_vector<double>();
    for (const Tensor& state : tensors.states) {
      const auto more = state.template to_vector<double>();
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  };
  const StepTensors a = make(), b = make();
  took_fast_kernel = false;
  kernel = [](Kernel& k, const void* given) { return took_fast_kernel = fast(k, given); };
  run(a);
  EXPECT_TRUE(took_fast_kernel) << Op::info.name;
  kernel = nullptr;
  run(b);
  kernel = fast;
  const auto x = flat(a), y = flat(b);
  for (std::size_t j = 0; j < x.size(); ++j) {
    ASSERT_NEAR(x[j], y[j], tolerance * (1 + std::abs(y[j]))) << Op::info.name << ", element " << j;
  }
}

template <OpStruct Op>
void compare_in_place(std::uint64_t states, const StepScalars& scalars,
                      const typename Op::Attrs& attrs) {
  compare_in_place_of<Op, float>(states, scalars, attrs, 1e-6);
  compare_in_place_of<Op, double>(states, scalars, attrs, 1e-14);
}

TEST(FastOps, Optimizers) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    compare_in_place<AdamwStep>(2, {.gradient_scale = 0.5}, {.weight_decay = 0.1});
    compare_in_place<AdamwStep>(3, {}, {.weight_decay = 0.1, .decoupled = false, .amsgrad = true});
    compare_in_place<SgdStep>(0, {.step = 2}, {.weight_decay = 0.1});
    compare_in_place<SgdStep>(1, {.step = 2},
                              {.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1});
    compare_in_place<AdagradStep>(1, {.step = 2}, {.weight_decay = 0.1});
    compare_in_place<AdagradStep>(1, {}, {.initial_accumulator_value = 0.5});
    compare_in_place<RmspropStep>(1, {}, {.weight_decay = 0.1});
    compare_in_place<RmspropStep>(3, {}, {.momentum = 0.9, .centered = true});
    compare_in_place<LionStep>(1, {.gradient_scale = -0.5}, {.weight_decay = 0.1});
  });
  compare<BlockSquares>({randn({70000}), randn({3, 5})}, {}, 1e-9);
}

}  // namespace
}  // namespace tessera::cpu
