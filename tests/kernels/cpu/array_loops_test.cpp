// Loops over arrays under every instruction set, against one number at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <tessera/core/tensor/array_loops.h>
#include <tessera/core/tensor/half.h>

#include "support/every_isa.h"

namespace tessera::test {
namespace {

template <class T>
T reduced(ReduceOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op != ReduceOp::sum && (std::isnan(a) || std::isnan(b))) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    return op == ReduceOp::sum ? a + b : op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
  } else {
    const auto wide = static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b);
    return op == ReduceOp::sum   ? static_cast<T>(wide)
           : op == ReduceOp::min ? std::min(a, b)
                                 : std::max(a, b);
  }
}

template <class T>
std::vector<T> random_numbers(std::size_t count, std::mt19937_64& generator) {
  std::vector<T> x(count);
  for (T& value : x) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<double>(generator() % 2001) / 7 - 140);
      value = generator() % 9 == 0 ? std::numeric_limits<T>::quiet_NaN() : value;
    } else {
      value = static_cast<T>(generator());
    }
  }
  return x;
}

template <class T>
bool alike(T a, T b) {
  return a == b || (a != a && b != b);
}

template <class T>
void check_forms(DType dtype, ReduceOp op, std::size_t count, std::mt19937_64& generator) {
  const auto a = random_numbers<T>(count, generator), b = random_numbers<T>(count, generator),
             c = random_numbers<T>(count, generator);
  const auto& forms =
      array_loops().combine[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)];
  for (const auto form : {CombineForm::two, CombineForm::then_right, CombineForm::then_left}) {
    std::vector<T> in_place = form == CombineForm::then_left ? c : a, fresh(count);
    const void* third = form == CombineForm::two ? nullptr : c.data();
    const auto run = forms[static_cast<std::size_t>(form)];
    run(fresh.data(), count, a.data(), b.data(), third);
    form == CombineForm::then_left
        ? run(in_place.data(), count, a.data(), b.data(), in_place.data())
        : run(in_place.data(), count, in_place.data(), b.data(), third);
    for (std::size_t i = 0; i < count; ++i) {
      const T both = reduced(op, a[i], b[i]);
      const T expected = form == CombineForm::two          ? both
                         : form == CombineForm::then_right ? reduced(op, both, c[i])
                                                           : reduced(op, c[i], both);
      ASSERT_TRUE(alike(fresh[i], expected)) << dtype << " " << count << " " << i;
      ASSERT_TRUE(alike(in_place[i], expected)) << dtype << " " << count << " " << i;
    }
  }
}

TEST(ArrayLoops, CombineEveryTypeAtEveryLength) {
  std::mt19937_64 generator(5);
  on_every_isa([&](cpu::Isa) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
      for (std::size_t count = 0; count < 70; ++count) {
        check_forms<std::uint8_t>(DType::u8, op, count, generator);
        check_forms<std::int8_t>(DType::i8, op, count, generator);
        check_forms<std::int16_t>(DType::i16, op, count, generator);
        check_forms<std::int32_t>(DType::i32, op, count, generator);
        check_forms<std::int64_t>(DType::i64, op, count, generator);
        check_forms<float>(DType::f32, op, count, generator);
        check_forms<double>(DType::f64, op, count, generator);
      }
    }
  });
}

template <class Half>
void check_conversions(DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  std::vector<Half> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = std::bit_cast<Half>(static_cast<std::uint16_t>(i));
  }
  std::vector<float> wide(halves.size());
  array_loops().to_f32[at](halves.data(), wide.data(), wide.size());
  std::vector<Half> back(halves.size());
  array_loops().from_f32[at](wide.data(), back.data(), back.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    ASSERT_TRUE(alike(wide[i], static_cast<float>(halves[i]))) << dtype << " " << i;
    ASSERT_TRUE(alike(static_cast<float>(back[i]), static_cast<float>(halves[i]))) << i;
  }
}

TEST(ArrayLoops, ConvertEveryHalf) {
  on_every_isa([&](cpu::Isa) {
    check_conversions<Float16>(DType::f16);
    check_conversions<BFloat16>(DType::bf16);
  });
}

TEST(ArrayLoops, CopyFromAndToAnyAddress) {
  std::vector<std::byte> from(700), to(900);
  std::mt19937_64 generator(6);
  for (std::byte& value : from) {
    value = static_cast<std::byte>(generator());
  }
  on_every_isa([&](cpu::Isa) {
    for (int round = 0; round < 2000; ++round) {
      const std::size_t begin = generator() % 100, at = generator() % 100,
                        nbytes = generator() % 600;
      std::vector<std::byte> expected = to;
      std::copy_n(from.begin() + begin, nbytes, expected.begin() + at);
      array_loops().copy_past_caches(from.data() + begin, to.data() + at, nbytes);
      ASSERT_EQ(to, expected);
    }
  });
}

}  // namespace
}  // namespace tessera::test
