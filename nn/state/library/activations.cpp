#include <tessera/nn/layers/activation/celu.h>
#include <tessera/nn/layers/activation/elu.h>
#include <tessera/nn/layers/activation/gelu.h>
#include <tessera/nn/layers/activation/glu.h>
#include <tessera/nn/layers/activation/hardsigmoid.h>
#include <tessera/nn/layers/activation/hardswish.h>
#include <tessera/nn/layers/activation/hardtanh.h>
#include <tessera/nn/layers/activation/leaky_relu.h>
#include <tessera/nn/layers/activation/log_sigmoid.h>
#include <tessera/nn/layers/activation/log_softmax.h>
#include <tessera/nn/layers/activation/mish.h>
#include <tessera/nn/layers/activation/prelu.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/activation/relu6.h>
#include <tessera/nn/layers/activation/selu.h>
#include <tessera/nn/layers/activation/sigmoid.h>
#include <tessera/nn/layers/activation/silu.h>
#include <tessera/nn/layers/activation/softmax.h>
#include <tessera/nn/layers/activation/softplus.h>
#include <tessera/nn/layers/activation/softsign.h>
#include <tessera/nn/layers/activation/tanh.h>
#include <tessera/nn/layers/activation/threshold.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_activations(ClassEntries& all) {
  add_classes<CELU, ELU, GELU, GLU, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, LogSigmoid,
              LogSoftmax, Mish, PReLU, ReLU, ReLU6, SELU, Sigmoid, SiLU, Softmax, Softplus,
              Softsign, Tanh, Threshold>(all);
}

}  // namespace tessera::nn::detail
