// Wrong inputs to every op: InvalidArgument of the form `op: what is wrong; got X, expected Y`, or,
// where the change happens to be legal, a result; never anything else.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include <tessera/core/ops/topk.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

#include "support/op_tools.h"

namespace tessera::test {
namespace {

/// A call whose inputs were changed.
struct BadCall {
  std::vector<Tensor> inputs;
  std::string what;
};

Tensor ones_of(const Shape& shape, DType dtype, Device device = {}) {
  Tensor x = empty(shape, {.dtype = dtype, .device = device});
  for (std::int64_t i = 0; device.is_cpu() && i < x.numel(); ++i) {
    store_as(x.get(), i, 1.0);
  }
  return x;
}

/// Changes of one tensor, with what was done to it.
std::vector<std::pair<Tensor, std::string>> changes_of(const Tensor& x) {
  std::vector<std::pair<Tensor, std::string>> changes{{Tensor(), "missing"}};
  for (const int dim : {0, x.ndim()}) {
    Shape longer = x.shape();
    longer.insert(dim, 3);
    changes.emplace_back(ones_of(longer, x.dtype()), "with one more dim");
  }
  for (int d = 0; d < x.ndim(); ++d) {
    Shape other = x.shape();
    other[d] += 1;
    changes.emplace_back(ones_of(other, x.dtype()), "with a longer dim");
    other[d] = 0;
    changes.emplace_back(ones_of(other, x.dtype()), "with an empty dim");
    other = x.shape();
    other.erase(d);
    changes.emplace_back(ones_of(other, x.dtype()), "with a dim less");
  }
  for (const DType dtype : kAllDTypes) {
    if (dtype != x.dtype()) {
      changes.emplace_back(ones_of(x.shape(), dtype), "of " + std::string(to_string(dtype)));
    }
  }
  changes.emplace_back(ones_of(x.shape(), x.dtype(), {.type = DeviceType::meta}), "on meta");
  return changes;
}

std::vector<BadCall> bad_calls(const SampleData& sample, DType dtype) {
  const std::vector<Tensor> inputs = make_inputs(sample, dtype);
  std::vector<BadCall> calls;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input " + std::to_string(i) + " ";
    calls.push_back({{inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i)},
                     name + "and all behind it left out"});
    if (!inputs[i].defined()) {
      continue;
    }
    for (auto& [changed, what] : changes_of(inputs[i])) {
      BadCall& call = calls.emplace_back();
      call.inputs = inputs;
      call.inputs[i] = changed;
      call.what = name + what;
    }
  }
  return calls;
}

/// Why the call was refused; nothing when it was not.
std::optional<std::string> refusal(const OpDef& op, const BadCall& call, const void* attrs) {
  const std::string what = std::string(op.info.name) + " with " + call.what;
  try {
    static_cast<void>(run_op(op, call.inputs, attrs));
    return {};
  } catch (const InvalidArgument& error) {
    expect_names_both_halves(op, error.what(), what);
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
    return error.what();
  }
}

/// True when only elements, not shapes and dtypes, are wrong.
bool is_about_elements(const std::string& why) {
  return why.find("out of range") != std::string::npos ||
         why.find("is no class") != std::string::npos ||
         why.find("is no row") != std::string::npos ||
         why.find("no probability") != std::string::npos;
}

/// The same call without elements.
BadCall without_elements(const BadCall& call) {
  BadCall result = call;
  result.what += " on meta";
  for (Tensor& x : result.inputs) {
    if (x.defined()) {
      const MicrobatchLayout layout = x.microbatches();
      x = empty(x.shape(), {.dtype = x.dtype(), .device = {.type = DeviceType::meta}});
      x.get().set_microbatches(layout);
    }
  }
  return result;
}

/// The number of tensors on a device.
auto count_on(DeviceType type, const BadCall& call) {
  return std::ranges::count_if(
      call.inputs, [&](const Tensor& x) { return x.defined() && x.device().type == type; });
}

/// How many calls were made, and how many of them were refused.
struct Counts {
  int made = 0;
  int refused = 0;
};

