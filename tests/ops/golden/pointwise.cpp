#include <tessera/ops.h>

#include "replay.h"

namespace tessera::test {
namespace {

GoldenFunction unary(Tensor (*f)(const Tensor&)) {
  return [f](NamedTensors& in, const Json&) { return f(in["x"]); };
}

template <class F>
GoldenFunction binary(F f) {
  return [f](NamedTensors& in, const Json&) { return f(in["x"], in["y"]); };
}

GoldenFunction in_place(const Tensor& (*f)(const Tensor&, const Tensor&)) {
  return [f](NamedTensors& in, const Json&) { return f(clone(in["x"]), in["y"]); };
}

/// With a tensor or with a number.
template <class F>
GoldenFunction comparison(F f) {
  return [f](NamedTensors& in, const Json& attrs) {
    return attrs.contains("y") ? f(in["x"], Number(attrs["y"].get<double>())) : f(in["x"], in["y"]);
  };
}

Tensor power(NamedTensors& in, const Json& attrs) {
  if (!attrs.contains("exponent")) {
    return pow(in["x"], in["y"]);
  }
  const Json& y = attrs["exponent"];
  return y.is_number_integer() ? pow(in["x"], y.get<int>()) : pow(in["x"], y.get<double>());
}

Tensor cast_to(NamedTensors& in, const Json& attrs) {
  return cast(in["x"], attrs["dtype"] == "bool" ? DType::boolean : DType::i32);
}

}  // namespace

GoldenFunctions golden_pointwise() {
  return {
      {"abs", unary(abs)},
      {"neg", unary([](const Tensor& x) { return -x; })},
      {"sign", unary(sign)},
      {"exp", unary(exp)},
      {"log", unary(log)},
      {"sqrt", unary(sqrt)},
      {"rsqrt", unary(rsqrt)},
      {"sin", unary(sin)},
      {"cos", unary(cos)},
      {"erf", unary(erf)},
      {"tanh", unary(tanh)},
      {"sigmoid", unary(sigmoid)},
      {"relu", unary(relu)},
      {"silu", unary(silu)},
      {"isfinite", unary(isfinite)},
      {"add", binary([](const Tensor& x, const Tensor& y) { return x + y; })},
      {"sub", binary([](const Tensor& x, const Tensor& y) { return x - y; })},
      {"mul", binary([](const Tensor& x, const Tensor& y) { return x * y; })},
      {"div", binary([](const Tensor& x, const Tensor& y) { return x / y; })},
      {"maximum", binary([](const Tensor& x, const Tensor& y) { return maximum(x, y); })},
      {"minimum", binary([](const Tensor& x, const Tensor& y) { return minimum(x, y); })},
      {"add_", in_place(add_)},
      {"sub_", in_place(sub_)},
      {"mul_", in_place(mul_)},
      {"div_", in_place(div_)},
      {"eq", comparison([](const Tensor& x, const auto& y) { return eq(x, y); })},
      {"ne", comparison([](const Tensor& x, const auto& y) { return ne(x, y); })},
      {"lt", comparison([](const Tensor& x, const auto& y) { return x < y; })},
      {"le", comparison([](const Tensor& x, const auto& y) { return x <= y; })},
      {"gt", comparison([](const Tensor& x, const auto& y) { return x > y; })},
      {"ge", comparison([](const Tensor& x, const auto& y) { return x >= y; })},
      {"pow", power},
      {"cast", cast_to},
      {"gelu", [](NamedTensors& in,
                  const Json& attrs) { return gelu(in["x"], attrs["approximate"] == "tanh"); }},
      {"clamp",
       [](NamedTensors& in, const Json& attrs) {
         return clamp(in["x"], number_of(attrs["low"]), number_of(attrs["high"]));
       }},
      {"where", [](NamedTensors& in, const Json&) { return where(in["mask"], in["x"], in["y"]); }},
  };
}

}  // namespace tessera::test
