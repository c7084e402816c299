// Fast kernels of f64 against their ops' reference kernels, through the call pipeline: to the last
// digits, so that nothing on the way is an f32.
#include <string>

#include <gtest/gtest.h>

#include <tessera/core/ops/adagrad_step.h>
#include <tessera/core/ops/adamw_step.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/add_rows.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/block_squares.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/elu.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/lion_step.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/packed_attention.h>
#include <tessera/core/ops/recurrent.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/core/ops/sgd_step.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/softmax.h>
#include <tessera/core/ops/softplus.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>

#include <tessera/kernels/cpu/isa.h>

#include "../support.h"
#include "compare.h"

namespace tessera::cpu {
namespace {

constexpr double kDigits = 1e-13;

/// With bits that f32 does not have.
Tensor wide(const Shape& shape) {
  return cast(randn(shape), DType::f64) + cast(randn(shape), DType::f64) * 0x1p-25;
}

template <OpStruct Op>
void compare_f64(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {},
                 double tolerance = kDigits) {
  test::compare<Op>(inputs, attrs, tolerance);
}

/// Every instruction set that this CPU has.
class FastF64 : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { set_active_isa(GetParam()); }
  void TearDown() override { set_active_isa(before_); }

 private:
  Isa before_ = active_isa();
};

TEST_P(FastF64, Elementwise) {
  const Tensor x = wide({3, 4, 17}), y = wide({3, 4, 17}), row = wide({17});
  compare_f64<Add>({x, y}, {}, 0);
  compare_f64<Add>({row, x}, {}, 0);
  compare_f64<Mul>({x, scalar(0.1, {.dtype = DType::f64})}, {}, 0);
  compare_f64<Mul>({x, wide({3, 1, 1})}, {}, 0);
  compare_f64<Div>({x, y}, {}, 0);
  compare_f64<Maximum>({x, y}, {}, 0);
  compare_f64<Clamp>({x}, {-0.1, 0.3}, 0);
  compare_f64<Elu>({x}, {.alpha = 1.3});
  compare_f64<Softplus>({x}, {.beta = 1.7, .threshold = 20});
  compare_f64<Lt>({x, y}, {}, 0);
  compare_f64<Lt>({x, scalar(0.1, {.dtype = DType::f64})}, {}, 0);
  compare_f64<Where>({cast(cast(rand({3, 4, 17}) * 2, DType::i64), DType::boolean), x, y}, {}, 0);
}

TEST_P(FastF64, RowsAndSums) {
  const Tensor x = wide({3, 4, 21}), up = wide({3, 4, 21});
  const Tensor weight = wide({21}), bias = wide({21});
  compare_f64<Softmax>({x}, {2});
  compare_f64<SoftmaxBackward>({up, softmax(x, 2)}, {2});
  compare_f64<LogSoftmax>({x}, {2});
  compare_f64<LogSoftmaxBackward>({up, log_softmax(x, 2)}, {2});
  compare_f64<LayerNorm>({x, weight, bias}, {1e-5, DType::f64});
  compare_f64<RmsNorm>({x, weight}, {1e-5, DType::f64});
  const Outputs saved = call_all<LayerNorm>({x, weight, bias});
  compare_f64<LayerNormBackward>({up, x, saved[1], weight, saved[2]}, {true, true, DType::f64});
  compare_f64<Sum>({x}, {.dims = {0, 2}});
  compare_f64<Mean>({wide({7, 5000})}, {.dims = {1}});
  compare_f64<LinearBackwardBias>({up}, {DType::f64});
}

TEST_P(FastF64, SumsInMicrobatches) {
  const Tensor x = wide({4, 6, 20}), up = wide({4, 6, 20}), inverse = wide({4, 6, 1});
  const Tensor targets = cast(rand({4, 6}) * 20, DType::i64);
  for (const Tensor& t : {x, up, inverse, targets}) {
    t.get().set_microbatches({.count = 4, .dim = 0});
  }
  compare_f64<LayerNormBackward>({up, x, inverse, wide({20}), inverse}, {true, true, DType::f64});
  compare_f64<CrossEntropy>({x, targets});
  compare_f64<LinearBackwardBias>({up}, {DType::f64});
}

TEST_P(FastF64, Losses) {
  const Tensor x = wide({3, 4, 21});
  const Tensor targets =
      from_values<std::int64_t>({0, 1, 20, -100, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  for (const auto reduction : {LossReduction::mean, LossReduction::sum, LossReduction::none}) {
    compare_f64<CrossEntropy>({x, targets}, {.label_smoothing = 0.1, .reduction = reduction});
  }
  const Tensor log_sums = call_all<CrossEntropy>({x, targets})[1];
  compare_f64<CrossEntropyBackward>({wide({3, 4, 1}), x, targets, log_sums}, {0.1});
}

TEST_P(FastF64, BatchNorms) {
  for (const Shape& shape : {Shape{5, 6, 7, 3}, Shape{9, 13}}) {
    const Tensor x = wide(shape), up = wide(shape), weight = wide({shape[1]});
    compare_f64<BatchNorm>({x, weight, wide({shape[1]})}, {1e-5, DType::f64});
    const Outputs saved = call_all<BatchNorm>({x, weight, weight});
    compare_f64<BatchNormBackward>({up, x, saved[1], saved[2], weight},
                                   {.weight = true, .bias = true, .parameters = DType::f64});
  }
}

TEST_P(FastF64, TablesOfRows) {
  const Tensor weight = wide({11, 7}), values = wide({2, 4, 7});
  const Tensor ids = from_values<std::int64_t>({1, 10, 3, 1, 0, 1, 3, 3}, {2, 4});
  compare_f64<Embedding>({weight, ids}, {}, 0);
  compare_f64<AddRows>({values, ids, weight}, {.rows = 11, .microbatch_count = 4});
  compare_f64<AddRows>({values, ids}, {.rows = 11});
}

TEST_P(FastF64, Dropouts) {
  const Tensor x = wide({6, 3, 13});
  compare_f64<tessera::Dropout>(
      {x}, {.p = 0.3, .draw = {.key = 77, .first_sample = 5, .samples = 6, .per_sample = 39}}, 0);
}

TEST_P(FastF64, Attentions) {
  const Tensor q = wide({2, 4, 70, 19}), k = wide({2, 2, 90, 19}), v = wide({2, 2, 90, 19});
  const Tensor mask = wide({70, 90}), up = wide({2, 4, 70, 19});
  AttentionAttrs attrs{.dropout = 0.25, .key = 99, .dtype = DType::f64};
  for (const bool causal : {false, true}) {
    attrs.causal = causal;
    compare_f64<tessera::Attention>({q, k, v}, attrs);
    compare_f64<tessera::Attention>({q, k, v, mask}, attrs);
    const Outputs saved = call_all<tessera::Attention>({q, k, v, mask}, attrs);
    compare_f64<AttentionBackward>({up, q, k, v, saved[0], saved[1], mask}, attrs, 1e-12);
  }
}

TEST_P(FastF64, PackedAttentions) {
  const Tensor qkv = wide({2, 70, 8 * 16}), up = wide({2, 70, 4 * 16});
  PackedAttentionAttrs attrs{.heads = 4, .kv_heads = 2};
  attrs.attention = {.causal = true, .dtype = DType::f64};
  compare_f64<PackedAttention>({qkv}, attrs);
  const Outputs saved = call_all<PackedAttention>({qkv}, attrs);
  compare_f64<PackedAttentionBackward>({up, qkv, saved[0], saved[1]}, attrs, 1e-12);
}

TEST_P(FastF64, Convolutions) {
  const auto check = [](const Shape& x, const Shape& w, const Shape& y,
                        const ConvolutionOptions& options) {
    const Tensor image = wide(x), weight = wide(w), gradient = wide(y), bias = wide({w[0]});
    const Dims in{x[2], x[3]}, kernel{w[2], w[3]};
    compare_f64<Convolution>({image, weight, bias}, {options, DType::f64});
    compare_f64<ConvolutionBackwardInput>({gradient, weight},
                                          {options, in, DType::f64, DType::f64});
    compare_f64<ConvolutionBackwardWeight>({gradient, image},
                                           {options, kernel, DType::f64, DType::f64});
  };
  check({3, 8, 16, 16}, {10, 8, 3, 3}, {3, 10, 16, 16}, {.padding = {1}});
  check({2, 6, 11, 9}, {4, 3, 3, 2}, {2, 4, 6, 5}, {.stride = {2}, .padding = {1}, .groups = 2});
  check({2, 3, 12, 8}, {5, 3, 3, 3}, {2, 5, 3, 2}, {.stride = {3}, .dilation = {2}});
  check({1, 2, 5, 5}, {3, 2, 1, 1}, {1, 3, 2, 2}, {.stride = {3}});
}

TEST_P(FastF64, RecurrentLayers) {
  for (const RecurrentCell cell : {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu,
                                   RecurrentCell::lstm, RecurrentCell::gru}) {
    const bool lstm = cell == RecurrentCell::lstm;
    const std::int64_t gates = gates_of(cell);
    const Tensor x = wide({5, 6, gates * 13}), weight = wide({gates * 13, 13});
    const Tensor state = wide({5, 13}), first_cell = lstm ? state : Tensor();
    const RecurrentAttrs attrs{cell, true, DType::f64};
    compare_f64<Recurrent>({x, weight, wide({gates * 13}), state, first_cell}, attrs, 1e-12);
    const Outputs kept = call_all<Recurrent>({x, weight, Tensor(), state, first_cell}, attrs);
    const std::size_t first = lstm ? 3 : 2;
    const Tensor cells = lstm ? kept[5] : Tensor();
    compare_f64<tessera::RecurrentBackward>({wide({5, 6, 13}), state, first_cell, weight, Tensor(),
                                             kept[first], kept[first + 1], cells},
                                            attrs, 1e-11);
  }
}

TEST_P(FastF64, SumsOfSquares) {
  compare_f64<BlockSquares>({wide({70000}), wide({3, 5})});
}

/// A sample's results do not depend on the others, nor on threads.
TEST_P(FastF64, ConvolutionsOfASampleAlone) {
  const Tensor image = wide({5, 8, 12, 12}), weight = wide({10, 8, 3, 3});
  const Convolution::Attrs attrs{{.padding = {1}}, DType::f64};
  const Tensor all = call<Convolution>({image, weight, Tensor()}, attrs);
  test::with_every_thread_count([&](int) {
    const Tensor one = call<Convolution>({slice(image, 0, 3, 4), weight, Tensor()}, attrs);
    EXPECT_EQ(one.to_vector<double>(), slice(all, 0, 3, 4).to_vector<double>());
  });
}

INSTANTIATE_TEST_SUITE_P(On, FastF64, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

}  // namespace
}  // namespace tessera::cpu
