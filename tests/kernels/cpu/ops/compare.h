// Comparing a fast kernel with its op's reference kernel, through the call pipeline.
#pragma once

#include <cmath>
#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/cast.h>

namespace tessera::cpu::test {

inline bool took_fast_kernel = false;

/// What `Op` gives without its fast kernel.
template <OpStruct Op>
Outputs reference_of(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs) {
  auto& kernel = op_def<Op>().kernels[static_cast<std::size_t>(DeviceType::cpu)];
  const OpDef::KernelFunction fast = std::exchange(kernel, nullptr);
  Outputs outputs = call_all<Op>(inputs, attrs);
  kernel = fast;
  return outputs;
}

/// `Op` takes its fast kernel, which gives what is wanted.
template <OpStruct Op>
void expect_fast(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs,
                 const Outputs& want, double tolerance) {
  auto& kernel = op_def<Op>().kernels[static_cast<std::size_t>(DeviceType::cpu)];
  static const OpDef::KernelFunction fast = kernel;
  ASSERT_NE(fast, nullptr) << Op::info.name;
  took_fast_kernel = false;
  kernel = [](Kernel& k, const void* a) { return took_fast_kernel = fast(k, a); };
  const Outputs got = call_all<Op>(inputs, attrs);
  kernel = fast;
  EXPECT_TRUE(took_fast_kernel) << Op::info.name << " left it to the reference";
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = got[i].to_vector<double>(), b = want[i].to_vector<double>();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t j = 0; j < a.size(); ++j) {
      ASSERT_NEAR(a[j], b[j], tolerance * (1 + std::abs(b[j])))
          << Op::info.name << ", output " << i << ", element " << j;
    }
  }
}

/// Runs `Op` with its fast kernel and without.
template <OpStruct Op>
void compare(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs = {},
             double tolerance = 1e-5) {
  expect_fast<Op>(inputs, attrs, reference_of<Op>(inputs, attrs), tolerance);
}

inline Tensor half(const Tensor& x) {
  return cast(x, DType::bf16);
}
inline constexpr double kHalf = 1e-2;

}  // namespace tessera::cpu::test
