// A step server that trains a GPT: see README.md. One training step for each line "step".

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/fake.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/reduce/global_mean.h>

#include "examples/gpt/data.h"
#include "examples/gpt/init_file.h"
#include "examples/gpt/model.h"
#include "examples/gpt/plan.h"

namespace dist = tessera::dist;

namespace {

struct BenchOptions {
  Options run;
  std::int64_t positions = 1024;
  std::string comm = "real";
};

BenchOptions parse(int argc, char** argv) {
  BenchOptions o;
  o.run.layers = 12;
  o.run.heads = 12;
  o.run.width = 768;
  o.run.vocab = 50257;
  o.run.batch = 4;
  o.run.threads = 2;
  o.run.lr = 1e-4;
  o.run.order = "sequential";
  CLI::App app("Trains a GPT step by step, on request.", "bench_gpt");
  app.add_option("--init", o.run.init);
  app.add_option("--data", o.run.data)->required();
  app.add_option("--layers", o.run.layers);
  app.add_option("--heads", o.run.heads);
  app.add_option("--width", o.run.width);
  app.add_option("--vocab", o.run.vocab);
  app.add_option("--positions", o.positions);
  app.add_option("--context", o.run.context);
  app.add_option("--batch", o.run.batch);
  app.add_option("--dtype", o.run.dtype);
  app.add_option("--threads", o.run.threads);
  app.add_option("--lr", o.run.lr);
  app.add_flag("--untied", o.run.untied);
  app.add_option("--grain", o.run.grain);
  app.add_option("--comm", o.comm)->check(CLI::IsMember({"real", "none"}));
  app.parse(argc, argv);
  return o;
}

/// True when rank 0 was asked for one more step; the other ranks sleep until then.
bool asked(dist::Communicator& comm) {
  std::vector<std::int32_t> go{0};
  if (comm.rank() == 0) {
    std::string line;
    go[0] = std::getline(std::cin, line) && line == "step" ? 1 : 0;
  }
  dist::broadcast(comm, std::span(go), 0, "one more step").wait();
  return go[0] != 0;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The slowest rank's time.
double slowest(dist::Communicator& comm, double ms) {
  std::vector<double> all{ms};
  dist::all_reduce(comm, std::span(all), dist::ReduceOp::max, "step time").wait();
  return all[0];
}

GptConfig config_of(const BenchOptions& o) {
  return {.layers = o.run.layers,
          .heads = o.run.heads,
          .width = o.run.width,
          .context = o.positions,
          .vocab = o.run.vocab,
          .tied = !o.run.untied};
}

std::shared_ptr<dist::GradientReducer> spread(Gpt& model, const BenchOptions& o,
                                              const dist::World& world, std::int64_t grain) {
  if (world.size() == 1) {
    return nullptr;
  }
  const bool real = o.comm == "real";
  const auto group = real ? world.communicator() : dist::make_fake(world.rank(), world.size());
  return dist::data_parallel(model, group, {.grain = grain});
}

/// Forward, backward and update, once a pass, until the step is whole.
void step(const tessera::nn::Ptr<Gpt>& model, tessera::optim::AdamW& optimizer,
          tessera::data::DataLoader::Iterator& pass, tessera::DType dtype, dist::GlobalMean& mean) {
  while (true) {
    auto& [x, y] = *pass;
    tessera::Tensor loss;
    {
      const tessera::AutocastScope autocast(dtype);
      loss = model(x, y);
    }
    loss.backward();
    mean.add(loss);
    optimizer.step();
    if (tessera::Context::current().pass.last) {
      return;
    }
    ++pass;
  }
}

void serve(const BenchOptions& o, const dist::World& world) {
  dist::Communicator& comm = *world.communicator();
  set_threads(o.run, world);
  tessera::set_seed(o.run.seed);
  tessera::data::DataLoader loader(load_tokens(o.run.data), loader_options(o.run));
  const auto model = tessera::nn::make<Gpt>(config_of(o));
  if (!o.run.init.empty()) {
    load_init(*model, o.run.init, comm);
  }
  const auto reducer = spread(*model, o, world, loader.grain());
  auto optimizer = make_optimizer(*model, o.run);
  const auto dtype = tessera::parse_dtype(o.run.dtype);
  dist::GlobalMean mean;
  auto pass = loader.begin();
  if (comm.rank() == 0) {
    std::cout << R"({"ready": true, "name": "tessera"})" << std::endl;
  }
  for (int number = 1; asked(comm); ++number) {
    const auto begin = std::chrono::steady_clock::now();
    step(model, optimizer, pass, dtype, mean);
    const double ms = slowest(comm, milliseconds_since(begin));
    const double loss = mean.take(comm);
    if (comm.rank() == 0) {
      std::cout << R"({"step": )" << number << R"(, "ms": )" << ms << R"(, "loss": )" << loss
                << R"(, "grad_norm": )" << optimizer.gradient_norm() << "}" << std::endl;
    }
    ++pass;  // the next batch is not part of a step
  }
}

}  // namespace

int main(int argc, char** argv) {
  const BenchOptions options = parse(argc, argv);
  const auto world = dist::World::start();
  return world.run([&] { serve(options, world); }, "bench_gpt");
}
