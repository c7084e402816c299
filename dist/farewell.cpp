#include <tessera/dist/farewell.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/membership.h>
#include <tessera/dist/comm/pulses.h>
#include <tessera/dist/last_resort.h>
#include <tessera/dist/launcher.h>
#include <tessera/dist/stopped_ranks.h>

namespace tessera::dist {
namespace {

/// Finds a rank that has been silent for too long.
class SilenceFinder {
 public:
  SilenceFinder(std::shared_ptr<StatusBoard> board, std::chrono::milliseconds deadline)
      : board_(std::move(board)), deadline_(deadline), pulses_(*board_) {}

  std::optional<int> look(Time now) {
    if (last_ != Time{} && now - last_ > deadline_ / 2) {
      pulses_.forgive(now);  // this very process stood still
    }
    last_ = now;
    pulses_.listen(now);
    for (int rank = 0; rank < board_->size(); ++rank) {
      if (board_->cell(rank).left == 0 && pulses_.silence(rank, now) > deadline_) {
        return rank;
      }
    }
    return std::nullopt;
  }

 private:
  std::shared_ptr<StatusBoard> board_;
  std::chrono::milliseconds deadline_;
  Pulses pulses_;
  Time last_{};
};

}  // namespace

void wait_for_all(Communicator& comm, std::chrono::milliseconds deadline) {
  const auto board = comm.board();
  const Work everybody = barrier(comm, "end");
  std::optional<int> silent;
  const auto finder = std::make_shared<SilenceFinder>(board, deadline);
  const LastResort guard(
      [&, finder] { return deadline.count() > 0 && (silent = finder->look(clock().now())); }, 1,
      [&] {
        return detail::concat("world: rank ", comm.rank(), " waited ",
                              std::chrono::duration<double>(deadline).count(),
                              " s at the end; rank ", *silent, " (host ", comm.host(*silent),
                              ") shows no sign of life");
      });
  try {
    everybody.wait();
  } catch (const Error&) {  // said by the rank that failed
  }
}

std::string waiting_text(const std::string& what, std::chrono::milliseconds time) {
  const std::string stopped = stopped_ranks_here();
  return detail::concat(
      "world: rank ", announced_world().rank, " (host ", host_name(), ") waited ",
      std::chrono::duration<double>(time).count(), " s for the other ranks ", what,
      stopped.empty() ? "; start them together, or raise the timeout" : "; stopped: " + stopped);
}

}  // namespace tessera::dist
