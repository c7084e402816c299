#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_convolutions(ClassEntries& all) {
  add_classes<Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d>(all);
}

}  // namespace tessera::nn::detail
