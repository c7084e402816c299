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
                             .ns_steps = static_cast<int>(a.integer("ns_steps", 5))};
  if (a.has("ns_coefficients")) {
    std::ranges::copy(a.numbers("ns_coefficients"), options.ns_coefficients.begin());
  }
  if (a.text("adjust_lr_fn", "original") == "match_rms_adamw") {
    options.adjust_lr_fn = optim::AdjustLr::match_rms_adamw;
  }
  return std::make_unique<optim::Muon>(parameters, options);
}

const Counterparts<Optimizer> kMuon{{"Muon", {muon}}};

}  // namespace
}  // namespace tessera::oracle
