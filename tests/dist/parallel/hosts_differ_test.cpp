// What one rank alone does to its weights is noticed between hosts, each of which updates all of
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/make.h>
#include <tessera/nn/optim/adamw.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

/// Every rank on a host of its own.
class LoneHosts final : public CommDecorator {
 public:
  using CommDecorator::CommDecorator;
  [[nodiscard]] std::string host(int peer) const override { return std::to_string(peer); }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override {
    return std::make_shared<LoneHosts>(std::move(part));
  }
};

/// The error of ten steps on two hosts; `spoil(model, optimizer)` runs on the second before the
/// fourth.
template <class Spoil>
std::string error_on_two_hosts(const Spoil& spoil) {
  return testing_support::error_of<Disagreement>([&] {
    run_ranks(2, [&](Communicator& comm) {
      set_seed(1);
      const auto model = nn::make<nn::Linear>(100, 70);  // 7000 weights are compared in two steps
      const std::shared_ptr<Communicator> ranks(&comm, [](Communicator*) {});
      const auto reducer = data_parallel(*model, std::make_shared<LoneHosts>(ranks), {.grain = 2});
      optim::AdamW optimizer(model->parameters(), {.lr = 0.01});
      data::DataLoader loader(data::TensorDataset(rand({20, 100})), {.batch_size = 2, .grain = 2});
      for (auto& [x] : loader) {
        if (loader.position() == 4 && comm.rank() == 1) {
          spoil(*model, optimizer);
        }
        mean(model(x)).backward();
        optimizer.step();
      }
    });
  });
}

TEST(HostsDiffer, in_a_weight_that_one_wrote_to) {
  const std::string error = error_on_two_hosts(
      [](nn::Linear& model, auto&) { model.weight.value().data<float>()[6999] += 1; });
  EXPECT_THAT(error, testing::HasSubstr("optimizer: ranks differ; rank 0 has values of weight from "
                                        "element 4096 on = hash "));
}

TEST(HostsDiffer, in_weights_that_one_updates_by_another_state) {
  const std::string error = error_on_two_hosts([](nn::Linear&, optim::AdamW& optimizer) {
    optim::OptimizerState state = optimizer.own_state();
    for (auto& [name, tensor] : state.tensors) {
      tensor = ones(tensor.shape());
    }
    optimizer.load_state(state);
  });
  EXPECT_THAT(error, testing::HasSubstr("optimizer: ranks differ; rank 0 has values of "));
}

}  // namespace
}  // namespace tessera::dist
