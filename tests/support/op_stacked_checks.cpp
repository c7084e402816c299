// Inputs that exist once a microbatch beside inputs that all microbatches share: the same bits as
// for each microbatch alone.
#include <gtest/gtest.h>

#include <complex>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

constexpr int kParts = 2;

/// `x`, its elements moved `by` places.
Tensor moved(const Tensor& x, std::int64_t by) {
  Tensor y = converted(x, x.dtype());
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    store_as(y.get(), (i + by) % x.numel(), load_as<std::complex<double>>(x.get(), i));
  }
  return y;
}

/// What microbatch `m` takes: inputs that `apart` has a bit for are its own.
std::vector<Tensor> inputs_of(const std::vector<Tensor>& shared, std::uint32_t apart, int m) {
  std::vector<Tensor> inputs = shared;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if ((apart >> i & 1U) != 0) {
      inputs[i] = moved(inputs[i], m);
    }
  }
  return inputs;
}

std::vector<Tensor> stacked_inputs(const std::vector<Tensor>& shared, std::uint32_t apart) {
  std::vector<Tensor> inputs = shared;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if ((apart >> i & 1U) != 0) {
      const std::vector<Tensor> own{inputs_of(shared, apart, 0)[i], inputs_of(shared, apart, 1)[i]};
      inputs[i] = join_microbatches(std::vector<TensorRef>(own.begin(), own.end()), -1);
    }
  }
  return inputs;
}

bool takes(const OpCaseData& c, const std::vector<Tensor>& inputs, const void* attrs) {
  try {
    static_cast<void>(run_op(*c.op, inputs, attrs));
    return true;
  } catch (const Error&) {
    return false;
  }
}

void compare(const OpCaseData& c, const std::vector<Tensor>& shared, std::uint32_t apart,
             const void* attrs) {
  Outputs all;
  try {
    all = run_op(*c.op, stacked_inputs(shared, apart), attrs);
  } catch (const Unsupported&) {
    return;
  }
  for (int m = 0; m < kParts; ++m) {
    const Outputs own = run_op(*c.op, inputs_of(shared, apart, m), attrs);
    for (std::size_t o = 0; o < own.size(); ++o) {
      ASSERT_TRUE(all[o].microbatches().per_microbatch) << "output " << o;
      expect_same_bits(unbind_microbatches(all[o])[static_cast<std::size_t>(m)], own[o],
                       std::string(c.op->info.name) + ", inputs " + std::to_string(apart) +
                           " apart, microbatch " + std::to_string(m));
    }
  }
}

/// Bits of the floating inputs that a sweep may change.
std::uint32_t free_inputs(const SampleData& sample, const std::vector<Tensor>& inputs) {
  std::uint32_t free = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool sweeps = inputs[i].defined() && sample.inputs[i].sweeps &&
                        is_floating(inputs[i].dtype()) && !inputs[i].microbatches();
    free |= sweeps ? 1U << i : 0U;
  }
  return free;
}

/// `inputs`, with a number in place of those that `numbers` has a bit for.
std::vector<Tensor> with_numbers(const std::vector<Tensor>& inputs, std::uint32_t numbers) {
  std::vector<Tensor> some = inputs;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if ((numbers >> i & 1U) != 0) {
      some[i] = full({}, load_as<double>(inputs[i].get(), 0), {.dtype = inputs[i].dtype()});
    }
  }
  return some;
}

void compare_all(const OpCaseData& c, const std::vector<Tensor>& inputs, std::uint32_t free,
                 const void* attrs) {
  for (std::uint32_t apart = 1; apart <= free; ++apart) {
    if ((apart & ~free) == 0) {
      compare(c, inputs, apart, attrs);
    }
  }
}

/// Kernels treat numbers in ways of their own, and the dim of microbatches makes rows of them.
void compare_with_numbers(const OpCaseData& c, const std::vector<Tensor>& inputs,
                          std::uint32_t free, const void* attrs) {
  for (std::uint32_t numbers = 1; numbers <= free; ++numbers) {
    const bool some = (numbers & ~free) == 0 && c.op->info.elementwise;
    const std::vector<Tensor> changed = with_numbers(inputs, some ? numbers : 0);
    if (some && takes(c, changed, attrs)) {
      SCOPED_TRACE("numbers " + std::to_string(numbers));
      compare_all(c, changed, free, attrs);
    }
  }
}

}  // namespace

void check_stacked(const OpCaseData& c) {
  const NoGradGuard no_grad;
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      const std::vector<Tensor> inputs = make_inputs(sample, dtype);
      const std::uint32_t free = free_inputs(sample, inputs);
      const auto attrs = sample.attrs_in(dtype);
      compare_all(c, inputs, free, attrs.get());
      compare_with_numbers(c, inputs, free, attrs.get());
    }
  }
}

}  // namespace tessera::test
