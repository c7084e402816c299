#include <algorithm>

#include <tessera/nn/optim/muon.h>

#include "oracle/support/optimizers.h"

namespace tessera::oracle {
namespace {

std::unique_ptr<optim::Optimizer> muon(const std::vector<nn::Parameter>& parameters,
                                       const Attributes& a) {
  optim::MuonOptions options{.lr = a.number("lr", 1e-3),
                             .weight_decay = a.number("weight_decay", 0.1),
                             .momentum = a.number("momentum", 0.95),
                             .nesterov = a.flag("nesterov", true),
                             .eps = a.number("eps", 1e-7),
                             .ns_steps = static_cast<int>(a.integer("ns_steps", 5))};
  if (a.has("ns_coefficients")) {
    std::ranges::copy(a.numbers("ns_coefficients"), options.ns_coefficients.begin());
  }
  const std::string adjust = a.text("adjust_lr_fn", "original");
  options.adjust_lr_fn = adjust == "original"          ? optim::AdjustLr::original
                         : adjust == "match_rms_adamw" ? optim::AdjustLr::match_rms_adamw
                                                       : optim::AdjustLr::spectral_unclamped;
  return std::make_unique<optim::Muon>(parameters, options);
}

const Counterparts<Optimizer> kMuon{{"Muon", {muon}}};

}  // namespace
}  // namespace tessera::oracle
