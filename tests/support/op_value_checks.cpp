#include <gtest/gtest.h>

#include <algorithm>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::test {
namespace {

std::vector<Tensor> each(const std::vector<Tensor>& inputs, Tensor (*change)(const Tensor&)) {
  std::vector<Tensor> changed;
  for (const Tensor& x : inputs) {
    changed.push_back(change(x));
  }
  return changed;
}

std::string label(const OpCaseData& c, const char* what, DType dtype) {
  return std::string(c.op->info.name) + " " + what + " " + std::string(to_string(dtype));
}

}  // namespace

void check_rejects_wrong_calls(const OpCaseData& c) {
  for (std::size_t i = 0; i < c.wrong.size(); ++i) {
    try {
      static_cast<void>(run_op(*c.op, make_inputs(c.wrong[i]), c.wrong[i].attrs().get()));
      ADD_FAILURE() << c.op->info.name << ": wrong call " << i << " went through";
    } catch (const InvalidArgument& error) {
      expect_names_both_halves(*c.op, error.what(), "wrong call " + std::to_string(i));
    } catch (const Unsupported& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(std::string(c.op->info.name) + ": "))
          << error.what();
    }
  }
}

void check_dtypes(const OpCaseData& c) {
  const SampleData& sample = c.samples.at(0);
  for (const DType dtype : c.dtypes) {
    const DType wide_dtype = is_complex(dtype) ? DType::c128 : DType::f64;
    const std::vector<Tensor> inputs = make_inputs(sample, dtype);
    const Outputs actual = run_op(*c.op, inputs, sample.attrs_in(dtype).get());
    std::vector<Tensor> wide;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      wide.push_back(sample.inputs[i].sweeps ? converted(inputs[i], wide_dtype) : inputs[i]);
    }
    const Outputs expected = run_op(*c.op, wide, sample.attrs_in(wide_dtype).get());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      expect_near(actual[i], expected[i], c.tolerance, label(c, "in", dtype));
    }
  }
}

void check_kernels(const OpCaseData& c) {
  const auto fast = c.op->kernels[static_cast<std::size_t>(DeviceType::cpu)];
  bool ran = fast == nullptr;
  for (std::size_t s = 0; s < c.samples.size() && fast != nullptr; ++s) {
    const SampleData& sample = c.samples[s];
    for (const DType dtype : c.dtypes) {
      const auto attrs = sample.attrs_in(dtype);
      const std::vector<Tensor> inputs = make_inputs(sample, dtype);
      const Outputs expected = run_reference(*c.op, inputs, attrs.get());
      const auto strided = c.strides ? each(inputs, strided_copy) : inputs;
      for (const auto& variant : {inputs, strided}) {
        const auto actual = run_kernel(*c.op, fast, variant, attrs.get());
        ran |= actual.has_value();
        for (std::size_t i = 0; actual && i < expected.size(); ++i) {
          expect_near((*actual)[i], expected[i], c.tolerance, label(c, "fast kernel in", dtype));
        }
      }
    }
  }
  EXPECT_TRUE(ran || !c.overwrites.empty()) << c.op->info.name << ": the fast kernel never ran";
}

void check_strides(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : c.dtypes) {
      const auto attrs = sample.attrs_in(dtype);
      const std::vector<Tensor> inputs = make_inputs(sample, dtype);
      const Outputs dense = run_op(*c.op, inputs, attrs.get());
      const Outputs strided = run_op(*c.op, each(inputs, strided_copy), attrs.get());
      for (std::size_t i = 0; i < dense.size(); ++i) {
        expect_same_bits(strided[i], dense[i], label(c, "strided in", dtype));
      }
    }
  }
}

