// Calls that PyTorch recorded in tests/fixtures/ops.json, made again here.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <tessera/core/tensor/tensor.h>

namespace tessera::test {

using Json = nlohmann::json;
using NamedTensors = std::map<std::string, Tensor>;

/// The op of a record on its inputs by name, with the record's `attrs`.
using GoldenFunction = std::function<Tensor(NamedTensors& inputs, const Json& attrs)>;
using GoldenFunctions = std::map<std::string, GoldenFunction>;

/// How each op of the fixture is called, by its name there.
[[nodiscard]] GoldenFunctions golden_activations();
[[nodiscard]] GoldenFunctions golden_pointwise();
[[nodiscard]] GoldenFunctions golden_reductions();
[[nodiscard]] GoldenFunctions golden_shapes();
[[nodiscard]] GoldenFunctions golden_layers();

/// A list of integers: sizes, dims.
[[nodiscard]] inline Dims dims_of(const Json& list) {
  Dims dims;
  for (const auto& value : list) {
    dims.push_back(value.get<std::int64_t>());
  }
  return dims;
}

/// A number, or one of the strings "inf", "-inf" and "nan".
[[nodiscard]] inline double number_of(const Json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

}  // namespace tessera::test
