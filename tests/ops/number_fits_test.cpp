// Numbers that an integer dtype cannot hold: PyTorch refuses them where the result holds the
// number itself, and computes modulo the range in arithmetic.
#include <gtest/gtest.h>

#include <functional>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

struct HoldingOp {
  const char* name;
  std::function<Tensor(const Tensor& x, Number v)> f;  ///< gives v somewhere, beside or in x (1)
};

/// `f` changes what it is given.
std::function<Tensor(const Tensor& x, Number v)> on_copy(auto f) {
  return [f](const Tensor& x, Number v) {
    const Tensor y = clone(x);
    f(y, v);
    return y;
  };
}

/// Ops whose result has the dtype of x, whatever the number is.
const std::vector<HoldingOp>& filling_ops() {
  static const std::vector<HoldingOp> ops{
      {"full", [](const Tensor& x, Number v) { return full({1}, v, {.dtype = x.dtype()}); }},
      {"full", [](const Tensor& x, Number v) { return full_like(x, v); }},
      {"fill", on_copy([](const Tensor& x, Number v) { fill_(x, v); })},
      {"assign", on_copy([](const Tensor& x, Number v) { assign(x, {0}, v); })},
      {"assign", on_copy([](const Tensor& x, Number v) { assign(x, {tensor({true})}, v); })},
      {"assign",
       on_copy([](const Tensor& x, Number v) { assign(x, {tensor<std::int64_t>({0})}, v); })},
      {"pad",
       [](const Tensor& x, Number v) {
         return pad(x, {.before = {1}, .after = {0}, .between = {}, .value = v});
       }},
  };
  return ops;
}

/// Ops that a floating number takes to a floating result.
const std::vector<HoldingOp>& promoting_ops() {
  static const Tensor yes = tensor({true}), no = tensor({false});
  static const std::vector<HoldingOp> ops{
      {"where", [](const Tensor& x, Number v) { return where(yes, v, x); }},
      {"where", [](const Tensor& x, Number v) { return where(no, x, v); }},
      {"maximum", [](const Tensor& x, Number v) { return maximum(x, v); }},
      {"maximum", [](const Tensor& x, Number v) { return maximum(v, x); }},
      {"minimum", [](const Tensor& x, Number v) { return minimum(x, v); }},
      {"minimum", [](const Tensor& x, Number v) { return minimum(v, x); }},
      {"pow", [](const Tensor& x, Number v) { return pow(x, v); }},
  };
  return ops;
}

struct Misfit {
  DType dtype;
  std::vector<std::int64_t> refused, taken;
};

TEST(NumberFits, integers_out_of_range_are_refused_by_all_that_hold_them) {
  const Misfit misfits[] = {
      {DType::u8, {256, 300, -256, -300, std::int64_t{1} << 40}, {0, 255, -1, -255}},
      {DType::i8, {128, -129, 300}, {127, -128}},
      {DType::i16, {1 << 15, -(1 << 15) - 1}, {(1 << 15) - 1, -(1 << 15)}},
      {DType::i32, {std::int64_t{1} << 31}, {(std::int64_t{1} << 31) - 1}},
  };
  for (const Misfit& m : misfits) {
    const Tensor x = ones({1}, {.dtype = m.dtype});
    for (const auto* ops : {&filling_ops(), &promoting_ops()}) {
      for (const HoldingOp& op : *ops) {
        for (const std::int64_t v : m.refused) {
          EXPECT_EQ(error_of<ValueError>([&] {
                      return op.f(x, v);
                    }).find(std::string(op.name) + ": the number does not fit; got "),
                    0)
              << op.name << " " << v;
        }
        for (const std::int64_t v : m.taken) {
          EXPECT_EQ(op.f(x, v).dtype(), m.dtype) << op.name << " " << v;
        }
      }
    }
  }
}

TEST(NumberFits, integers_below_0_wrap_around_in_u8) {
  const Tensor x = ones({1}, {.dtype = DType::u8});
  for (const HoldingOp& op : filling_ops()) {
    EXPECT_EQ(op.f(x, -1).to_vector<std::int64_t>()[0], 255) << op.name;
    EXPECT_EQ(op.f(x, -128).to_vector<std::int64_t>()[0], 128) << op.name;
  }
}

TEST(NumberFits, what_is_no_integer_is_refused_but_fractions_are_cut_off) {
  for (const DType dtype : {DType::u8, DType::i8, DType::i32, DType::i64}) {
    const Tensor x = ones({1}, {.dtype = dtype});
    for (const HoldingOp& op : filling_ops()) {
      for (const double v :
           {static_cast<double>(NAN), static_cast<double>(INFINITY), 1e30, -1e30, 0x1p63}) {
        EXPECT_THROW(op.f(x, v), ValueError) << op.name << " " << v << " " << dtype;
      }
      EXPECT_EQ(op.f(x, 2.75).to_vector<double>()[0], 2) << op.name;
      EXPECT_THROW(op.f(x, std::complex<double>(1, 1)), ValueError) << op.name;
      EXPECT_EQ(op.f(x, std::complex<double>(3, 0)).to_vector<double>()[0], 3) << op.name;
    }
    for (const HoldingOp& op : promoting_ops()) {
      EXPECT_EQ(op.f(x, 0.5).dtype(), DType::f32) << op.name;
      EXPECT_EQ(op.f(x, NAN).dtype(), DType::f32) << op.name;
    }
  }
}

TEST(NumberFits, bools_and_floats_hold_all_real_numbers) {
  for (const HoldingOp& op : filling_ops()) {
    const Tensor yes = zeros({1}, {.dtype = DType::boolean});
    EXPECT_TRUE(op.f(yes, 300).to_vector<bool>()[0]) << op.name;
    EXPECT_TRUE(op.f(yes, NAN).to_vector<bool>()[0]) << op.name;
    EXPECT_TRUE(op.f(yes, std::complex<double>(0, 1)).to_vector<bool>()[0]) << op.name;
    EXPECT_EQ(op.f(zeros({1}), -INFINITY).to_vector<float>()[0], -INFINITY) << op.name;
    EXPECT_THROW(op.f(zeros({1}), std::complex<double>(0, 1)), ValueError) << op.name;
  }
}

TEST(NumberFits, arithmetic_and_comparison_take_any) {
  const Tensor x = full({1}, 200, {.dtype = DType::u8});
  EXPECT_EQ((x + 300).item<int>(), 244);
  EXPECT_EQ((x - 300).item<int>(), 156);
  EXPECT_EQ((x * 300).item<int>(), 96);
  EXPECT_FALSE(eq(x, 456).item<bool>());
  EXPECT_TRUE((x < 300).item<bool>());
  EXPECT_TRUE((x > -300).item<bool>());
}

TEST(NumberFits, clamp_takes_bounds_that_leave_something) {
  const Tensor x = full({1}, 200, {.dtype = DType::u8});
  EXPECT_EQ(clamp(x, -300, 300).item<int>(), 200);
  EXPECT_THROW(static_cast<void>(clamp(x, 300, 400)), ValueError);
  EXPECT_THROW(static_cast<void>(clamp(x, -300, -1)), ValueError);
}

}  // namespace
}  // namespace tessera
