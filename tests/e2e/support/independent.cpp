// Every rank trains a model of its own: `independent` prints what each has learned with its own
// seed and learning rate, `independent RANK` what a process alone has that takes that rank's.
#include <cstdio>
#include <cstdlib>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/world.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

namespace {

using namespace tessera;  // NOLINT(google-build-using-namespace)

void train(int rank) {
  set_seed(static_cast<std::uint64_t>(7 + rank));
  const auto model = nn::make<nn::Linear>(8, 1);
  const Tensor x = randn({48 + 16 * rank, 8});
  data::DataLoader loader(data::TensorDataset{x},
                          {.batch_size = 16, .shuffle = true, .join_epochs = true, .steps = 5});
  optim::AdamW optimizer(model->parameters(), {.lr = 0.1 * (rank + 1)});
  for (auto& [batch] : loader) {
    const Tensor y = model(batch) - mean(batch, {1}, true);
    mean(y * y).backward();
    optimizer.step();
  }
  for (const float weight : model->weight.value().to_vector<float>()) {
    std::printf("rank %d: %a\n", rank, static_cast<double>(weight));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto world = dist::World::start({.independent = true});
  return world.run([&] { train(argc > 1 ? std::atoi(argv[1]) : world.rank()); });
}
