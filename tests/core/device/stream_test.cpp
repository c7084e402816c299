#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>

#include <tessera/core/base/log.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/device/stream.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps a stream busy until it is opened.
class Gate {
 public:
  explicit Gate(Stream& stream) {
    stream.launch([this] { open_.wait(); });
  }
  void open() { open_.count_down(); }

 private:
  std::latch open_{1};
};

TEST(Stream, runs_work_in_order_of_launch) {
  const auto stream = Stream::make_worker("ordered");
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    stream->launch([&order, i] { order.push_back(i); });
  }
  stream->synchronize();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Stream, streams_run_beside_each_other) {
  const auto a = Stream::make_worker("a");
  const auto b = Stream::make_worker("b");
  std::latch both(2);  // each waits for the other: in turn they would never end
  a->launch([&] { both.arrive_and_wait(); });
  b->launch([&] { both.arrive_and_wait(); });
  a->synchronize();
  b->synchronize();
}

TEST(Stream, an_event_is_done_when_the_work_before_it_is) {
  const auto stream = Stream::make_worker("gated");
  Gate gate(*stream);
  const Event event = stream->record();
  EXPECT_FALSE(event.done());
  gate.open();
  event.wait();
  EXPECT_TRUE(event.done());
  EXPECT_TRUE(Event().done());
}

TEST(Stream, waits_for_events_of_other_streams) {
  const auto first = Stream::make_worker("first");
  const auto second = Stream::make_worker("second");
  Gate gate(*first);
  std::atomic<bool> ran = false;
  first->launch([&] { ran = true; });
  second->wait_for(first->record());
  std::atomic<bool> saw = false;
  const Event end = second->launch([&] { saw = ran.load(); });
  EXPECT_FALSE(end.done());
  gate.open();
  end.wait();
  EXPECT_TRUE(saw);
}

TEST(Stream, inherits_the_context_of_its_maker) {
  auto context = std::make_shared<Context>();
  context->rank = 5;
  std::shared_ptr<Stream> stream;
  {
    const ContextScope scope(context);
    stream = Stream::make_worker("of rank 5");
  }
  int rank = 0;
  stream->launch([&] { rank = Context::current().rank; });
  stream->synchronize();
  EXPECT_EQ(rank, 5);
}

TEST(Stream, rethrows_the_first_error_at_each_wait_and_drops_later_work) {
  const auto stream = Stream::make_worker("failing");
  bool ran = false;
  stream->launch([] { throw Broken("first"); });
  stream->launch([&] { ran = true; });
  EXPECT_THROW(stream->synchronize(), Broken);
  EXPECT_THROW(stream->synchronize(), Broken);
  EXPECT_FALSE(ran);
}

TEST(Stream, logs_an_error_that_nobody_waited_for) {
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  Stream::make_worker("forgotten")->launch([] { throw Broken("the cause"); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("stream forgotten"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("the cause"), std::string::npos) << lines[0];
}

TEST(Stream, finishes_its_work_before_it_ends) {
  std::atomic<int> done = 0;
  {
    const auto stream = Stream::make_worker("ending");
    for (int i = 0; i < 20; ++i) {
      stream->launch([&] { ++done; });
    }
  }
  EXPECT_EQ(done, 20);
}

// --- kernels on streams --------------------------------------------------------------------------

TEST(Hazards, kernels_on_a_worker_stream_run_later_and_host_reads_wait) {
  const auto stream = Stream::make_worker("worker");
  Gate gate(*stream);
  const Tensor x = full({4}, 3);
  Tensor y;
  {
    const StreamScope scope(*stream);
    y = x * x;
  }
  EXPECT_NE(y.get().storage->sync(), nullptr);
  gate.open();
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(4, 9));
  EXPECT_EQ((y * y).data<float>()[3], 81);  // the inline stream waits too
}

TEST(Hazards, the_inline_stream_leaves_no_trace) {
  const Tensor x = full({4}, 3);
  const Tensor y = x * x;
  EXPECT_EQ(x.get().storage->sync(), nullptr);
  EXPECT_EQ(y.get().storage->sync(), nullptr);
}

/// Many dependent steps that hop between two streams, in place and out of place.
TEST(Hazards, two_streams_on_shared_tensors_compute_what_one_does) {
  const auto a = Stream::make_worker("a");
  const auto b = Stream::make_worker("b");
  const Tensor x = full({257}, 1);
  const Tensor sum = zeros({257});
  float expected_x = 1;
  float expected_sum = 0;
  for (int i = 0; i < 200; ++i) {
    {
      const StreamScope scope(i % 2 == 0 ? *a : *b);
      add_(sum, x);  // reads x
    }
    expected_sum += expected_x;
    const StreamScope scope(i % 3 == 0 ? *a : *b);
    add_(x, full({257}, 1));  // must wait for the read
    expected_x += 1;
  }
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(257, expected_sum));
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(257, expected_x));
}

