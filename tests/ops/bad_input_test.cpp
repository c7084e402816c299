// Wrong inputs to every op: InvalidArgument whose text begins with the op's name, or, where the
// change happens to be legal, a result; never anything else.
#include <gtest/gtest.h>

#include <optional>

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
  for (std::int64_t i = 0; device.type == DeviceType::cpu && i < x.numel(); ++i) {
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
    EXPECT_TRUE(std::string(error.what()).starts_with(std::string(op.info.name) + ": "))
        << what << ": " << error.what();
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
      const Cut cut = x.cut();
      x = empty(x.shape(), {.dtype = x.dtype(), .device = {.type = DeviceType::meta}});
      x.get().cut = cut;
    }
  }
  return result;
}

bool mixes_devices(const BadCall& call) {
  bool any_meta = false;
  for (const Tensor& x : call.inputs) {
    any_meta |= x.defined() && x.device().type == DeviceType::meta;
  }
  return any_meta;
}

/// Makes wrong calls of a case; gives how many were refused.
int make_bad_calls(const OpCaseData& c, DType dtype) {
  int refused = 0;
  for (const SampleData& sample : c.samples) {
    const auto attrs = sample.attrs_in(dtype);
    for (const BadCall& call : bad_calls(sample, dtype)) {
      const auto why = refusal(*c.op, call, attrs.get());
      refused += why ? 1 : 0;
      if (!mixes_devices(call) && !is_about_elements(why.value_or(""))) {
        // What is wrong is known before anything is computed.
        const auto early = refusal(*c.op, without_elements(call), attrs.get());
        EXPECT_EQ(early.has_value(), why.has_value())
            << c.op->info.name << " of " << dtype << " with " << call.what << ": "
            << why.value_or("");
      }
    }
  }
  return refused;
}

TEST(BadInput, every_op_refuses_what_it_cannot_mean) {
  for (const OpDef* op : registered_ops()) {
    const OpCaseData* op_case = find_op_case(*op);
    for (const DType dtype : {DType::f64, DType::f32}) {
      EXPECT_TRUE(op_case == nullptr || make_bad_calls(*op_case, dtype) > 0) << op->info.name;
    }
  }
}

}  // namespace
}  // namespace tessera::test
