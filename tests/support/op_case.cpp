#include "support/op_case.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "support/op_checks.h"

namespace tessera::test {
namespace {

using Check = void (*)(const OpCaseData&);

class CheckTest : public ::testing::Test {
 public:
  CheckTest(std::shared_ptr<const OpCaseData> data, Check check)
      : data_(std::move(data)), check_(check) {}
  void TestBody() override { check_(*data_); }

 private:
  std::shared_ptr<const OpCaseData> data_;
  Check check_;
};

std::map<const OpDef*, std::shared_ptr<const OpCaseData>>& cases() {
  static std::map<const OpDef*, std::shared_ptr<const OpCaseData>> cases;
  return cases;
}

void add_test(const std::shared_ptr<const OpCaseData>& data, const char* name, Check check) {
  const std::string suite = std::string("Op_") + data->op->info.name + data->variant;
  ::testing::RegisterTest(
      suite.c_str(), name, nullptr, nullptr, __FILE__, __LINE__,
      [data, check]() -> ::testing::Test* { return new CheckTest(data, check); });
}

InputSpec spec(InputSpec::Kind kind, Shape shape) {
  InputSpec result;
  result.kind = kind;
  result.shape = shape;
  return result;
}

InputSpec fixed(InputSpec result, DType dtype) {
  result.dtype = dtype;
  result.sweeps = result.differentiates = is_differentiable(dtype);
  return result;
}

}  // namespace

InputSpec real(Shape shape, double low, double high) {
  InputSpec result = spec(InputSpec::Kind::real, shape);
  result.low = low;
  result.high = high;
  return result;
}

InputSpec distinct(Shape shape) {
  InputSpec result = spec(InputSpec::Kind::real, shape);
  result.distinct = true;
  return result;
}

InputSpec complex(Shape shape) {
  InputSpec result = spec(InputSpec::Kind::complex, shape);
  result.dtype = DType::c128;
  return result;
}

InputSpec integers(Shape shape, std::int64_t low, std::int64_t high) {
  InputSpec result = fixed(spec(InputSpec::Kind::integer, shape), DType::i64);
  result.low = static_cast<double>(low);
  result.high = static_cast<double>(high);
  return result;
}

InputSpec booleans(Shape shape) {
  return fixed(spec(InputSpec::Kind::boolean, shape), DType::boolean);
}

InputSpec given(Shape shape, std::vector<double> values, DType dtype) {
  InputSpec result = fixed(spec(InputSpec::Kind::real, shape), dtype);
  result.values = std::move(values);
  return result;
}

InputSpec absent() {
  return fixed(spec(InputSpec::Kind::absent, {}), DType::i64);
}

InputSpec derived(std::function<Tensor(const std::vector<Tensor>& inputs)> derive) {
  InputSpec result = spec(InputSpec::Kind::derived, {});
  result.differentiates = false;
  result.derive = std::move(derive);
  return result;
}

void register_op_case(OpCaseData data) {
  const auto shared = std::make_shared<const OpCaseData>(std::move(data));
  const OpInfo& info = shared->op->info;
  cases().emplace(shared->op, shared);
  add_test(shared, "rejects_wrong_calls", check_rejects_wrong_calls);
  add_test(shared, "runs_in_its_dtypes", check_dtypes);
  add_test(shared, "runs_on_any_device", check_guarded);
  if (shared->strides) {
    add_test(shared, "takes_strided_inputs", check_strides);
  }
  if (!info.view) {
    add_test(shared, "fast_kernels_agree_with_the_reference", check_kernels);
    add_test(shared, "writes_into_strided_destinations", check_destinations);
    add_test(shared, "kernels_take_empty_inputs", check_empty_kernels);
  }
  if (shared->op->kernels[static_cast<std::size_t>(DeviceType::cpu)] != nullptr) {
    add_test(shared, "fast_kernels_hold_special_values", check_special_values);
  }
  if (shared->meta) {
    add_test(shared, "knows_shapes_without_elements", check_meta);
  }
  if (info.in_place || !shared->overwrites.empty()) {
    add_test(shared, "writes_in_place", check_in_place);
  }
  if (info.differentiable && shared->gradient) {
    add_test(shared, "gradient", check_gradient);
    add_test(shared, "gradient_of_empty_inputs", check_empty_gradient);
    add_test(shared, "gradient_of_each_input", check_gradient_of_each);
    if (shared->second_gradient == SecondGradient::right) {
      add_test(shared, "second_gradient", check_second_gradient);
    } else if (shared->second_gradient == SecondGradient::refused) {
      add_test(shared, "refuses_second_gradients", check_refuses_second_gradient);
    }
  }
  if (shared->op->shard != nullptr) {
    add_test(shared, "shard_rule_has_the_right_form", check_shard_form);
    add_test(shared, "shard_rule_is_true", check_shard_truth);
    add_test(shared, "takes_empty_inputs", check_empty);
    if (shared->strides) {
      add_test(shared, "keeps_microbatches_apart", check_microbatches);
      if (!info.sees_microbatches && !info.draws) {
        add_test(shared, "takes_stacked_samples_as_samples", check_stacked_samples);
      }
    }
    if (info.elementwise && !info.draws) {
      add_test(shared, "takes_what_exists_once_a_microbatch", check_stacked);
    }
  }
}

const OpCaseData* find_op_case(const OpDef& op) {
  const auto found = cases().find(&op);
  return found == cases().end() ? nullptr : found->second.get();
}

}  // namespace tessera::test
