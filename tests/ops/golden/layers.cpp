#include <tessera/ops.h>

#include "replay.h"

namespace tessera::test {
namespace {

LossReduction reduction_of(const Json& attrs) {
  const auto name = attrs["reduction"].get<std::string>();
  if (name == "none") {
    return LossReduction::none;
  }
  return name == "sum" ? LossReduction::sum : LossReduction::mean;
}

Tensor loss(NamedTensors& in, const Json& attrs) {
  return cross_entropy(in["logits"], in["targets"],
                       {.ignore_index = attrs["ignore_index"].get<std::int64_t>(),
                        .label_smoothing = attrs["label_smoothing"].get<double>(),
                        .reduction = reduction_of(attrs)});
}

Tensor head(NamedTensors& in, const Json& attrs) {
  return linear_cross_entropy(in["x"], in["weight"], in["targets"],
                              {.ignore_index = attrs["ignore_index"].get<std::int64_t>(),
                               .label_smoothing = attrs["label_smoothing"].get<double>()});
}

Tensor attend(NamedTensors& in, const Json& attrs) {
  return attention(in["q"], in["k"], in["v"],
                   {.causal = attrs["causal"].get<bool>(), .scale = attrs.value("scale", 0.0)},
                   in["mask"]);
}

Tensor bags(NamedTensors& in, const Json& attrs) {
  const auto mode = attrs["mode"].get<std::string>();
  return embedding_bag(
      in["weight"], in["ids"], in["offsets"],
      {.mode = mode == "max" ? BagMode::max : (mode == "sum" ? BagMode::sum : BagMode::mean),
       .padding_idx = attrs.value("padding_idx", std::int64_t{-1})},
      in["per_sample_weights"]);
}

}  // namespace

GoldenFunctions golden_layers() {
  return {
      {"matmul", [](NamedTensors& in, const Json&) { return matmul(in["a"], in["b"]); }},
      {"linear",
       [](NamedTensors& in, const Json&) { return linear(in["x"], in["weight"], in["bias"]); }},
      {"layer_norm",
       [](NamedTensors& in, const Json& attrs) {
         return layer_norm(in["x"], in["weight"], in["bias"], attrs["eps"].get<double>());
       }},
      {"rms_norm",
       [](NamedTensors& in, const Json& attrs) {
         return rms_norm(in["x"], in["weight"], attrs["eps"].get<double>());
       }},
      {"cross_entropy", loss},
      {"linear_cross_entropy", head},
      {"attention", attend},
      {"embedding_bag", bags},
  };
}

}  // namespace tessera::test
