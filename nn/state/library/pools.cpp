#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_pools(ClassEntries& all) {
  add_classes<AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AvgPool1d, AvgPool2d,
              AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d>(all);
}

}  // namespace tessera::nn::detail
