// All-reduce of f32 between the ranks of this host: the communicator's own buffers, private ones,
// and MPI's, turn by turn. Run under mpirun with 2 and 4 ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/reduce/tree_sum.h>
#include <tessera/dist/world.h>

namespace {

using namespace tessera;

constexpr std::array<std::size_t, 11> kSizes{
    8, 64, 512, 4096, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};
constexpr int kSamples = 9;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Calls in a sample: enough to last some milliseconds.
int calls_for(std::size_t bytes) {
  return static_cast<int>(std::clamp<std::size_t>((32 << 20) / (bytes + 8192), 1, 2000));
}

struct Contender {
  const char* backend;
  std::span<float> buffer;
  std::function<void(std::size_t count)> all_reduce;
  std::vector<double> samples;
};

/// Random numbers in (0, 1), other ones on every rank.
void fill(std::span<float> buffer, int rank) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  for (float& value : buffer) {
    value = std::uniform_real_distribution<float>(0.01F, 1)(random);
  }
}

/// What a step does to its gradients between two all-reduces: reads the sums, writes the rank's own
/// numbers. The mean keeps them in range.
void use(std::span<float> buffer, int ranks) {
  const float share = 1 / static_cast<float>(ranks);
  for (float& value : buffer) {
    value *= share;
  }
}

class Rows {
 public:
  void add(const std::string& name, double seconds, const std::string& labels) {
    text_ += (text_.empty() ? "" : ", ") + ("{\"name\": \"" + name + "\", \"value\": ") +
             std::to_string(seconds * 1e9) + "e-9, \"unit\": \"s\"" + labels + "}";
  }
  void print() const { std::printf("{\"bench\": \"allreduce\", \"rows\": [%s]}\n", text_.c_str()); }

 private:
  std::string text_;
};

/// The time of calls alone: ranks use their buffers before each and then meet.
double time_of_calls(dist::Communicator& comm, Contender& contender, std::size_t count, int calls) {
  double seconds = 0;
  for (int call = 0; call < calls; ++call) {
    use(contender.buffer.first(count), comm.size());
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    contender.all_reduce(count);
    seconds += now() - start;
  }
  return seconds;
}

/// Messages so small that the clock and the meeting would count: one call after another.
double time_of_loop(dist::Communicator& comm, Contender& contender, std::size_t count, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (int call = 0; call < calls; ++call) {
    use(contender.buffer.first(count), comm.size());
    contender.all_reduce(count);
  }
  return now() - start;
}

void sample(dist::Communicator& comm, Contender& contender, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  const int calls = calls_for(bytes);
  contender.all_reduce(count);
  const auto timed = bytes < (32 << 10) ? time_of_loop : time_of_calls;
  contender.samples.push_back(timed(comm, contender, count, calls) / calls);
}

void measure_sizes(dist::Communicator& comm, std::vector<Contender>& contenders, Rows& rows) {
  std::vector<double> logs(contenders.size());
  for (const std::size_t bytes : kSizes) {
    for (Contender& contender : contenders) {
      contender.samples.clear();
    }
    for (int round = 0; round < kSamples; ++round) {
      for (Contender& contender : contenders) {
        sample(comm, contender, bytes);
      }
    }
    if (comm.rank() != 0) {
      continue;
    }
    std::fprintf(stderr, "%10zu bytes", bytes);
    const double rival = median(contenders.back().samples);
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const double seconds = median(contenders[i].samples);
      logs[i] += std::log(rival / seconds) / kSizes.size();
      std::fprintf(stderr, "  %s %10.2f us (%6.2fx)", contenders[i].backend, seconds * 1e6,
                   rival / seconds);
      rows.add("all_reduce", seconds,
               std::string(", \"backend\": \"") + contenders[i].backend + "\", \"ranks\": " +
                   std::to_string(comm.size()) + ", \"bytes\": " + std::to_string(bytes));
    }
    std::fprintf(stderr, "\n");
  }
  for (std::size_t i = 0; comm.rank() == 0 && i < contenders.size(); ++i) {
    std::fprintf(stderr, "%s: geometric mean of mpi / ours %.2f\n", contenders[i].backend,
                 std::exp(logs[i]));
  }
}

/// One order after another in which four blocks may arrive, as additions to the first.
class Arrivals {
 public:
  std::array<dist::TreeStep, 3> next() {
    std::ranges::next_permutation(order_);
    return {{{order_[0], order_[1]}, {order_[0], order_[2]}, {order_[0], order_[3]}}};
  }

 private:
  std::array<int, 4> order_{0, 1, 2, 3};
};

/// Four contributions, as 4 ranks with 2 of 8 microbatches each give them, all in memory: added
/// along the tree, and one after another in each order in which they may arrive.
void measure_order(Rows& rows) {
  constexpr std::size_t kCount = 4 << 20;
  constexpr int kWarmup = 2;
  constexpr int kRounds = 48;  // of some milliseconds; each of the 24 orders twice
  std::vector<std::vector<float>> blocks(4, std::vector<float>(kCount));
  std::vector<dist::TreeSource> sources;
  for (auto& block : blocks) {
    fill(block, static_cast<int>(sources.size()));
    sources.push_back({block.data(), false});
  }
  std::vector<float> sum(kCount);
  void* destination = sum.data();
  const auto timed = [&](std::span<const dist::TreeStep> steps) {
    const double start = now();
    dist::tree_reduce({dist::ReduceOp::sum, DType::f32, steps, sources, {&destination, 1}, kCount});
    return now() - start;
  };
  const dist::ReductionTree tree = dist::ReductionTree::over_grain(8, 4);
  Arrivals arrivals;
  std::vector<double> fixed;
  std::vector<double> arrived;
  for (int round = 0; round < kWarmup + kRounds; ++round) {
    const double in_order = timed(tree.steps());
    const double as_arrived = timed(arrivals.next());
    if (round >= kWarmup) {
      fixed.push_back(in_order);
      arrived.push_back(as_arrived);
    }
  }
  rows.add("reduce_fixed_order", median(fixed), "");
  rows.add("reduce_arrival_order", median(arrived), "");
}

void run(dist::Communicator& comm) {
  const dist::CommBuffer shared = comm.allocate(kSizes.back());
  std::vector<float> owned(kSizes.back() / sizeof(float));
  std::vector<float> rival(owned.size());
  const std::span reachable(reinterpret_cast<float*>(shared.data), owned.size());
  for (const std::span<float> buffer : {reachable, std::span(owned), std::span(rival)}) {
    fill(buffer, comm.rank());
  }
  std::vector<Contender> contenders{
      {"tessera",
       reachable,
       [&](std::size_t n) { dist::all_reduce<float>(comm, reachable.first(n)).wait(); },
       {}},
      {"tessera_private",
       owned,
       [&](std::size_t n) { dist::all_reduce<float>(comm, std::span(owned).first(n)).wait(); },
       {}},
      {"mpi",
       rival,
       [&](std::size_t n) {
         MPI_Allreduce(MPI_IN_PLACE, rival.data(), static_cast<int>(n), MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
       },
       {}}};
  Rows rows;
  measure_sizes(comm, contenders, rows);
  if (comm.rank() == 0) {
    if (comm.size() == 4) {
      measure_order(rows);
    }
    rows.print();
  }
  dist::barrier(comm).wait();
}

}  // namespace

int main() {
  const auto world = tessera::dist::World::start();
  return world.run([&] { run(*world.communicator()); }, "bench_allreduce");
}
