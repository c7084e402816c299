#include <tessera/core/ops/recurrent.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>

#include "../support.h"
#include "compare.h"

namespace tessera::cpu {
namespace {

using test::compare;
using test::half;

constexpr RecurrentCell kCells[] = {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu,
                                    RecurrentCell::lstm, RecurrentCell::gru};

/// Row `i` of a dense tensor, as the only one; undefined for an undefined tensor.
Tensor row_of(const Tensor& t, std::int64_t i) {
  if (!t.defined()) {
    return t;
  }
  Shape shape = t.shape();
  const auto nbytes = t.nbytes() / static_cast<std::size_t>(shape[0]);
  shape[0] = 1;
  return from_memory(static_cast<std::byte*>(t.raw_data()) + static_cast<std::size_t>(i) * nbytes,
                     shape, t.dtype(), std::make_shared<Tensor>(t));
}

/// A call with everything given.
struct Call {
  Call(RecurrentCell kind, std::int64_t batch, std::int64_t steps, std::int64_t width)
      : cell(kind),
        x(randn({batch, steps, gates_of(kind) * width})),
        weight(randn({gates_of(kind) * width, width}) * 0.2),
        bias(randn({gates_of(kind) * width})),
        hidden(randn({batch, width})),
        first_cell(kind == RecurrentCell::lstm ? randn({batch, width}) : Tensor()),
        lengths(zeros({batch}, {.dtype = DType::i64})),
        up(randn({batch, steps, width})),
        up_hidden(randn({batch, width})) {
    for (std::int64_t b = 0; b < batch; ++b) {
      lengths.data<std::int64_t>()[b] = steps - b % (steps + 1);
    }
  }

  [[nodiscard]] Outputs forward(DType dtype, bool reverse) const {
    const Tensor input = dtype == DType::bf16 ? half(x) : x;
    return call_all<Recurrent>({input, weight, bias, hidden, first_cell, lengths},
                               {cell, reverse, dtype});
  }

  /// The gradients in f32, from what `forward` kept.
  [[nodiscard]] Outputs backward(const Outputs& kept) const {
    const bool lstm = cell == RecurrentCell::lstm;
    const std::size_t first = lstm ? 3 : 2;
    const Tensor cells = lstm ? kept[5] : Tensor(), up_cell = lstm ? up_hidden : Tensor();
    return call_all<tessera::RecurrentBackward>(
        {up, up_hidden, up_cell, weight, lengths, kept[first], kept[first + 1], cells}, {cell});
  }

  /// The same of one sequence.
  [[nodiscard]] Call alone(std::int64_t b) const {
    Call one = *this;
    for (Tensor* t :
         {&one.x, &one.hidden, &one.first_cell, &one.lengths, &one.up, &one.up_hidden}) {
      *t = row_of(*t, b);
    }
    return one;
  }

  void compare_all(DType dtype, bool reverse, double tolerance) const {
    const RecurrentAttrs attrs{cell, reverse, dtype};
    const bool lstm = cell == RecurrentCell::lstm;
    const Tensor input = dtype == DType::bf16 ? half(x) : x;
    compare<Recurrent>({input, weight, bias, hidden, first_cell, lengths}, attrs, tolerance);
    compare<Recurrent>({input, weight}, attrs, tolerance);
    const Outputs kept = forward(dtype, reverse);
    const std::size_t first = lstm ? 3 : 2;
    const Tensor gradient = dtype == DType::bf16 ? half(up) : up;
    const Tensor cells = lstm ? kept[5] : Tensor();
    const Tensor up_cell = lstm ? up_hidden : Tensor();
    const TensorRef before = kept[first], values = kept[first + 1];
    compare<tessera::RecurrentBackward>(
        {gradient, up_hidden, up_cell, weight, lengths, before, values, cells}, attrs,
        4 * tolerance);
    compare<tessera::RecurrentBackward>(
        {gradient, Tensor(), Tensor(), weight, Tensor(), before, values, cells}, attrs,
        4 * tolerance);
  }

  RecurrentCell cell;
  Tensor x, weight, bias, hidden, first_cell, lengths, up, up_hidden;
};

TEST(FastRecurrent, equals_the_reference_on_every_instruction_set) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const RecurrentCell cell : kCells) {
      SCOPED_TRACE(static_cast<int>(cell));
      for (const std::int64_t width : {1, 7, 33, 64}) {
        const Call call(cell, width == 33 ? 19 : 3, 4, width);
        for (const bool reverse : {false, true}) {
          call.compare_all(DType::f32, reverse, 1e-5);
          call.compare_all(DType::bf16, reverse, 3e-2);
        }
      }
    }
  });
}

TEST(FastRecurrent, a_sequence_does_not_depend_on_its_neighbours_nor_on_threads) {
  for (const RecurrentCell cell : kCells) {
    const Call call(cell, 21, 3, 130);
    const auto whole = call.forward(DType::f32, false)[0].to_vector<float>();
    for (const std::int64_t b : {0, 8, 20}) {
      const auto alone = call.alone(b).forward(DType::f32, false)[0].to_vector<float>();
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), whole.begin() + b * 3 * 130));
    }
    test::with_every_thread_count(
        [&](int) { EXPECT_EQ(call.forward(DType::f32, false)[0].to_vector<float>(), whole); });
  }
}

void expect_first_rows(const Outputs& whole, const Outputs& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto all = whole[i].to_vector<float>(), some = rows[i].to_vector<float>();
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << "output " << i;
  }
}

TEST(FastRecurrent, values_past_the_caches_have_the_bits_of_those_in_them) {
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    for (const std::int64_t width : {130, 144}) {  // rows that begin anywhere, and aligned ones
      const Call call(cell, 17, 128, width);       // 4 MiB and more of gates
      const Outputs whole = call.forward(DType::f32, true);
      const Outputs first = call.alone(0).forward(DType::f32, true);
      expect_first_rows(whole, first);
      expect_first_rows(call.backward(whole), call.alone(0).backward(first));
    }
  }
}

}  // namespace
}  // namespace tessera::cpu
