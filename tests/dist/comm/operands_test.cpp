// What collectives may be given to read and write, and how long they keep it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <tessera/core/device/storage.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/validate.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

using testing_support::error_of;

constexpr int kGroup = 3;
constexpr std::size_t kCount = 4;

/// A collective of one memory whose operands begin at these elements.
Collective within(std::vector<float>& memory, CollectiveKind kind, int send, int receive) {
  Collective c{.kind = kind, .count = kCount};
  c.send = Operand(memory.data() + send);
  c.receive = Operand(memory.data() + receive);
  c.peer = kind == CollectiveKind::broadcast ? 0 : -1;
  return c;
}

bool have_an_element_in_common(int a, std::size_t a_size, int b, std::size_t b_size) {
  for (std::size_t i = 0; i < a_size; ++i) {
    for (std::size_t k = 0; k < b_size; ++k) {
      if (static_cast<std::size_t>(a) + i == static_cast<std::size_t>(b) + k) {
        return true;
      }
    }
  }
  return false;
}

TEST(Operands, overlap_as_a_whole_or_not_at_all) {
  std::vector<float> memory(100);
  constexpr int kSend = 40;
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
    for (int rank = 0; rank < kGroup; ++rank) {
      for (int receive = kSend - 20; receive <= kSend + 20; ++receive) {
        const Collective c = within(memory, kind, kSend, receive);
        const int own = rank * static_cast<int>(kCount);
        const bool whole = receive == kSend ||
                           (kind == CollectiveKind::all_gather && kSend == receive + own) ||
                           (kind == CollectiveKind::reduce_scatter && receive == kSend + own) ||
                           !have_an_element_in_common(kSend, given_count(c, rank, kGroup), receive,
                                                      taken_count(c, kGroup));
        const std::string error = error_of<InvalidArgument>([&] { validate(c, rank, kGroup); });
        EXPECT_EQ(error == "no error", whole)
            << kind << " rank " << rank << " at " << receive << ": " << error;
      }
    }
  }
}

TEST(Operands, that_overlap_in_part_are_refused_in_one_sentence) {
  run_ranks(2, [](Communicator& comm) {
    std::vector<float> memory(6000);
    Collective c{.kind = CollectiveKind::all_reduce, .count = 5000};
    c.send = Operand(memory.data());
    c.receive = Operand(memory.data() + 1);
    EXPECT_EQ(error_of<InvalidArgument>([&] { comm.launch(c); }),
              "all_reduce: send and receive overlap in part; expected the same memory, or none in "
              "common");
    c.kind = CollectiveKind::all_gather;
    c.count = 2500;
    c.counts = {2500, 2500};
    c.receive = Operand(memory.data() + 1);
    EXPECT_EQ(error_of<InvalidArgument>([&] { comm.launch(c); }),
              "all_gather: send and receive overlap in part; expected the same memory, this rank's "
              "own part of it, or none in common");
  });
}

TEST(Operands, are_no_larger_than_memory) {
  const auto ranks = make_loopback(1);
  const Tensor x = ones({4});
  Collective c{.kind = CollectiveKind::all_reduce, .count = 1};
  c.send = c.receive = Operand(x.get().storage, 16384);
  EXPECT_EQ(error_of<InvalidArgument>([&] { ranks[0]->launch(c); }),
            "all_reduce: send is too small; got 0 f32, expected 1");
  std::vector<float> memory(4);
  c = within(memory, CollectiveKind::all_to_all, 0, 0);
  for (const std::size_t count : {std::size_t{1} << 62, std::size_t{1} << 60, ~std::size_t{0}}) {
    c.count = count;
    EXPECT_EQ(error_of<InvalidArgument>([&] { validate(c, 0, 4); }),
              "all_to_all: more elements than memory holds; got count " + std::to_string(count));
  }
  c = within(memory, CollectiveKind::all_gather, 0, 0);
  c.counts = {kCount, std::size_t{1} << 62, std::size_t{1} << 62, std::size_t{1} << 63};
  EXPECT_EQ(error_of<InvalidArgument>([&] { validate(c, 0, 4); }),
            "all_gather: more elements than memory holds; got count 9223372036854775808");
}

/// Launches a sum whose memory `owner` keeps, lets it fail and forgets it.
void fail_with(const std::shared_ptr<Communicator>& comm, std::shared_ptr<const void> owner,
               std::vector<float>& memory) {
  Collective c{.kind = CollectiveKind::all_reduce, .count = memory.size()};
  c.send = c.receive = Operand(memory.data(), memory.size() * sizeof(float), std::move(owner));
  const Work work = comm->launch(std::move(c));
  comm->abort(std::make_exception_ptr(CommError("stop")));
  EXPECT_THROW(work.wait(), CommError);
}

/// Another rank may have seen where they lie, and not yet that it failed.
TEST(Operands, of_what_failed_under_way_are_never_free) {
  const auto ranks = make_loopback(2);
  auto memory = std::make_shared<std::vector<float>>(100'000);
  const std::weak_ptr<const void> alive = memory;
  std::vector<float>& values = *memory;
  fail_with(ranks[0], std::move(memory), values);
  EXPECT_FALSE(alive.expired());
}

/// Others may be about to write to it.
TEST(Operands, of_an_allocation_live_as_long_as_those_of_any_rank) {
  const auto ranks = make_loopback(2);
  std::array<CommBuffer, 2> buffers;
  std::thread other([&] { buffers[1] = ranks[1]->allocate(1 << 20); });
  buffers[0] = ranks[0]->allocate(1 << 20);
  other.join();
  std::byte* const theirs = buffers[0].peers[1];
  EXPECT_EQ(theirs, buffers[1].data);
  buffers[1] = {};
  std::memset(theirs, 1, 1 << 20);
  EXPECT_EQ(theirs[1000], std::byte{1});
}

}  // namespace
}  // namespace tessera::dist
