// expect: by name: {.batch_size = 2}
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>

void train(const tessera::data::TensorDataset<2>& samples) {
  tessera::data::DataLoader loader(samples, 2);
}
