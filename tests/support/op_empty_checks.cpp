// Calls with nothing in them: every way to give inputs of a sample a dim of size 0. Outputs lie in
// memory that holds rubbish, so that what a kernel does not write is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/op_checks.h"
#include "support/op_tools.h"

#include <tessera/core/tensor/factories.h>

namespace tessera::test {
namespace {

/// Dims of inputs: (input, dim).
using DimsOfInputs = std::set<std::pair<std::size_t, int>>;

/// Which dims are emptied together.
std::set<DimsOfInputs> ways_to_empty(const OpCaseData& c, const std::vector<Tensor>& inputs,
                                     const void* attrs) {
  std::map<std::int64_t, DimsOfInputs> of_size;
  std::map<std::int8_t, DimsOfInputs> of_label;
  std::set<DimsOfInputs> ways;
  const bool has_rule = c.op->shard != nullptr;
  const ShardRule rule = has_rule ? shard_rule_of(*c.op, inputs, attrs) : ShardRule{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int d = 0; inputs[i].defined() && d < inputs[i].ndim(); ++d) {
      ways.insert({{i, d}});
      of_size[inputs[i].size(d)].insert({i, d});
      if (has_rule && rule.inputs[i][d] != DimLabels::kWhole) {
        of_label[rule.inputs[i][d]].insert({i, d});
      }
    }
  }
  for (const auto& [size, way] : of_size) {
    ways.insert(way);
  }
  for (const auto& [label, way] : of_label) {
    ways.insert(way);
  }
  return ways;
}

/// What a call of one of these kernels gives in memory full of `rubbish`; nothing when it declines.
std::optional<Outputs> run_in_rubbish(const OpDef& op, OpDef::KernelFunction kernel,
                                      const std::vector<Tensor>& inputs, const void* attrs,
                                      unsigned char rubbish) {
  const std::vector<TensorRef> in(inputs.begin(), inputs.end());
  Infer infer(op.info.name, in);
  op.infer(infer, attrs);
  Outputs outputs;
  std::vector<TensorImpl*> from;
  std::vector<TensorImpl*> to;
  for (const OutputSpec& spec : infer.outputs()) {
    outputs.push_back(empty(spec.shape, {.dtype = spec.dtype}));
    std::fill_n(static_cast<unsigned char*>(outputs.back().raw_data()), outputs.back().nbytes(),
                rubbish);
    to.push_back(&outputs.back().get());
  }
  for (const Tensor& x : inputs) {
    from.push_back(x.impl().get());
  }
  Kernel k(op.info.name, from, to);
  if (kernel == nullptr) {
    op.reference(k, attrs);
    return outputs;
  }
  return kernel(k, attrs) ? std::optional(outputs) : std::nullopt;
}

/// The same twice, in different rubbish: the bits must be the same.
std::optional<Outputs> run_written(const OpCaseData& c, OpDef::KernelFunction kernel,
                                   const std::vector<Tensor>& inputs, const void* attrs,
                                   const std::string& what) {
  const auto once = run_in_rubbish(*c.op, kernel, inputs, attrs, 0x41);
  const auto again = run_in_rubbish(*c.op, kernel, inputs, attrs, 0x01);
  for (std::size_t o = 0; once && o < once->size(); ++o) {
    expect_same_bits((*once)[o], (*again)[o], what + " leaves output unwritten");
  }
  return once;
}

/// The pipeline calls no kernel where nothing comes out.
bool gives_elements(const OpDef& op, const std::vector<Tensor>& inputs, const void* attrs) {
  const std::vector<TensorRef> in(inputs.begin(), inputs.end());
  Infer infer(op.info.name, in);
  op.infer(infer, attrs);
  return std::ranges::any_of(infer.outputs(),
                             [](const OutputSpec& y) { return numel_of(y.shape) > 0; });
}

void expect_written(const OpCaseData& c, const std::vector<Tensor>& inputs, const void* attrs,
                    const std::string& what) {
  if (!gives_elements(*c.op, inputs, attrs)) {
    return;
  }
  const auto expected = run_written(c, nullptr, inputs, attrs, what + ": the reference");
  const auto fast = c.op->kernels[static_cast<std::size_t>(DeviceType::cpu)];
  if (fast == nullptr) {
    return;
  }
  const auto actual = run_written(c, fast, inputs, attrs, what + ": the fast kernel");
  for (std::size_t o = 0; actual && o < actual->size(); ++o) {
    expect_near((*actual)[o], (*expected)[o], c.tolerance, what);
  }
}

}  // namespace

std::vector<std::vector<Tensor>> inputs_of_nothing(const OpCaseData& c, const SampleData& sample,
                                                   std::optional<DType> dtype) {
  const auto attrs = sample.attrs_in(dtype.value_or(DType::f64));
  const std::vector<Tensor> inputs = make_inputs(sample, dtype);
  std::vector<std::vector<Tensor>> result;
  for (const DimsOfInputs& way : ways_to_empty(c, inputs, attrs.get())) {
    std::vector<Tensor>& emptied = result.emplace_back(inputs);
    for (const auto& [i, d] : way) {
      Shape shape = emptied[i].shape();
      shape[d] = 0;
      emptied[i] = empty(shape, {.dtype = inputs[i].dtype()});
    }
    try {
      derive_inputs(sample, emptied);
    } catch (const InvalidArgument&) {  // results of no call: as they were
    }
  }
  return result;
}

void check_empty_kernels(const OpCaseData& c) {
  for (const SampleData& sample : c.samples) {
    for (const DType dtype : c.dtypes) {
      const auto attrs = sample.attrs_in(dtype);
      for (const std::vector<Tensor>& inputs : inputs_of_nothing(c, sample, dtype)) {
        std::string what = std::string(c.op->info.name) + " in " + std::string(to_string(dtype));
        for (const Tensor& x : inputs) {
          what += x.defined() ? ::testing::PrintToString(x.shape()) : " -";
        }
        try {
          expect_written(c, inputs, attrs.get(), what);
        } catch (const InvalidArgument&) {  // no call that the op takes: sizes that differ, say
        } catch (const Unsupported&) {
        }
      }
    }
  }
}

}  // namespace tessera::test
