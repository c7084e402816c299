// All-reduce of f32 between the ranks of this host: the communicator's own buffers, private ones,
// and MPI's, turn by turn. Run under mpirun with 2 and 4 ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
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
  std::function<void(std::size_t count)> all_reduce;
  std::vector<double> samples;
};

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

void sample(dist::Communicator& comm, Contender& contender, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  const int calls = calls_for(bytes);
  contender.all_reduce(count);
  dist::barrier(comm).wait();
  const double start = now();
  for (int call = 0; call < calls; ++call) {
    contender.all_reduce(count);
  }
  contender.samples.push_back((now() - start) / calls);
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

/// Four contributions, as 4 ranks with 2 of 8 microbatches each give them: added along the tree,
/// and one after another as they arrive.
void measure_order(Rows& rows) {
  constexpr std::size_t kCount = 4 << 20;
  std::vector<std::vector<float>> blocks(4, std::vector<float>(kCount, 1.0F));
  std::vector<dist::TreeSource> sources;
  for (const auto& block : blocks) {
    sources.push_back({block.data(), false});
  }
  std::vector<float> sum(kCount);
  void* destination = sum.data();
  const dist::ReductionTree tree = dist::ReductionTree::over_grain(8, 4);
  const std::vector<dist::TreeStep> arrival{{2, 0}, {2, 3}, {2, 1}};
  std::vector<double> fixed;
  std::vector<double> arrived;
  const auto timed = [&](std::span<const dist::TreeStep> steps) {
    const double start = now();
    dist::tree_reduce(dist::ReduceOp::sum, DType::f32, steps, sources, {&destination, 1}, kCount);
    return now() - start;
  };
  for (int round = 0; round < kSamples + 2; ++round) {
    const double in_order = timed(tree.steps());
    const double as_arrived = timed(arrival);
    if (round >= 2) {
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
  auto* reachable = reinterpret_cast<float*>(shared.data);
  std::vector<Contender> contenders{
      {"tessera",
       [&](std::size_t n) {
         dist::all_reduce<float>(comm, {reachable, n}).wait();
       },
       {}},
      {"tessera_private",
       [&](std::size_t n) { dist::all_reduce<float>(comm, std::span(owned).first(n)).wait(); },
       {}},
      {"mpi",
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
