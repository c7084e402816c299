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
      static_cast<void>(run_op(*c.op, make_inputs(c.wrong[i]), c.wrong[i].attrs.get()));
      ADD_FAILURE() << c.op->info.name << ": wrong call " << i << " went through";
    } catch (const Error& error) {
      const bool right = dynamic_cast<const InvalidArgument*>(&error) != nullptr ||
                         dynamic_cast<const Unsupported*>(&error) != nullptr;
      EXPECT_TRUE(right) << error.what();
      EXPECT_NE(std::string(error.what()).find(": "), std::string::npos) << error.what();
    }
  }
}

void check_dtypes(const OpCaseData& c) {
  const SampleData& sample = c.samples.at(0);
  for (const DType dtype : c.dtypes) {
    const std::vector<Tensor> inputs = make_inputs(sample, dtype);
    const Outputs actual = run_op(*c.op, inputs, sample.attrs.get());
    std::vector<Tensor> wide;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const DType target = is_complex(dtype) ? DType::c128 : DType::f64;
      wide.push_back(sample.inputs[i].sweeps ? converted(inputs[i], target) : inputs[i]);
    }
    const Outputs expected = run_op(*c.op, wide, sample.attrs.get());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      expect_near(actual[i], expected[i], c.tolerance, label(c, "in", dtype));
    }
  }
}

void check_kernels(const OpCaseData& c) {
  const auto fast = c.op->kernels[static_cast<std::size_t>(DeviceType::cpu)];
  for (std::size_t s = 0; s < c.samples.size() && fast != nullptr; ++s) {
    const SampleData& sample = c.samples[s];
    for (const DType dtype : c.dtypes) {
      const std::vector<Tensor> inputs = make_inputs(sample, dtype);
      const Outputs expected = run_reference(*c.op, inputs, sample.attrs.get());
      for (const auto& variant : {inputs, each(inputs, strided_copy)}) {
        const auto actual = run_kernel(*c.op, fast, variant, sample.attrs.get());
        for (std::size_t i = 0; actual && i < expected.size(); ++i) {
          expect_near((*actual)[i], expected[i], c.tolerance, label(c, "fast kernel in", dtype));
        }
      }
    }
  }
}

void check_strides(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample);
    const Outputs dense = run_op(*c.op, inputs, sample.attrs.get());
    const Outputs strided = run_op(*c.op, each(inputs, strided_copy), sample.attrs.get());
    for (std::size_t i = 0; i < dense.size(); ++i) {
      expect_same_bits(strided[i], dense[i], c.op->info.name);
    }
  }
}

void check_meta(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    const std::vector<Tensor> inputs = make_inputs(sample);
    const auto to_meta = [](const Tensor& x) {
      const TensorOptions meta{.dtype = x.defined() ? x.dtype() : DType::f32,
                               .device = {.type = DeviceType::meta}};
      return x.defined() ? empty(x.shape(), meta) : x;
    };
    const Outputs real_ones = run_op(*c.op, inputs, sample.attrs.get());
    const Outputs metas = run_op(*c.op, each(inputs, to_meta), sample.attrs.get());
    ASSERT_EQ(metas.size(), real_ones.size());
    for (std::size_t i = 0; i < metas.size(); ++i) {
      EXPECT_EQ(metas[i].shape(), real_ones[i].shape());
      EXPECT_EQ(metas[i].dtype(), real_ones[i].dtype());
      EXPECT_EQ(metas[i].device().type, DeviceType::meta);
    }
  }
}

void check_in_place(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    std::vector<Tensor> inputs = make_inputs(sample);
    const Outputs expected = run_op(*c.op, inputs, sample.attrs.get());
    if (expected[0].shape() != inputs[0].shape() || expected[0].dtype() != inputs[0].dtype()) {
      continue;
    }
    for (const bool strided : {false, true}) {
      inputs = make_inputs(sample);
      inputs[0] = strided ? strided_copy(inputs[0]) : inputs[0];
      const std::vector<TensorRef> in(inputs.begin(), inputs.end());
      Outputs outputs;
      outputs.push_back(inputs[0]);
      call(*c.op, in, sample.attrs.get(), outputs);
      EXPECT_TRUE(outputs[0].is(inputs[0]));
      EXPECT_EQ(inputs[0].version(), 1U);
      expect_same_bits(inputs[0], expected[0], c.op->info.name);
    }
  }
}

}  // namespace tessera::test
