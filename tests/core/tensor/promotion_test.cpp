// Dtypes of results against PyTorch's, from tests/fixtures/ops.json.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/argmax.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cumsum.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/erf.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/isfinite.h>
#include <tessera/core/ops/logsumexp.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/prod.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sign.h>
#include <tessera/core/ops/sin.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/var.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

using Json = nlohmann::json;
using Function = std::function<Tensor(const Tensor&)>;

const Json& rules() {
  static const Json all =
      Json::parse(std::ifstream(TESSERA_TEST_FOLDER "/fixtures/ops.json"))["dtypes"];
  return all;
}

/// PyTorch has complex numbers of two 16-bit floats; here they are c64.
std::string expected_name(const Json& name) {
  const auto text = name.get<std::string>();
  return text == "c32" || text == "bc32" ? "c64" : text;
}

std::string dtype_of_result(const std::function<Tensor()>& f) {
  try {
    return std::string(to_string(f().dtype()));
  } catch (const Error&) {
    return "error";
  }
}

void check_pairs(const char* table, const Shape& right_shape) {
  for (const auto& [left, row] : rules()[table].items()) {
    for (const auto& [right, expected] : row.items()) {
      const Tensor x = ones({2}, {.dtype = parse_dtype(left)});
      const Tensor y = ones(right_shape, {.dtype = parse_dtype(right)});
      EXPECT_EQ(dtype_of_result([&] { return x + y; }), expected_name(expected))
          << left << " with " << right;
    }
  }
}

TEST(Promotion, of_two_tensors_is_that_of_pytorch) {
  check_pairs("tensor_tensor", {2});
}

TEST(Promotion, with_a_tensor_of_no_dims_is_that_of_pytorch) {
  check_pairs("tensor_zero_dim", {});
}

TEST(Promotion, with_a_number_is_that_of_pytorch) {
  const std::map<std::string, Number> numbers{
      {"bool", true}, {"int", 1}, {"float", 1.0}, {"complex", std::complex<double>(0, 1)}};
  for (const auto& [left, row] : rules()["tensor_number"].items()) {
    for (const auto& [kind, expected] : row.items()) {
      const Tensor x = ones({2}, {.dtype = parse_dtype(left)});
      EXPECT_EQ(dtype_of_result([&] { return x + numbers.at(kind); }), expected_name(expected))
          << left << " with " << kind;
    }
  }
}

TEST(Promotion, of_single_ops_is_that_of_pytorch) {
  const std::map<std::string, Function> ops{
      {"neg", [](const Tensor& x) { return -x; }},
      {"abs", [](const Tensor& x) { return abs(x); }},
      {"sign", [](const Tensor& x) { return sign(x); }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }},
      {"rsqrt", [](const Tensor& x) { return rsqrt(x); }},
      {"sin", [](const Tensor& x) { return sin(x); }},
      {"erf", [](const Tensor& x) { return erf(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"isfinite", [](const Tensor& x) { return isfinite(x); }},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"mean", [](const Tensor& x) { return mean(x); }},
      {"prod", [](const Tensor& x) { return prod(x); }},
      {"max", [](const Tensor& x) { return max(x); }},
      {"argmax", [](const Tensor& x) { return argmax(x); }},
      {"var", [](const Tensor& x) { return var(x); }},
      {"cumsum", [](const Tensor& x) { return cumsum(x, 0); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x); }},
      {"norm", [](const Tensor& x) { return norm(x); }},
      {"div", [](const Tensor& x) { return x / x; }},
      {"pow_2", [](const Tensor& x) { return pow(x, 2); }},
      {"equal", [](const Tensor& x) { return eq(x, x); }}};
  for (const auto& [op, row] : rules()["op_result"].items()) {
    for (const auto& [dtype, expected] : row.items()) {
      const bool not_offered = op == "logsumexp" && is_complex(parse_dtype(dtype));
      const Tensor x = ones({3}, {.dtype = parse_dtype(dtype)});
      EXPECT_EQ(dtype_of_result([&] { return ops.at(op)(x); }),
                not_offered ? "error" : expected_name(expected))
          << op << " of " << dtype;
    }
  }
}

}  // namespace
}  // namespace tessera
