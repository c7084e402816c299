// Values and gradients of ops against PyTorch's, in f64 and f32.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

#include "replay.h"

namespace tessera::test {
namespace {

const Json& fixture() {
  static const Json json =
      Json::parse(std::ifstream(TESSERA_TEST_FOLDER "/fixtures/ops.json"))["ops"];
  return json;
}

GoldenFunctions all_functions() {
  GoldenFunctions all = golden_pointwise();
  all.merge(golden_activations());
  all.merge(golden_reductions());
  all.merge(golden_shapes());
  all.merge(golden_layers());
  return all;
}

std::vector<double> numbers_of(const Json& tensor) {
  std::vector<double> values;
  for (const Json& value : tensor["data"]) {
    values.push_back(value.is_boolean() ? value.get<bool>() : number_of(value));
  }
  return values;
}

/// The recorded tensor, floating ones in `dtype`.
Tensor tensor_of(const Json& record, DType dtype) {
  const DType own = parse_dtype(record["dtype"].get<std::string>());
  const Tensor x = from_values<double>(numbers_of(record), dims_of(record["shape"]));
  return cast(x, is_floating(own) ? dtype : own);
}

struct Replay {
  const Json& record;
  std::string what;
  DType dtype;

  /// Of the largest expected number. Only sums in another order and functions of libm differ.
  [[nodiscard]] double tolerance() const { return dtype == DType::f64 ? 1e-12 : 4 * 0x1p-23; }

  void expect_equal(const Tensor& got, const Json& recorded, const std::string& part) const {
    ASSERT_TRUE(got.defined()) << what << part;
    ASSERT_EQ(got.shape(), dims_of(recorded["shape"])) << what << part;
    const DType own = parse_dtype(recorded["dtype"].get<std::string>());
    ASSERT_EQ(got.dtype(), is_floating(own) ? dtype : own) << what << part;
    const std::vector<double> expected = numbers_of(recorded);
    const std::vector<double> values = got.to_vector<double>();
    double largest = 0;
    for (const double value : expected) {
      largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool same = values[i] == expected[i] || std::isnan(values[i] + expected[i]);
      const bool alike = std::isnan(values[i]) == std::isnan(expected[i]);
      EXPECT_TRUE((same && alike) || std::abs(values[i] - expected[i]) <= tolerance() * largest)
          << what << part << ": element " << i << " is " << values[i] << ", expected "
          << expected[i];
    }
  }

  void run(const GoldenFunction& f) const {
    NamedTensors inputs;
    for (const auto& [name, input] : record["inputs"].items()) {
      inputs[name] = tensor_of(input, dtype);
    }
    const bool differentiable = record.contains("upstream");
    const Json gradients = differentiable ? record["gradients"] : Json::object();
    for (const auto& [name, gradient] : gradients.items()) {
      inputs[name].set_requires_grad(true);
    }
    NamedTensors leaves = inputs;
    const Tensor y = f(inputs, record["attrs"]);
    expect_equal(y, record["outputs"]["y"], "");
    if (differentiable) {
      y.backward(tensor_of(record["upstream"], dtype));
    }
    for (const auto& [name, gradient] : gradients.items()) {
      const Tensor& x = leaves[name];
      expect_equal(x.grad().defined() ? x.grad() : zeros(x.shape(), {.dtype = dtype}), gradient,
                   ", gradient of " + name);
    }
  }
};

void replay_all(DType dtype) {
  const GoldenFunctions functions = all_functions();
  for (const auto& [name, records] : fixture().items()) {
    ASSERT_TRUE(functions.contains(name)) << name;
    for (const Json& record : records) {
      const std::string what = name + " " + record["name"].get<std::string>();
      if (dtype == DType::f64 || record.value("f32", true)) {
        Replay{record, what, dtype}.run(functions.at(name));
      }
    }
  }
}

TEST(Golden, f64_is_as_in_pytorch) {
  replay_all(DType::f64);
}

TEST(Golden, f32_is_as_in_pytorch) {
  replay_all(DType::f32);
}

TEST(Golden, every_function_has_a_record) {
  for (const auto& [name, function] : all_functions()) {
    EXPECT_TRUE(fixture().contains(name)) << name;
  }
}

}  // namespace
}  // namespace tessera::test
