// What microbatches cost: a step of a siamese network, which uses each weight twice a pass, on a
// batch cut by default against the same batch as one microbatch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

namespace tessera::bench {
namespace {

constexpr std::int64_t kWidth = 784;
constexpr std::int64_t kSteps = 20;  // of a sample
constexpr std::size_t kSamples = 15;

struct Mlp : nn::Module {
  Tensor forward(const Tensor& x) const { return out(relu(second(relu(first(x))))); }

  nn::Child<nn::Linear> first{this, "first", kWidth, 512};
  nn::Child<nn::Linear> second{this, "second", 512, 512};
  nn::Child<nn::Linear> out{this, "out", 512, 128};
};

struct Convolutions : nn::Module {
  Tensor forward(const Tensor& x) const {
    return mean(relu(second(relu(first(unflatten(x, -1, {1, 28, 28}))))), {2, 3});
  }

  nn::Child<nn::Conv2d> first{this, "first", 1, 32, 3, nn::ConvOptions{.padding = 1}};
  nn::Child<nn::Conv2d> second{this, "second", 32, 32, 3, nn::ConvOptions{.padding = 1}};
};

struct Recurrent : nn::Module {
  Tensor forward(const Tensor& x) const { return rows(unflatten(x, -1, {28, 28})).first; }

  nn::Child<nn::GRU> rows{this, "rows", 28, 64, nn::RecurrentOptions{.batch_first = true}};
};

/// Uses its encoder twice a pass.
template <class Encoder>
struct Siamese : nn::Module {
  /// `x` holds the two sides of a pair one behind the other.
  Tensor forward(const Tensor& x) const {
    const Tensor apart = encoder(slice(x, 1, 0, kWidth)) - encoder(slice(x, 1, kWidth, 2 * kWidth));
    return mean(apart * apart);
  }

  nn::Child<Encoder> encoder{this, "encoder"};
};

/// A training run whose steps are taken one sample after the other.
template <class Encoder>
class Run {
 public:
  Run(std::int64_t batch, std::int64_t grain)
      : loader_(data::TensorDataset{randn({batch, 2 * kWidth})},
                {.batch_size = batch, .join_epochs = true, .steps = 1'000'000, .grain = grain}) {}

  /// Milliseconds of one of some steps.
  double sample() {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t steps = 0;
    for (auto& [pairs] : loader_) {
      (*model_)(pairs).backward();
      optimizer_.step();
      if (++steps == kSteps) {
        break;
      }
    }
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    return spent.count() / kSteps;
  }

 private:
  nn::Ptr<Siamese<Encoder>> model_ = nn::make<Siamese<Encoder>>();
  optim::AdamW optimizer_{model_->parameters(), {.lr = 1e-4}};
  data::DataLoader<data::TensorDataset<1>> loader_;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

template <class Encoder>
void print_rows(std::int64_t batch) {
  Run<Encoder> whole(batch, 1), cut(batch, 0);
  static_cast<void>(whole.sample() + cut.sample());
  std::vector<double> of_whole, of_cut, ratios;
  while (ratios.size() < kSamples) {
    of_whole.push_back(whole.sample());
    of_cut.push_back(cut.sample());
    ratios.push_back(of_cut.back() / of_whole.back());
  }
  std::printf(R"({"bench": "microbatches", "rows": [)"
              R"({"name": "siamese_one_microbatch", "value": %.4f, "unit": "ms"}, )"
              R"({"name": "siamese_by_default", "value": %.4f, "unit": "ms"}, )"
              R"({"name": "siamese_ratio", "value": %.3f, "unit": "1"}]})"
              "\n",
              median(of_whole), median(of_cut), median(ratios));
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::int64_t batch = 128;
  int threads = 2;
  const std::map<std::string, void (*)(std::int64_t)> encoders{
      {"mlp", tessera::bench::print_rows<tessera::bench::Mlp>},
      {"convolutions", tessera::bench::print_rows<tessera::bench::Convolutions>},
      {"recurrent", tessera::bench::print_rows<tessera::bench::Recurrent>}};
  std::string encoder = "mlp";
  CLI::App app("Times steps of a siamese network by its microbatches.", "bench_microbatches");
  app.add_option("--batch", batch, "pairs in a batch")->check(CLI::PositiveNumber);
  app.add_option("--encoder", encoder, "of a side of a pair")->check(CLI::IsMember(encoders));
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  tessera::set_num_threads(threads);
  tessera::pin_threads(0);
  encoders.at(encoder)(batch);
  return 0;
}
