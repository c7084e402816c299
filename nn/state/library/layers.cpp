#include <tessera/nn/layers/bilinear.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/embedding_bag.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/identity.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/upsample.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_layers(ClassEntries& all) {
  add_classes<AlphaDropout, Bilinear, Dropout, Dropout2d, Embedding, EmbeddingBag, Flatten,
              Identity, Linear, PixelShuffle, PixelUnshuffle, Unflatten, Upsample>(all);
}

}  // namespace tessera::nn::detail
