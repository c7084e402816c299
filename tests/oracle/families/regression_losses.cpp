#include <tessera/nn/loss/huber_loss.h>
#include <tessera/nn/loss/l1_loss.h>
#include <tessera/nn/loss/mse_loss.h>
#include <tessera/nn/loss/smooth_l1_loss.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/losses.h"

namespace tessera::oracle {
namespace {

nn::HuberLossOptions huber(const Attributes& a) {
  return {.reduction = reduction_of(a), .delta = a.number("delta", 1.0)};
}

nn::SmoothL1LossOptions smooth_l1(const Attributes& a) {
  return {.reduction = reduction_of(a), .beta = a.number("beta", 1.0)};
}

const Counterparts<Layer> kRegressionLosses{
    {"MSELoss", loss<nn::MSELoss, reduction_of, nn::mse_loss>()},
    {"L1Loss", loss<nn::L1Loss, reduction_of, nn::l1_loss>()},
    {"HuberLoss", loss<nn::HuberLoss, huber, nn::huber_loss>()},
    {"SmoothL1Loss", loss<nn::SmoothL1Loss, smooth_l1, nn::smooth_l1_loss>()},
};

}  // namespace
}  // namespace tessera::oracle
