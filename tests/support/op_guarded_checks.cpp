// Ops on the guarded device: the CPU's bits, whatever the order of work, and no access that nothing
// orders.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "support/guarded_device.h"
#include "support/op_checks.h"
#include "support/op_problem.h"
#include "support/op_tools.h"

#include <tessera/core/device/stream.h>
#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::test {
namespace {

/// Streams that calls go to in turn; the device's default one is among them.
class Streams {
 public:
  Streams() : first_(guarded_device(), "first"), second_(guarded_device(), "second") {}
  [[nodiscard]] StreamId next() {
    const std::array all{StreamId{guarded_device()}, first_.id(), second_.id()};
    return all[calls_++ % all.size()];
  }

 private:
  Stream first_, second_;
  std::size_t calls_ = 0;
};

std::vector<Tensor> moved(const std::vector<Tensor>& tensors, Streams& streams) {
  std::vector<Tensor> there;
  for (const Tensor& x : tensors) {
    const StreamScope scope(streams.next());
    there.push_back(x.defined() ? on_device(x, guarded_device()) : x);
  }
  return there;
}

template <class Tensors>
void expect_equal(const Tensors& there, const Tensors& here, const std::string& what) {
  ASSERT_EQ(there.size(), here.size()) << what;
  for (std::size_t i = 0; i < here.size(); ++i) {
    ASSERT_EQ(there[i].defined(), here[i].defined()) << what;
    if (here[i].defined()) {
      EXPECT_EQ(there[i].device(), guarded_device()) << what;
      expect_same_bits(to_host(there[i]), here[i], what);
    }
  }
}

/// What `sample` gives, twice on other streams: what the first call used is free by then.
void expect_same_forward(const OpCaseData& c, const SampleData& sample, DType dtype,
                         Streams& streams, const std::string& what) {
  const auto attrs = sample.attrs_in(dtype);
  const std::vector<Tensor> inputs = make_inputs(sample, dtype);
  const Outputs here = run_op(*c.op, inputs, attrs.get());
  for (int i = 0; i < 2; ++i) {
    const std::vector<Tensor> there = moved(inputs, streams);
    const StreamScope scope(streams.next());
    expect_equal(run_op(*c.op, there, attrs.get()), here, what);
  }
}

/// Writes over inputs, as optimizer steps do.
void expect_same_overwrites(const OpCaseData& c, const SampleData& sample, DType dtype,
                            Streams& streams, const std::string& what) {
  const auto attrs = sample.attrs_in(dtype);
  const auto overwrite = [&](std::vector<Tensor> inputs) {
    Outputs outputs;
    for (const int i : c.overwrites) {
      outputs.push_back(inputs[static_cast<std::size_t>(i)]);
    }
    const StreamScope scope(streams.next());
    call(*c.op, std::vector<TensorRef>(inputs.begin(), inputs.end()), attrs.get(), outputs);
    return outputs;
  };
  const Outputs here = overwrite(make_inputs(sample, dtype));
  expect_equal(overwrite(moved(make_inputs(sample, dtype), streams)), here, what);
}

void expect_same_gradients(const OpCaseData& c, const SampleData& sample, Streams& streams,
                           const std::string& what) {
  const Problem here = problem_of(c, sample);
  const std::vector<Tensor> seeds = seeds_of(here);
  const Problem there = problem_of(c, sample, moved(make_inputs(sample, DType::f64), streams));
  const std::vector<Tensor> expected = gradients(here, seeds);
  const std::vector<Tensor> seeds_there = moved(seeds, streams);
  const StreamScope scope(streams.next());
  const std::vector<Tensor> actual = gradients(there, seeds_there);
  expect_equal(actual, expected, "gradient of " + what);
}

}  // namespace

void check_guarded(const OpCaseData& c) {
  const std::string_view name = c.op->info.name;
  for (const std::uint64_t order : orders(5, 2, std::accumulate(name.begin(), name.end(), 0U))) {
    GuardedRun run(order);
    {
      Streams streams;
      for (const SampleData& sample : c.samples) {
        for (const DType dtype : c.dtypes) {
          const std::string what = std::string(name) + " in order " + std::to_string(order) +
                                   " in " + std::string(to_string(dtype));
          if (c.overwrites.empty()) {
            expect_same_forward(c, sample, dtype, streams, what);
          } else {
            expect_same_overwrites(c, sample, dtype, streams, what);
          }
        }
        if (c.op->info.differentiable && c.gradient) {
          expect_same_gradients(c, sample, streams, c.op->info.name);
        }
      }
    }
    EXPECT_EQ(run.reports(), std::vector<std::string>{}) << c.op->info.name;
  }
}

}  // namespace tessera::test
