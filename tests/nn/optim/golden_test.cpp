// Ten steps of each optimizer against PyTorch's.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

namespace tessera::optim {
namespace {

using Json = nlohmann::json;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const nn::Module&)>;

const Json& fixture() {
  static const Json json =
      Json::parse(std::ifstream(TESSERA_TEST_FOLDER "/fixtures/ops.json"))["optimizers"];
  return json;
}

Tensor tensor_of(const Json& json, DType dtype) {
  Shape shape;
  for (const auto& size : json["shape"]) {
    shape.push_back(size.get<std::int64_t>());
  }
  return cast(from_values<double>(json["data"].get<std::vector<double>>(), shape), dtype);
}

struct Weights : nn::Module {
  explicit Weights(DType dtype) : w(this, "w", {3, 4}, nn::init::zeros(), dtype) {}
  nn::Parameter w;
};

/// Runs the recorded steps and compares after each.
void replay(const Json& run, DType dtype, double tolerance, const MakeOptimizer& make) {
  const auto model = nn::make<Weights>(dtype);
  model->load_state_dict({{"w", tensor_of(run["start"], dtype)}});
  const auto optimizer = make(*model);
  for (const Json& step : run["steps"]) {
    model->w.value().set_grad(tensor_of(step["gradient"], dtype));
    optimizer->step();
    EXPECT_FALSE(model->w.grad().defined());
    const auto got = model->w.value().to_vector<double>();
    const auto expected = step["parameter"]["data"].get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], tolerance) << run["settings"];
    }
  }
}

void replay_all(const Json& run, const MakeOptimizer& make) {
  replay(run, DType::f64, 1e-12, make);
  replay(run, DType::f32, 2e-6, make);
}

TEST(AdamW, takes_the_steps_of_pytorch) {
  ASSERT_FALSE(fixture()["adamw"].empty());
  for (const Json& run : fixture()["adamw"]) {
    const Json& s = run["settings"];
    const AdamWOptions options{
        .lr = s["lr"],
        .beta1 = s["betas"][0],
        .beta2 = s["betas"][1],
        .eps = s["eps"],
        .weight_decay = s["weight_decay"],
    };
    replay_all(run, [&](const nn::Module& model) {
      return std::make_unique<AdamW>(model.parameters(), options);
    });
  }
}

TEST(Sgd, takes_the_steps_of_pytorch) {
  ASSERT_FALSE(fixture()["sgd"].empty());
  for (const Json& run : fixture()["sgd"]) {
    const Json& s = run["settings"];
    const SgdOptions options{
        .lr = s["lr"],
        .momentum = s.value("momentum", 0.0),
        .dampening = s.value("dampening", 0.0),
        .weight_decay = s.value("weight_decay", 0.0),
        .nesterov = s.value("nesterov", false),
    };
    replay_all(run, [&](const nn::Module& model) {
      return std::make_unique<Sgd>(model.parameters(), options);
    });
  }
}

}  // namespace
}  // namespace tessera::optim
