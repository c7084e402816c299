#include <tessera/ops.h>

#include "replay.h"

namespace tessera::test {
namespace {

GoldenFunction plain(Tensor (*f)(const Tensor&)) {
  return [f](NamedTensors& in, const Json&) { return f(in["x"]); };
}

/// With one or two numbers.
GoldenFunction with(Tensor (*f)(const Tensor&, double), const char* name) {
  return [f, name](NamedTensors& in, const Json& attrs) {
    return f(in["x"], attrs[name].get<double>());
  };
}
GoldenFunction with(Tensor (*f)(const Tensor&, double, double), const char* a, const char* b) {
  return [f, a, b](NamedTensors& in, const Json& attrs) {
    return f(in["x"], attrs[a].get<double>(), attrs[b].get<double>());
  };
}

}  // namespace

GoldenFunctions golden_activations() {
  return {
      {"mish", plain(mish)},
      {"selu", plain(selu)},
      {"softsign", plain(softsign)},
      {"log_sigmoid", plain(log_sigmoid)},
      {"hardsigmoid", plain(hardsigmoid)},
      {"hardswish", plain(hardswish)},
      {"relu6", plain(relu6)},
      {"leaky_relu", with(leaky_relu, "negative_slope")},
      {"elu", with(elu, "alpha")},
      {"celu", with(celu, "alpha")},
      {"softplus", with(softplus, "beta", "threshold")},
      {"hardtanh", with(hardtanh, "min_val", "max_val")},
      {"threshold",
       [](NamedTensors& in, const Json& attrs) {
         return threshold(in["x"], attrs["threshold"].get<double>(), attrs["value"].get<double>());
       }},
      {"prelu", [](NamedTensors& in, const Json&) { return prelu(in["x"], in["weight"]); }},
      {"glu",
       [](NamedTensors& in, const Json& attrs) { return glu(in["x"], attrs["dim"].get<int>()); }},
  };
}

}  // namespace tessera::test
