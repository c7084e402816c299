#include <tessera/nn/loss/bce_loss.h>
#include <tessera/nn/loss/bce_with_logits_loss.h>
#include <tessera/nn/loss/kl_div_loss.h>
#include <tessera/nn/loss/nll_loss.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/losses.h"

namespace tessera::oracle {
namespace {

BuiltLayer bce(const Attributes& a) {
  return layer<nn::BCELoss>(
      nn::BCELossOptions{.weight = weights_of(a, "weight"), .reduction = reduction_of(a)});
}

Tensor bce_function(const NamedTensors& in, const Attributes& a) {
  return nn::binary_cross_entropy(in["input"], in["target"],
                                  {.weight = in["weight"], .reduction = reduction_of(a)});
}

BuiltLayer bce_with_logits(const Attributes& a) {
  return layer<nn::BCEWithLogitsLoss>(
      nn::BCEWithLogitsLossOptions{.weight = weights_of(a, "weight"),
                                   .pos_weight = weights_of(a, "pos_weight"),
                                   .reduction = reduction_of(a)});
}

Tensor bce_with_logits_function(const NamedTensors& in, const Attributes& a) {
  return nn::binary_cross_entropy_with_logits(
      in["input"], in["target"],
      {.weight = in["weight"], .pos_weight = in["pos_weight"], .reduction = reduction_of(a)});
}

nn::NLLLossOptions nll_options(const Attributes& a, const Tensor& weight) {
  return {.weight = weight,
          .ignore_index = a.integer("ignore_index", -100),
          .reduction = reduction_of(a)};
}

BuiltLayer nll(const Attributes& a) {
  return layer<nn::NLLLoss>(nll_options(a, weights_of(a, "weight")));
}

Tensor nll_function(const NamedTensors& in, const Attributes& a) {
  return nn::nll_loss(in["input"], in["target"], nll_options(a, in["weight"]));
}

nn::KLDivLossOptions kl_div_options(const Attributes& a) {
  using enum nn::KLDivReduction;
  static const std::map<std::string, nn::KLDivReduction> reductions{
      {"mean", mean}, {"sum", sum}, {"none", none}, {"batchmean", batchmean}};
  return {.reduction = reductions.at(a.text("reduction")),
          .log_target = a.flag("log_target", false)};
}

BuiltLayer kl_div(const Attributes& a) {
  return layer<nn::KLDivLoss>(kl_div_options(a));
}

Tensor kl_div_function(const NamedTensors& in, const Attributes& a) {
  return nn::kl_div(in["input"], in["target"], kl_div_options(a));
}

const Counterparts<Layer> kProbabilityLosses{
    {"BCELoss", {bce, bce_function}},
    {"BCEWithLogitsLoss", {bce_with_logits, bce_with_logits_function}},
    {"NLLLoss", {nll, nll_function}},
    {"KLDivLoss", {kl_div, kl_div_function}},
};

}  // namespace
}  // namespace tessera::oracle
