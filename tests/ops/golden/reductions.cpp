#include <tessera/ops.h>

#include "replay.h"

namespace tessera::test {
namespace {

GoldenFunction reduction(Tensor (*f)(const Tensor&, const Dims&, bool)) {
  return [f](NamedTensors& in, const Json& attrs) {
    return f(in["x"], dims_of(attrs["dim"]), attrs["keepdim"].get<bool>());
  };
}

template <class F>
GoldenFunction along(F f) {
  return [f](NamedTensors& in, const Json& attrs) { return f(in["x"], attrs["dim"].get<int>()); };
}

Tensor best(NamedTensors& in, const Json& attrs) {
  const TopkResult result =
      topk(in["x"], attrs["k"].get<std::int64_t>(), attrs["dim"].get<int>(), attrs["largest"]);
  return attrs["part"] == 0 ? result.values : result.positions;
}

}  // namespace

GoldenFunctions golden_reductions() {
  return {
      {"sum", reduction(sum)},
      {"mean", reduction(mean)},
      {"max", reduction(max)},
      {"min", reduction(min)},
      {"logsumexp", reduction(logsumexp)},
      {"softmax", along(softmax)},
      {"log_softmax", along(log_softmax)},
      {"cumsum", along(cumsum)},
      {"prod", along([](const Tensor& x, int dim) { return prod(x, {dim}); })},
      {"argmax", along([](const Tensor& x, int dim) { return argmax(x, dim); })},
      {"argmin", along([](const Tensor& x, int dim) { return argmin(x, dim); })},
      {"topk", best},
      {"var",
       [](NamedTensors& in, const Json& attrs) {
         return var(in["x"], dims_of(attrs["dim"]), false, attrs["correction"].get<double>());
       }},
      {"norm",
       [](NamedTensors& in, const Json& attrs) {
         return norm(in["x"], number_of(attrs["order"]), dims_of(attrs["dim"]));
       }},
  };
}

}  // namespace tessera::test
