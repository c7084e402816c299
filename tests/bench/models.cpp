// A step server that trains one of the models of the speed table: see README.md.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>

#include "support/models/training.h"

namespace bench = tessera::bench;

namespace {

using Maker = std::unique_ptr<bench::Training> (*)(tessera::DType);
const std::map<std::string, Maker> kModels{{"resnet18", bench::resnet18},
                                           {"linear", bench::linear_layer},
                                           {"convolution", bench::convolution_layer},
                                           {"lstm", bench::byte_lstm},
                                           {"mini_lm", bench::mini_lm},
                                           {"mlp", bench::mlp},
                                           {"chain", bench::chain}};

struct Options {
  std::string model;
  std::string dtype = "f32";
  int threads = 2;
  int steps = 1;
};

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("Trains a model step by step, on request.", "bench_models");
  app.add_option("--model", o.model)->required()->check(CLI::IsMember(kModels));
  app.add_option("--dtype", o.dtype);
  app.add_option("--threads", o.threads);
  app.add_option("--steps", o.steps, "steps of a turn");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return o;
}

double wall_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

/// Of all threads of the process.
double cpu_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

/// Answers every line "step" with a turn: some steps, and the mean time of one.
void serve(bench::Training& training, const Options& o) {
  std::cout << R"({"ready": true, "name": "tessera"})" << std::endl;
  std::string line;
  for (int turn = 1; std::getline(std::cin, line) && line == "step"; ++turn) {
    const double wall = wall_ms(), cpu = cpu_ms();
    tessera::Tensor loss;
    for (int i = 0; i < o.steps; ++i) {
      loss = training.step();
    }
    const double ms = (wall_ms() - wall) / o.steps, of_cores = (cpu_ms() - cpu) / o.steps;
    std::cout << R"({"step": )" << turn << R"(, "ms": )" << ms << R"(, "cpu_ms": )" << of_cores
              << R"(, "loss": )" << loss.item<double>() << "}" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  tessera::set_num_threads(options.threads);
  tessera::pin_threads(0);
  tessera::set_seed(1);
  const auto training = kModels.at(options.model)(tessera::parse_dtype(options.dtype));
  serve(*training, options);
  return 0;
}
