#include <tessera/ops.h>

#include "replay.h"

namespace tessera::test {
namespace {

/// reshape copies where it must: the second case hands it a transposed tensor.
Tensor reshaped(NamedTensors& in, const Json& attrs) {
  const Dims shape = dims_of(attrs["shape"]);
  return shape.size() == 2 ? reshape(in["x"], shape) : reshape(transpose(in["x"], 0, 1), shape);
}

Tensor sliced(NamedTensors& in, const Json& attrs) {
  return slice(in["x"], attrs["dim"].get<int>(), attrs["start"].get<std::int64_t>(),
               attrs["end"].get<std::int64_t>(), attrs["step"].get<std::int64_t>());
}

Tensor part(NamedTensors& in, const Json& attrs) {
  const auto parts = split(in["x"], attrs["size"].get<std::int64_t>(), attrs["dim"].get<int>());
  return parts.at(attrs["part"].get<std::size_t>());
}

Tensor padded(NamedTensors& in, const Json& attrs) {
  return pad(in["x"], {.before = dims_of(attrs["before"]),
                       .after = dims_of(attrs["after"]),
                       .value = attrs["value"].get<double>()});
}

int dim_of(const Json& attrs) {
  return attrs["dim"].get<int>();
}

}  // namespace

GoldenFunctions golden_shapes() {
  return {
      {"reshape", reshaped},
      {"slice", sliced},
      {"split", part},
      {"pad", padded},
      {"transpose",
       [](NamedTensors& in, const Json& attrs) {
         return transpose(in["x"], attrs["first"].get<int>(), attrs["second"].get<int>());
       }},
      {"permute", [](NamedTensors& in,
                     const Json& attrs) { return permute(in["x"], dims_of(attrs["order"])); }},
      {"expand", [](NamedTensors& in,
                    const Json& attrs) { return expand(in["x"], dims_of(attrs["shape"])); }},
      {"flip",
       [](NamedTensors& in, const Json& attrs) { return flip(in["x"], dims_of(attrs["dims"])); }},
      {"tril", [](NamedTensors& in,
                  const Json& attrs) { return tril(in["x"], attrs["diagonal"].get<int>()); }},
      {"triu", [](NamedTensors& in,
                  const Json& attrs) { return triu(in["x"], attrs["diagonal"].get<int>()); }},
      {"concat",
       [](NamedTensors& in, const Json& attrs) {
         return concat({in["x"], in["y"]}, dim_of(attrs));
       }},
      {"stack",
       [](NamedTensors& in, const Json& attrs) {
         return stack({in["x"], in["y"]}, dim_of(attrs));
       }},
      {"gather", [](NamedTensors& in,
                    const Json& attrs) { return gather(in["x"], dim_of(attrs), in["index"]); }},
      {"scatter_add",
       [](NamedTensors& in, const Json& attrs) {
         return scatter_add(in["x"], dim_of(attrs), in["index"], in["source"]);
       }},
      {"index_select",
       [](NamedTensors& in, const Json& attrs) {
         return index_select(in["x"], dim_of(attrs), in["index"]);
       }},
      {"one_hot",
       [](NamedTensors& in, const Json& attrs) {
         return one_hot(in["x"], attrs["classes"].get<std::int64_t>());
       }},
      {"embedding",
       [](NamedTensors& in, const Json&) { return embedding(in["weight"], in["ids"]); }},
  };
}

}  // namespace tessera::test