/// Makes wrong calls of a case.
Counts make_bad_calls(const OpCaseData& c, DType dtype) {
  Counts counts;
  for (const SampleData& sample : c.samples) {
    const auto attrs = sample.attrs_in(dtype);
    for (const BadCall& call : bad_calls(sample, dtype)) {
      const auto why = refusal(*c.op, call, attrs.get());
      counts.made += 1;
      counts.refused += why ? 1 : 0;
      const bool any_meta = count_on(DeviceType::meta, call) > 0;
      if (!any_meta && !is_about_elements(why.value_or(""))) {
        // What is wrong is known before anything is computed.
        const auto early = refusal(*c.op, without_elements(call), attrs.get());
        EXPECT_EQ(early.has_value(), why.has_value())
            << c.op->info.name << " of " << dtype << " with " << call.what << ": "
            << why.value_or("");
      }
    }
  }
  return counts;
}

TEST(BadInput, every_op_refuses_what_it_cannot_mean) {
  Counts all;
  for (const OpDef* op : registered_ops()) {
    const OpCaseData* op_case = find_op_case(*op);
    ASSERT_NE(op_case, nullptr) << op->info.name << " has no case from which to draw bad input";
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Counts counts = make_bad_calls(*op_case, dtype);
      EXPECT_GT(counts.refused, 0) << op->info.name << " took every bad input";
      all.made += counts.made;
      all.refused += counts.refused;
    }
  }
  std::cout << registered_ops().size() << " ops, " << all.made << " bad inputs, " << all.refused
            << " refused, each with op, got and expected\n";
}

/// Makes a call that overwrites inputs `over`; gives whether it was refused, which must have
/// changed nothing.
bool refused_untouched(const OpDef& op, const BadCall& call, const void* attrs,
                       const std::vector<int>& over) {
  std::vector<Tensor> before;
  std::vector<std::uint32_t> versions;  // legal calls before this one wrote into these inputs
  for (const Tensor& x : call.inputs) {
    before.push_back(converted(x, x.defined() ? x.dtype() : DType::f32));
    versions.push_back(x.defined() ? x.version() : 0);
  }
  Outputs outputs;
  for (const int i : over) {
    outputs.push_back(call.inputs[static_cast<std::size_t>(i)]);
  }
  try {
    tessera::call(op, std::vector<TensorRef>(call.inputs.begin(), call.inputs.end()), attrs,
                  outputs);
    return false;
  } catch (const InvalidArgument& error) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].defined()) {
        expect_same_bits(call.inputs[i], before[i], call.what + ": " + error.what());
        EXPECT_EQ(call.inputs[i].version(), versions[i]) << op.info.name << " with " << call.what;
      }
    }
    return true;
  }
}

TEST(BadInput, what_would_be_overwritten_stays_as_it_was) {
  for (const OpDef* op : registered_ops()) {
    const OpCaseData& c = *find_op_case(*op);
    if (!op->info.in_place && c.overwrites.empty()) {
      continue;
    }
    const std::vector<int> over = c.overwrites.empty() ? std::vector<int>{0} : c.overwrites;
    int refused = 0;
    for (const SampleData& sample : c.samples) {
      const auto attrs = sample.attrs_in(DType::f32);
      for (const BadCall& call : bad_calls(sample, DType::f32)) {
        const bool whole = call.inputs.size() == sample.inputs.size();
        if (whole && count_on(DeviceType::meta, call) == 0) {
          refused += refused_untouched(*op, call, attrs.get(), over) ? 1 : 0;
        }
      }
    }
    EXPECT_GT(refused, 0) << op->info.name;
  }
}

TEST(BadInput, no_destination_changes_when_another_does_not_fit) {
  const Tensor x = ones_of({4, 3}, DType::f32);
  x.get().set_microbatches({.count = 2, .dim = 0});
  Outputs outputs;
  outputs.push_back(ones_of({4, 2}, DType::f32));
  outputs.push_back(ones_of({4, 2}, DType::f32));  // positions are i64
  const Topk::Attrs attrs{.k = 2, .dim = 1};
  EXPECT_THROW(call(op_def<Topk>(), std::vector<TensorRef>{x}, &attrs, outputs), InvalidArgument);
  EXPECT_FALSE(outputs[0].microbatches());
}

}  // namespace
}  // namespace tessera::test