TEST(Hazards, a_write_waits_for_reads_on_other_streams) {
  const auto reader = Stream::make_worker("reader");
  const auto writer = Stream::make_worker("writer");
  const Tensor x = full({8}, 2);
  Gate gate(*reader);
  Tensor twice;
  {
    const StreamScope scope(*reader);
    twice = x + x;
  }
  {
    const StreamScope scope(*writer);
    add_(x, full({8}, 5));
  }
  EXPECT_FALSE(writer->record().done());
  gate.open();
  EXPECT_EQ(twice.to_vector<float>(), std::vector<float>(8, 4));
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(8, 7));
}

TEST(Hazards, a_host_pointer_waits_for_readers_because_it_may_be_written_through) {
  const auto reader = Stream::make_worker("reader");
  const Tensor x = full({8}, 2);
  Gate gate(*reader);
  Tensor twice;
  {
    const StreamScope scope(*reader);
    twice = x + x;
  }
  const auto helper = Stream::make_worker("opens the gate");
  helper->launch([&] { gate.open(); });
  x.data<float>()[0] = 100;
  EXPECT_EQ(twice.to_vector<float>(), std::vector<float>(8, 4));
}

TEST(Hazards, independent_kernels_do_not_wait_for_each_other) {
  const auto slow = Stream::make_worker("slow");
  const auto fast = Stream::make_worker("fast");
  Gate gate(*slow);
  const Tensor x = full({8}, 2);  // read by both
  Tensor blocked;
  Tensor free;
  {
    const StreamScope scope(*slow);
    blocked = x + x;
  }
  {
    const StreamScope scope(*fast);
    free = x * x;
  }
  EXPECT_EQ(free.to_vector<float>(), std::vector<float>(8, 4));  // would hang if it waited
  gate.open();
  EXPECT_EQ(blocked.to_vector<float>(), std::vector<float>(8, 4));
}

TEST(Hazards, memory_lives_until_pending_kernels_ran) {
  const auto stream = Stream::make_worker("worker");
  Gate gate(*stream);
  Tensor sum;
  {
    const Tensor x = full({1 << 12}, 2);
    const StreamScope scope(*stream);
    sum = x + x;
  }                                          // the only handle on x is gone
  const Tensor other = full({1 << 12}, 77);  // would take over x's memory
  gate.open();
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>(1 << 12, 4));
  EXPECT_EQ(other.to_vector<float>(), std::vector<float>(1 << 12, 77));
}

TEST(Hazards, nothing_is_held_once_a_kernel_ran) {
  const auto stream = Stream::make_worker("worker");
  const Tensor x = full({8}, 2);
  {
    const StreamScope scope(*stream);
    static_cast<void>(x + x);
  }
  stream->synchronize();
  EXPECT_EQ(x.get().storage->use_count(), 1U);
}

struct Exploding {
  static constexpr OpInfo info{.name = "exploding", .doc = "throws", .differentiable = false};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&) { c.add_output(c.input().shape(), c.input().dtype()); }
  static void reference(Kernel&, const Attrs&) { throw Broken("kernel"); }
};

TEST(Hazards, a_kernels_error_reaches_everybody_who_reads_its_result) {
  const auto a = Stream::make_worker("a");
  const auto b = Stream::make_worker("b");
  const Tensor x = full({8}, 2);
  Tensor bad;
  Tensor derived;
  {
    const StreamScope scope(*a);
    bad = call<Exploding>({x});
  }
  {
    const StreamScope scope(*b);
    derived = bad + x;
  }
  EXPECT_THROW(static_cast<void>(derived.to_vector<float>()), Broken);
  EXPECT_THROW(static_cast<void>(bad.data<float>()), Broken);
  EXPECT_THROW(static_cast<void>(bad + x), Broken);  // inline
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(8, 2));
}

TEST(Hazards, shape_errors_are_thrown_at_the_call) {
  const auto stream = Stream::make_worker("worker");
  const StreamScope scope(*stream);
  EXPECT_THROW(static_cast<void>(zeros({2}) + zeros({3})), InvalidArgument);
}

TEST(Hazards, backward_runs_on_the_stream_too) {
  const auto stream = Stream::make_worker("worker");
  Tensor x = full({64}, 3);
  x.set_requires_grad(true);
  {
    const StreamScope scope(*stream);
    const Tensor y = x * x * x;
    y.backward(full({64}, 1));
  }
  EXPECT_EQ(x.grad().to_vector<float>(), std::vector<float>(64, 27));
}

}  // namespace
}  // namespace tessera
