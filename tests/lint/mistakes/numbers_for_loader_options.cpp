// expect: by name: {.batch_size = 2}
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>

void train(const tessera::Tensor& images, const tessera::Tensor& labels) {
  tessera::data::DataLoader loader(tessera::data::TensorDataset(images, labels), 2, true);
}
