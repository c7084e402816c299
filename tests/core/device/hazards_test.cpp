// Streams and hazards, on the device whose work comes late.

#include <stdexcept>

#include <tessera/core/base/context.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/ops/sum_to.h>

#include <gtest/gtest.h>

#include <tessera/core/base/log.h>
#include <tessera/core/device/stream.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

#include "support/error_of.h"
#include "support/guarded_device.h"

namespace tessera {
namespace {

using test::guarded_device;
using test::GuardedRun;
using Sentences = std::vector<std::string>;
using Zeros = std::vector<float>;

Tensor there(const Shape& shape, double value) {
  return full(shape, value, {.device = guarded_device()});
}

template <class F>
auto on(const Stream& stream, const F& f) {
  const StreamScope scope(stream.id());
  return f();
}

TEST(Streams, belong_to_devices_whose_work_is_done_later) {
  EXPECT_EQ(testing_support::error_of([] { const Stream stream(Device{}, "copies"); }),
            "stream copies: cpu has no streams; expected a device whose work is done later");
  EXPECT_THROW(Stream(Device::parse("xpu"), "copies"), NotImplementedError);
  const Stream stream(guarded_device(1), "copies");
  EXPECT_EQ(stream.id().device, guarded_device(1));
  const StreamScope scope(stream.id());
  EXPECT_EQ(current_stream(guarded_device(1)), stream.id());
  EXPECT_EQ(current_stream(guarded_device(0)), StreamId{guarded_device(0)});
  EXPECT_EQ(current_stream(Device{}), StreamId{});
}

TEST(Hazards, work_on_the_host_leaves_none) {
  const Tensor x = full({4}, 3);
  const Tensor y = x * x;
  EXPECT_EQ(x.get().storage->sync(), nullptr);
  EXPECT_EQ(y.get().storage->sync(), nullptr);
}

TEST(Hazards, are_forgotten_once_reached) {
  const GuardedRun run(1);
  const Tensor x = there({4}, 3);
  const Tensor y = x * x;
  EXPECT_TRUE(y.get().storage->has_hazards());
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(4, 9));
  wait_until_readable(*y.get().storage);
  EXPECT_FALSE(y.get().storage->has_hazards());
}

TEST(Hazards, of_all_parts_are_forgotten_where_one_is_asked_for) {
  const GuardedRun run(1);
  const Tensor whole = there({8}, 3);
  const auto part = [&](std::size_t offset) {
    auto bytes = make_ref<Storage>(whole.get().storage, offset, 16);
    return Tensor(make_ref<TensorImpl>(std::move(bytes), Shape{4}, DType::f32, guarded_device()));
  };
  const Tensor first = part(0), second = part(16);
  add_(second, second);
  add_(first, first);
  EXPECT_TRUE(second.get().storage->has_hazards());
  EXPECT_EQ(first.to_vector<float>(), std::vector<float>(4, 6));  // after the other, on one stream
  wait_until_readable(*first.get().storage);
  EXPECT_FALSE(second.get().storage->has_hazards());
  EXPECT_EQ(second.to_vector<float>(), std::vector<float>(4, 6));
}

/// Many dependent steps that hop between two streams, in place and out of place.
TEST(Hazards, two_streams_on_shared_tensors_compute_what_one_does) {
  for (const std::uint64_t order : test::orders(20, 5)) {
    GuardedRun run(order);
    {
      const Stream a(guarded_device(), "a"), b(guarded_device(), "b");
      const Tensor x = there({257}, 1), sum = there({257}, 0);
      float expected_x = 1, expected_sum = 0;
      for (int i = 0; i < 50; ++i) {
        on(i % 2 == 0 ? a : b, [&] { return add_(sum, x); });  // reads x
        expected_sum += expected_x;
        on(i % 3 == 0 ? a : b, [&] { return add_(x, there({257}, 1)); });  // waits for the read
        expected_x += 1;
      }
      EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(257, expected_sum));
      EXPECT_EQ(x.to_vector<float>(), std::vector<float>(257, expected_x));
    }
    EXPECT_EQ(run.reports(), Sentences{});
  }
}

TEST(Hazards, numbers_reach_kernels_by_value) {
  for (const std::uint64_t order : test::orders(20, 5)) {
    GuardedRun run(order);
    const Tensor number = full({}, 3);
    const Tensor y = there({8}, 2) * number;
    number.data<float>()[0] = 100;
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(8, 6));
    EXPECT_EQ(run.reports(), Sentences{});
  }
}

TEST(Hazards, memory_is_free_when_the_streams_that_use_it_are_done) {
  for (const std::uint64_t order : test::orders(20, 5)) {
    GuardedRun run(order);
    {
      const Stream side(guarded_device(), "side");
      Tensor sum;
      {
        const Tensor x = there({64}, 2);
        sum = on(side, [&] { return x + x; });
      }                                      // the only handle on x is gone
      const Tensor other = there({64}, 77);  // takes over x's memory
      EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(64, 4));
      EXPECT_EQ(other.to_vector<float>(), std::vector<float>(64, 77));
    }
    EXPECT_EQ(run.reports(), Sentences{});
  }
}

