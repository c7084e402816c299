// The watchdog's inside: what is watched of one communicator.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/heartbeats.h>

namespace tessera::dist {

/// When one who waits says so again: after 5, 15, 45 s and so on.
class Reminder {
 public:
  /// True once for each of those times.
  bool due(Duration waited) {
    const bool now = waited >= next_;
    next_ = now ? next_ * 3 : next_;
    return now;
  }

 private:
  Duration next_ = std::chrono::seconds(5);
};

/// The collectives of one communicator that are not done, and since when the oldest is.
class Watch {
 public:
  struct Entry {
    std::uint64_t number = 0;  ///< of collectives; 0 for send and receive
    CollectiveKind kind = CollectiveKind::barrier;
    int peer = -1;
    std::string label;
    bool is_call = false;  ///< no collective, but what ranks call together, such as a split
    Work work;
    std::uint64_t id = 0;  ///< of all that is watched
  };
  /// A deadline that nobody lives to see, and of which ten are no overflow.
  static constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 365);

  /// `world` is the table of the group that this one was split from first, or its own: there a rank
  /// says that it has come to the end of the program.
  Watch(std::shared_ptr<Communicator> comm, std::chrono::milliseconds deadline,
        std::weak_ptr<HeartbeatTable> world);

  /// Says in the table what this rank is about to launch.
  Entry announce(const Collective& c);
  /// Takes back what was announced last and not launched: the others wait for this rank.
  void withdraw(const Entry& entry);
  /// Until it is done. What is already done needs no watching.
  void watch(Entry entry);
  /// Says in the table that this rank makes a call that all ranks make together and that is no
  /// collective itself.
  Entry announce(const std::string& label);
  /// How long the oldest collective has waited, as far as that counts. Zero if none does.
  [[nodiscard]] Duration waited(Time now);
  /// Says in the table how long this rank has waited in another group.
  void announce_wait_elsewhere(Duration time);
  /// Shows a sign of life, looks for one of the others, and fails the communicator when the oldest
  /// collective has waited too long.
  void look(Time now);
  /// This rank lets go of the group: says so in the table, and what it had not ended by then.
  void leave(Time now);

 private:
  [[nodiscard]] bool is_heard(int rank, Time now) const;
  [[nodiscard]] bool shows_life(int rank, Time now) const;
  [[nodiscard]] bool waits_itself(int rank, Time now) const;
  [[nodiscard]] bool waits_elsewhere(int rank, Time now) const;
  void excuse(const std::vector<int>& ranks, Time now, Duration since_last);
  [[nodiscard]] std::vector<int> late(std::uint64_t number, Time now) const;
  [[nodiscard]] std::vector<int> missing(const Entry& oldest, Time now) const;
  [[nodiscard]] std::vector<int> blamed(const std::vector<int>& ranks, Time now) const;
  [[nodiscard]] std::string describe(const std::vector<int>& ranks, Time now) const;
  [[nodiscard]] std::string complaint(const Entry& oldest, const std::vector<int>& ranks,
                                      Time now) const;
  [[nodiscard]] std::vector<int> silent(Time now) const;
  [[nodiscard]] bool has_ended(int rank) const;
  [[nodiscard]] std::vector<int> never_coming(const Entry& oldest) const;
  [[nodiscard]] bool in_vain(const Entry& oldest, const std::vector<int>& gone);
  [[nodiscard]] std::exception_ptr loss(const Entry& oldest, const std::vector<int>& gone,
                                        Time now) const;
  void remind(const Entry& oldest, const std::vector<int>& ranks, Time now);
  [[nodiscard]] bool has_the_word(const std::vector<int>& ranks, Time now) const;
  void drop_finished(Time now);
  void heed_failure(Time now);

  std::shared_ptr<Communicator> comm_;
  std::shared_ptr<HeartbeatTable> table_;
  std::weak_ptr<HeartbeatTable> world_;
  std::shared_ptr<Context> context_;  ///< the rank's, which says when it is busy
  std::chrono::milliseconds deadline_;
  Duration grace_;     ///< for which another group has the word
  Duration patience_;  ///< the deadline, or a little more where another host speaks first
  Time told_{};        ///< the group of its failure; never yet at zero
  Heartbeats heartbeats_;
  std::mutex mutex_;
  std::deque<Entry> under_way_;
  std::uint64_t watched_ = 0;
  std::uint64_t oldest_ = 0;  ///< at the last look: its id
  Time waiting_since_{};      ///< for that one
  Time arrived_{};            ///< when it became the oldest, whatever time does not count
  Duration excused_{};        ///< of that, because others were busy
  Reminder reminder_;         ///< for that one
  int looks_in_vain_ = 0;     ///< at which somebody was seen never to come to that one
  Time not_before_{};         ///< this watch does not speak
  Time last_look_{};
};

}  // namespace tessera::dist
