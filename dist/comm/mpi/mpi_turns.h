// Messages between hosts that take turns, so that flows do not meet on a link.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include <tessera/dist/comm/mpi/mpi_call.h>

namespace tessera::dist::mpi {

/// A message to another rank: some bytes of `memory`.
struct Message {
  std::shared_ptr<const void> memory;
  const std::byte* data = nullptr;
  std::size_t nbytes = 0;
  int peer = 0;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The turns of one host: in each it sends one message and receives one. All hosts take the same
/// turns in the same order, in turn k of a round to the k-th host behind themselves, so that no
/// link carries two messages at once. A host that is ahead waits: no more than `kAheadBytes` leave
/// it while it has not received its own part of the same turns; with less a link would idle while a
/// host is busy with other things. (Hosts that send to everybody at once take 10 to 20 % longer:
/// flows that share a link never share it evenly.)
class Turns {
 public:
  static constexpr std::size_t kAheadBytes = std::size_t{512} << 10;

  /// Appends a turn, whose `receive` has been started.
  void add(const Message& send, Request receive);

  /// Turns so far.
  [[nodiscard]] std::size_t count() const { return finished_ + turns_.size(); }

  /// Sends what may go. True once the first `turns` have been received.
  [[nodiscard]] bool received(std::size_t turns);

  /// Sends what may go. True once the first `turns` have been received and sent: their memory is
  /// free again.
  [[nodiscard]] bool finished(std::size_t turns);

 private:
  struct Turn {
    Message message;
    Request receive, send;
  };
  [[nodiscard]] Turn& at(std::size_t turn) { return turns_[turn - finished_]; }
  void poll();
  void start_sends();

  std::deque<Turn> turns_;  ///< not finished yet
  std::size_t finished_ = 0;
  std::size_t received_ = 0;
  std::size_t started_ = 0;
  std::size_t ahead_bytes_ = 0;  ///< of turns started and not received
};

}  // namespace tessera::dist::mpi