TEST(Hazards, copies_between_devices_and_zeros_are_work_of_streams) {
  for (const std::uint64_t order : test::orders(20, 5)) {
    GuardedRun run(order);
    {
      const Stream side(guarded_device(), "side");
      const Tensor x = on(side, [&] { return there({64}, 2) * there({64}, 4); });
      const Tensor copy = on_device(x, guarded_device(1));
      EXPECT_TRUE(copy.get().storage->has_hazards());
      set_to_zero(x);
      EXPECT_EQ((copy + copy).to_vector<float>(), std::vector<float>(64, 16));
      EXPECT_EQ((x + x).to_vector<float>(), std::vector<float>(64, 0));
      EXPECT_EQ(zeros({3}, {.device = guarded_device()}).to_vector<float>(), Zeros(3));
    }
    EXPECT_EQ(run.reports(), Sentences{});
  }
}

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Exploding {
  static constexpr OpInfo info{.name = "exploding", .doc = "throws", .differentiable = false};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&) { c.add_output(c.input().shape(), c.input().dtype()); }
  static void reference(Kernel&, const Attrs&) { throw Broken("kernel"); }
};

TEST(Hazards, a_kernels_error_reaches_everybody_who_reads_its_result) {
  const GuardedRun run(1);
  std::vector<std::string> lines;
  {
    const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
    const Stream a(guarded_device(), "a"), b(guarded_device(), "b");
    const Tensor x = there({8}, 2);
    const Tensor bad = on(a, [&] { return call<Exploding>({x}); });
    EXPECT_THROW(  // at the call or later: the kernel may have run by then
        static_cast<void>(on(b, [&] { return bad + x; }).to_vector<float>()), Broken);
    EXPECT_THROW(static_cast<void>(bad.to_vector<float>()), Broken);
    EXPECT_THROW(static_cast<void>(bad.to_vector<float>()), Broken);
    EXPECT_EQ(x.to_vector<float>(), std::vector<float>(8, 2));
  }
  ASSERT_GE(lines.size(), 1U);
  EXPECT_NE(lines.back().find(": kernel"), std::string::npos) << lines.back();
}

TEST(Hazards, shape_errors_are_thrown_at_the_call) {
  EXPECT_THROW(static_cast<void>(there({2}, 1) + there({3}, 1)), InvalidArgument);
}

TEST(Hazards, backward_runs_on_the_stream_too) {
  for (const std::uint64_t order : test::orders(20, 5)) {
    GuardedRun run(order);
    Tensor x = there({64}, 3);
    x.set_requires_grad(true);
    (x * x * x).backward(there({64}, 1));
    EXPECT_EQ(x.grad().to_vector<float>(), std::vector<float>(64, 27));
    EXPECT_EQ(run.reports(), Sentences{});
  }
}

/// Each kind of wait once: of a read for a write, of a write for reads, of the host for both, of a
/// copy and of zeros, of memory for the streams that used it, of a stream for memory's end.
void wait_at_each_site(const Stream& a, const Stream& b) {
  const Tensor x = there({64}, 2);
  const Tensor y = on(a, [&] { return x + x; });
  const Tensor z = on(b, [&] { return y * x; });  // reads what a writes
  on(a, [&] { return add_(y, x); });              // writes what b reads
  static_cast<void>(z.to_vector<float>());        // the host reads what b writes
  transfer(x, full({64}, 1));                     // the host writes what a reads
  const Tensor u = on(a, [&] { return x * y; });
  const Tensor copy = on_device(u, guarded_device(1));  // another device copies what a writes
  set_to_zero(u);                                       // writes what that reads
  static_cast<void>(copy.to_vector<float>());
  {
    const Tensor w = on(a, [&] { return x * y; });
    static_cast<void>(on(b, [&] { return w * z; }));
  }                                               // b waits for a; w ends, at home on a
  const Tensor v = on(b, [&] { return x * z; });  // may take over what was w's
  static_cast<void>(v.to_vector<float>());
}

TEST(Hazards, whichever_wait_is_left_out_the_clocks_miss_it) {
  const Stream a(guarded_device(), "a"), b(guarded_device(), "b");
  std::size_t most = 0;
  for (const std::uint64_t order : test::orders(20, 5)) {
    std::size_t waits = 0;
    {
      GuardedRun run(order);
      wait_at_each_site(a, b);
      EXPECT_EQ(run.reports(), Sentences{});
      waits = run.waits();
    }
    most = std::max(most, waits);
    for (std::size_t i = 0; i < waits; ++i) {
      GuardedRun run(order, i);
      wait_at_each_site(a, b);
      EXPECT_GE(run.reports().size(), 1U) << "wait " << i << " of " << waits;
    }
  }
  EXPECT_GE(most, 6U);
}

TEST(Hazards, a_parameter_that_a_pass_does_not_use_stays_on_its_device) {
  GuardedRun run(1);
  const ContextScope scope(std::make_shared<Context>());
  Tensor a = there({3}, 1);
  Tensor b = there({3}, 1);
  a.set_requires_grad(true);
  b.set_requires_grad(true);
  for (std::int64_t m = 0; m < 2; ++m) {
    Context::current().pass = {
        .grain = 2, .first = m, .count = 1, .first_sample = m, .samples = 1, .last = m == 1};
    sum_to(m == 0 ? a * b : b * 2.0, {}).backward();
  }
  EXPECT_EQ(a.grad().to_vector<float>(), std::vector<float>(3, 0.5F));
  EXPECT_EQ(b.grad().to_vector<float>(), std::vector<float>(3, 1.5F));
  EXPECT_EQ(run.reports(), Sentences{});
}

}  // namespace
}  // namespace tessera
