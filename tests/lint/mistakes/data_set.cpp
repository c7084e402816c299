// expect: no data set: write `struct D : data::Dataset<Sample>` with size and get
#include <tessera/nn/data/data_loader.h>

void train(const std::vector<tessera::Tensor>& samples) {
  tessera::data::DataLoader loader(samples, {.batch_size = 2});
}
