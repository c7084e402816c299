// Ten steps of each optimizer against PyTorch's, or the formulas in numpy, of tests/oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

namespace tessera::optim {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;
using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const std::vector<nn::Parameter>&,
                                                     const Json& settings);

const Json& runs_of(const char* name) {
  static const Json json =
      Json::parse(std::ifstream(TESSERA_TEST_FOLDER "/fixtures/ops.json"))["optimizers"];
  return json.at(name);
}

Tensor tensor_of(const Json& json, DType dtype) {
  Shape shape;
  for (const auto& size : json["shape"]) {
    shape.push_back(size.get<std::int64_t>());
  }
  return cast(from_values<double>(json["data"].get<Values>(), shape), dtype);
}

struct Weights : nn::Module {
  Weights(const Shape& shape, DType dtype) : w(this, "w", shape, nn::init::zeros(), dtype) {}
  nn::Parameter w;
};

/// The parameter after each of the recorded steps.
std::vector<Values> replay(const Json& run, DType dtype, MakeOptimizer make) {
  const Tensor start = tensor_of(run["start"], dtype);
  const auto model = nn::make<Weights>(start.shape(), dtype);
  model->load_state_dict({{"w", start}});
  const auto optimizer = make(model->parameters(), run["settings"]);
  std::vector<Values> after;
  for (const Json& step : run["steps"]) {
    model->w.value().set_grad(tensor_of(step["gradient"], dtype));
    optimizer->step();
    EXPECT_FALSE(model->w.grad().defined());
    after.push_back(model->w.value().to_vector<double>());
  }
  return after;
}

double distance(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

/// The error of `got` as a part of the move from the start to `expected`.
double part_of_move(const Json& run, const Values& got, const Json& expected) {
  const auto data = expected["data"].get<Values>();
  return distance(got, data) / distance(run["start"]["data"].get<Values>(), data);
}

void expect_golden(const char* name, MakeOptimizer make) {
  ASSERT_FALSE(runs_of(name).empty());
  for (const Json& run : runs_of(name)) {
    const auto exact = replay(run, DType::f64, make);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LE(part_of_move(run, exact[i], run["steps"][i]["parameter"]), 1e-10)
          << name << " " << run["settings"] << ", step " << i;
    }
    const Values single = replay(run, DType::f32, make).back();
    EXPECT_LE(part_of_move(run, single, run["steps"].back()["parameter"]),
              2 * run["f32_error"].get<double>() + 0x1p-23)
        << name << " " << run["settings"];
    if (run.contains("pytorch")) {  // which computes in bf16
      EXPECT_LE(part_of_move(run, exact.back(), run["pytorch"]), 0.02) << run["settings"];
    }
  }
}

/// The settings that were given to PyTorch; all others keep their defaults.
class Settings {
 public:
  explicit Settings(const Json& json) : json_(json) {}
  template <class T>
  Settings& read(const char* name, T& option) {
    option = json_.value(name, option);
    return *this;
  }
  Settings& pair(const char* name, double& first, double& second) {
    if (json_.contains(name)) {
      first = json_[name][0];
      second = json_[name][1];
    }
    return *this;
  }

 private:
  const Json& json_;
};

template <class Kind, class Options>
std::unique_ptr<Optimizer> make_adam(const std::vector<nn::Parameter>& parameters,
                                     const Json& settings) {
  Options o;
  Settings(settings)
      .read("lr", o.lr)
      .pair("betas", o.beta1, o.beta2)
      .read("eps", o.eps)
      .read("weight_decay", o.weight_decay)
      .read("amsgrad", o.amsgrad)
      .read("maximize", o.maximize);
  return std::make_unique<Kind>(parameters, o);
}

TEST(Adam, takes_the_steps_of_pytorch) {
  expect_golden("adam", make_adam<Adam, AdamOptions>);
}

TEST(AdamW, takes_the_steps_of_pytorch) {
  expect_golden("adamw", make_adam<AdamW, AdamWOptions>);
}

TEST(SGD, takes_the_steps_of_pytorch) {
  expect_golden("sgd", [](const auto& parameters, const Json& settings) {
    SGDOptions o;
    Settings(settings)
        .read("lr", o.lr)
        .read("momentum", o.momentum)
        .read("dampening", o.dampening)
        .read("weight_decay", o.weight_decay)
        .read("nesterov", o.nesterov)
        .read("maximize", o.maximize);
    return std::unique_ptr<Optimizer>(std::make_unique<SGD>(parameters, o));
  });
}

TEST(Adagrad, takes_the_steps_of_pytorch) {
  expect_golden("adagrad", [](const auto& parameters, const Json& settings) {
    AdagradOptions o;
    Settings(settings)
        .read("lr", o.lr)
        .read("lr_decay", o.lr_decay)
        .read("weight_decay", o.weight_decay)
        .read("initial_accumulator_value", o.initial_accumulator_value)
        .read("eps", o.eps)
        .read("maximize", o.maximize);
    return std::unique_ptr<Optimizer>(std::make_unique<Adagrad>(parameters, o));
  });
}

TEST(RMSprop, takes_the_steps_of_pytorch) {
  expect_golden("rmsprop", [](const auto& parameters, const Json& settings) {
    RMSpropOptions o;
    Settings(settings)
        .read("lr", o.lr)
        .read("alpha", o.alpha)
        .read("eps", o.eps)
        .read("weight_decay", o.weight_decay)
        .read("momentum", o.momentum)
        .read("centered", o.centered)
        .read("maximize", o.maximize);
    return std::unique_ptr<Optimizer>(std::make_unique<RMSprop>(parameters, o));
  });
}

TEST(Lion, takes_the_steps_of_its_paper) {
  expect_golden("lion", [](const auto& parameters, const Json& settings) {
    LionOptions o;
    Settings(settings)
        .read("lr", o.lr)
        .pair("betas", o.beta1, o.beta2)
        .read("weight_decay", o.weight_decay);
    return std::unique_ptr<Optimizer>(std::make_unique<Lion>(parameters, o));
  });
}

TEST(Adafactor, takes_the_steps_of_pytorch) {
  expect_golden("adafactor", [](const auto& parameters, const Json& settings) {
    AdafactorOptions o;
    Settings(settings)
        .read("lr", o.lr)
        .read("beta2_decay", o.beta2_decay)
        .pair("eps", o.eps1, o.eps2)
        .read("d", o.d)
        .read("weight_decay", o.weight_decay)
        .read("maximize", o.maximize);
    return std::unique_ptr<Optimizer>(std::make_unique<Adafactor>(parameters, o));
  });
}

TEST(Muon, takes_the_steps_of_its_formula_and_comes_near_pytorch) {
  expect_golden("muon", [](const auto& parameters, const Json& settings) {
    const std::string adjust = settings.value("adjust_lr_fn", "original");
    MuonOptions o;
    o.adjust_lr_fn = adjust == "original"          ? AdjustLr::original
                     : adjust == "match_rms_adamw" ? AdjustLr::match_rms_adamw
                                                   : AdjustLr::spectral_unclamped;
    Settings(settings)
        .read("lr", o.lr)
        .read("weight_decay", o.weight_decay)
        .read("momentum", o.momentum)
        .read("nesterov", o.nesterov)
        .read("ns_coefficients", o.ns_coefficients)
        .read("eps", o.eps)
        .read("ns_steps", o.ns_steps);
    return std::unique_ptr<Optimizer>(std::make_unique<Muon>(parameters, o));
  });
}

}  // namespace
}  // namespace tessera::optim