void check_destinations(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : c.dtypes) {
      const auto attrs = sample.attrs_in(dtype);
      const std::vector<Tensor> inputs = make_inputs(sample, dtype);
      const Outputs expected = run_op(*c.op, inputs, attrs.get());
      Outputs outputs;
      for (const Tensor& y : expected) {
        outputs.push_back(strided_copy(ones(y.shape(), {.dtype = y.dtype()})));
      }
      call(*c.op, std::vector<TensorRef>(inputs.begin(), inputs.end()), attrs.get(), outputs);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expect_same_bits(outputs[i], expected[i], label(c, "into strided memory in", dtype));
      }
    }
  }
}

namespace {

Tensor without_elements(const Tensor& x) {
  if (!x.defined()) {
    return x;
  }
  const TensorOptions meta{.dtype = x.dtype(), .device = {.type = DeviceType::meta}};
  Tensor y = empty(x.shape(), meta);
  y.get().set_microbatches(x.microbatches());
  return y;
}

void expect_like(const Outputs& metas, const Outputs& real_ones) {
  ASSERT_EQ(metas.size(), real_ones.size());
  for (std::size_t i = 0; i < metas.size(); ++i) {
    EXPECT_EQ(metas[i].shape(), real_ones[i].shape());
    EXPECT_EQ(metas[i].dtype(), real_ones[i].dtype());
    EXPECT_EQ(metas[i].device().type, DeviceType::meta);
  }
}

}  // namespace

/// All inputs without elements, and each alone beside others with elements.
void check_meta(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample);
    const Outputs real_ones = run_op(*c.op, inputs, sample.attrs().get());
    expect_like(run_op(*c.op, each(inputs, without_elements), sample.attrs().get()), real_ones);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].defined()) {
        SCOPED_TRACE(i);
        std::vector<Tensor> mixed = inputs;
        mixed[i] = without_elements(inputs[i]);
        expect_like(run_op(*c.op, mixed, sample.attrs().get()), real_ones);
      }
    }
  }
}

namespace {

/// Which input each output may be written over.
std::vector<int> overwrites_of(const OpCaseData& c) {
  return c.overwrites.empty() ? std::vector<int>{0} : c.overwrites;
}

bool outputs_fit_inputs(const Outputs& outputs, const std::vector<Tensor>& inputs,
                        const std::vector<int>& over) {
  bool fit = true;
  for (std::size_t o = 0; o < over.size(); ++o) {
    const Tensor& input = inputs[static_cast<std::size_t>(over[o])];
    fit &= outputs[o].shape() == input.shape() && outputs[o].dtype() == input.dtype();
  }
  return fit;
}

void expect_writes_in_place(const OpCaseData& c, const SampleData& sample, DType dtype,
                            bool strided) {
  const auto attrs = sample.attrs_in(dtype);
  const std::vector<int> over = overwrites_of(c);
  std::vector<Tensor> inputs = make_inputs(sample, dtype);
  const Outputs expected = run_op(*c.op, inputs, attrs.get());
  if (!outputs_fit_inputs(expected, inputs, over)) {
    return;
  }
  Outputs outputs;
  for (const int i : over) {
    Tensor& input = inputs[static_cast<std::size_t>(i)];
    input = strided ? strided_copy(input) : input;
    outputs.push_back(input);
  }
  call(*c.op, std::vector<TensorRef>(inputs.begin(), inputs.end()), attrs.get(), outputs);
  for (std::size_t o = 0; o < over.size(); ++o) {
    const Tensor& input = inputs[static_cast<std::size_t>(over[o])];
    EXPECT_TRUE(outputs[o].is(input));
    EXPECT_EQ(input.version(), 1U);
    if (c.overwrites.empty()) {
      expect_same_bits(input, expected[o], c.op->info.name);
    } else {  // a kernel that works in place only met the reference until here
      expect_near(input, expected[o], c.tolerance, label(c, "in place in", dtype));
    }
  }
}

}  // namespace

void check_in_place(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : c.dtypes) {
      for (int strided = 0; strided <= (c.strides ? 1 : 0); ++strided) {
        expect_writes_in_place(c, sample, dtype, strided != 0);
      }
    }
  }
}

}  // namespace tessera::test
