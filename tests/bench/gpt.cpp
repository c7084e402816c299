// A step server that trains a GPT: see README.md. One training step for each line "step".

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <sstream>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/slice.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/fake.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/reduce/global_mean.h>

#include "examples/gpt/data.h"
#include "examples/gpt/init_file.h"
#include "examples/gpt/model.h"
#include "examples/gpt/plan.h"
#include "support/replay.h"

namespace dist = tessera::dist;
namespace nn = tessera::nn;

namespace {

struct BenchOptions {
  Options run;
  std::int64_t positions = 1024;
  std::int64_t padding = 0;
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
  app.add_option("--padding", o.padding)->check(CLI::NonNegativeNumber);
  app.add_option("--comm", o.comm)->check(CLI::IsMember({"real", "none", "only"}));
  app.add_flag("--checkpoint-activations", o.run.checkpoint_activations);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
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
  dist::barrier(comm, "all are awake").wait();
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
          .tied = !o.run.untied,
          .checkpoint_activations = o.run.checkpoint_activations};
}

/// The real communicator, one that moves nothing, or one whose steps can be replayed.
std::shared_ptr<dist::Communicator> group_of(const BenchOptions& o, const dist::World& world) {
  if (o.comm == "none") {
    return dist::make_fake(world.rank(), world.size());
  }
  if (o.comm == "only") {
    return std::make_shared<tessera::bench::Replay>(world.communicator());
  }
  return world.communicator();
}

/// Forward, backward and update, once a pass, until the step is whole; the last `padding` targets
/// of each window count nothing.
void train(const tessera::nn::Ptr<Gpt>& model, tessera::optim::AdamW& optimizer,
           Loader::Iterator& pass, tessera::DType dtype, std::int64_t padding,
           dist::GlobalMean& mean) {
  constexpr int kIgnored = -100;  // the default of losses
  while (true) {
    auto& [x, y] = *pass;
    if (padding > 0) {
      tessera::fill_(tessera::slice(y, 1, y.size(1) - padding, y.size(1)), kIgnored);
    }
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

nn::Ptr<Gpt> make_model(const BenchOptions& o, dist::Communicator& comm) {
  auto model = nn::make<Gpt>(config_of(o));
  if (!o.run.init.empty()) {
    load_init(*model, o.run.init, comm);
  }
  return model;
}

/// Answers every line "step" with one step.
class Server {
 public:
  Server(const BenchOptions& o, const dist::World& world)
      : comm_(*world.communicator()),
        group_(group_of(o, world)),
        replay_(std::dynamic_pointer_cast<tessera::bench::Replay>(group_)),
        loader_(cut_windows(load_tokens(o.run.data), o.run), loader_options(o.run)),
        model_(make_model(o, comm_)),
        reducer_(world.size() == 1
                     ? nullptr
                     : dist::data_parallel(*model_, group_, {.grain = loader_.grain()})),
        optimizer_(make_optimizer(*model_, o.run)),
        dtype_(tessera::parse_dtype(o.run.dtype)),
        padding_(o.padding),
        pass_(loader_.begin()) {}

  void serve() {
    print(R"({"ready": true, "name": "tessera"})");
    while (asked(comm_)) {
      const double ms = slowest(comm_, step());
      std::ostringstream answer;
      answer << R"({"step": )" << steps_ << R"(, "ms": )" << ms << R"(, "loss": )" << loss()
             << R"(, "grad_norm": )" << optimizer_.gradient_norm() << "}";
      print(answer.str());
    }
  }

 private:
  /// Communication alone is that of the fifth step: by then buckets leave out what brings only
  /// rows.
  static constexpr int kRealSteps = 5;

  [[nodiscard]] bool alone() const { return replay_ != nullptr && steps_ > kRealSteps; }

  /// Its milliseconds on this rank.
  double step() {
    const auto begin = std::chrono::steady_clock::now();
    if (++steps_; alone()) {
      replay_->again();
      return milliseconds_since(begin);
    }
    if (replay_ != nullptr) {
      replay_->clear();
    }
    train(model_, optimizer_, pass_, dtype_, padding_, mean_);
    return milliseconds_since(begin);
  }

  /// Of the latest real step. Also turns to the next batch, which is no part of a step.
  double loss() {
    if (!alone()) {
      loss_ = mean_.take(comm_);
      ++pass_;
    }
    return loss_;
  }

  void print(const std::string& line) {
    if (comm_.rank() == 0) {
      std::cout << line << std::endl;
    }
  }

  dist::Communicator& comm_;
  std::shared_ptr<dist::Communicator> group_;
  std::shared_ptr<tessera::bench::Replay> replay_;
  Loader loader_;
  nn::Ptr<Gpt> model_;
  std::shared_ptr<dist::GradientReducer> reducer_;
  tessera::optim::AdamW optimizer_;
  tessera::DType dtype_;
  std::int64_t padding_;
  dist::GlobalMean mean_;
  Loader::Iterator pass_;
  int steps_ = 0;
  double loss_ = 0;
};

int serve(const BenchOptions& o) {
  // While others have their turns, ranks wait in a broadcast.
  const auto world =
      dist::World::start({.comm_timeout = std::chrono::hours(1), .threads = o.run.threads});
  return world.run(
      [&] {
        tessera::set_seed(o.run.seed);
        Server(o, world).serve();
      },
      "bench_gpt");
}

}  // namespace

int main(int argc, char** argv) {
  const BenchOptions options = parse(argc, argv);
  try {
    return serve(options);
  } catch (const std::exception& error) {  // no world was formed
    std::cerr << "bench_gpt: " << error.what() << '\n';
    return 1;
  }
}
