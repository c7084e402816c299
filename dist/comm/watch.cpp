#include <tessera/dist/comm/watch.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSpeaksLater{1000};
constexpr milliseconds kGrace{2000};       // left to another group, to say what holds a rank there
constexpr int kBusyDeadlines = 10;         // for which a busy rank is waited for
constexpr int kLooksInVain = 5;            // while what a rank sent before it left may arrive
constexpr int kLooksLater = 8;             // of another host than the first, for its text to come
constexpr milliseconds kSignOfLife{2000};  // a process without one for longer stands still

/// Seconds with one digit after the point.
double seconds(Duration d) {
  return std::round(std::chrono::duration<double>(d).count() * 10) / 10;
}

/// "all_reduce 7 'bucket 3'"
std::string to_string(const Watch::Entry& entry) {
  return detail::concat(dist::to_string(entry.kind),
                        entry.number > 0 ? detail::concat(" ", entry.number) : "",
                        entry.label.empty() ? "" : " '" + entry.label + "'");
}

}  // namespace

Watch::Watch(std::shared_ptr<Communicator> comm, milliseconds deadline,
             std::weak_ptr<HeartbeatTable> world)
    : comm_(std::move(comm)),
      table_(comm_->heartbeat_table()),
      world_(std::move(world)),
      context_(Context::current_shared()),
      deadline_(deadline),
      grace_(std::min<Duration>(kGrace, deadline / 2)),
      patience_(deadline + (table_->speaks_first() ? Duration{} : kSpeaksLater)),
      heartbeats_(*table_) {}

Watch::Entry Watch::announce(const Collective& c) {
  Entry entry;
  entry.kind = c.kind;
  entry.peer = c.peer;
  entry.label = c.label;
  if (!is_point_to_point(c.kind)) {
    HeartbeatCell& own = table_->own();
    own.label.store(c.label);
    own.kind.store(static_cast<std::uint8_t>(c.kind), std::memory_order_relaxed);
    entry.number = own.launched.load(std::memory_order_relaxed) + 1;
    own.launched.store(entry.number, std::memory_order_release);
  }
  return entry;
}

void Watch::withdraw(const Entry& entry) {
  if (entry.number > 0) {
    HeartbeatCell& own = table_->own();
    own.label.store("");
    own.kind.store(HeartbeatCell::kUnknown, std::memory_order_relaxed);  // what was before is lost
    own.launched.store(entry.number - 1, std::memory_order_release);
  }
}

Watch::Entry Watch::announce(const std::string& label) {
  Collective c;
  c.label = label;
  Entry entry = announce(c);
  entry.is_call = true;
  return entry;
}

void Watch::watch(Entry entry) {
  const std::lock_guard lock(mutex_);
  if (!under_way_.empty() && under_way_.front().work.done()) {
    under_way_.pop_front();  // so that the list stays short between looks
  }
  entry.id = ++watched_;
  under_way_.push_back(std::move(entry));
}

/// Time counts from the look at which a collective is first seen to be the oldest.
void Watch::drop_finished(Time now) {
  std::erase_if(under_way_, [](const Entry& entry) { return entry.work.done(); });
  const auto open = std::ranges::find_if(under_way_, [](const Entry& e) { return e.number > 0; });
  HeartbeatCell& own = table_->own();
  own.finished = open == under_way_.end() ? own.launched.load() : open->number - 1;
  if (!under_way_.empty() && under_way_.front().id != oldest_) {
    oldest_ = under_way_.front().id;
    waiting_since_ = arrived_ = now;
    excused_ = {};
    reminder_ = {};
    looks_in_vain_ = 0;
  }
}

bool Watch::is_heard(int rank, Time now) const {
  return heartbeats_.silence(rank, now) < std::min<Duration>(kSignOfLife, deadline_ / 2);
}

/// A rank that has let go of the group may still be heard, and does nothing in it.
bool Watch::shows_life(int rank, Time now) const {
  return is_heard(rank, now) && table_->cell(rank).left == 0;
}

/// In an earlier collective, and others keep it there.
bool Watch::waits_itself(int rank, Time now) const {
  const HeartbeatCell& cell = table_->cell(rank);
  return shows_life(rank, now) && cell.finished.load() < cell.launched.load();
}

/// In another group, where its watch soon says what it waits for. Ranks that wait for each other in
/// two groups excuse each other: not for ever.
bool Watch::waits_elsewhere(int rank, Time now) const {
  const milliseconds waited{table_->cell(rank).elsewhere.load()};
  return shows_life(rank, now) && waited.count() > 0 && waited < deadline_ + kSpeaksLater + grace_;
}

/// The ranks that have not launched collective `number`, unless others keep them from it.
std::vector<int> Watch::late(std::uint64_t number, Time now) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < table_->size(); ++rank) {
    if (table_->cell(rank).launched.load(std::memory_order_acquire) < number) {
      ranks.push_back(rank);
    }
  }
  const auto leave_out = [&](const auto& waits) {
    if (!std::ranges::all_of(ranks, waits)) {
      std::erase_if(ranks, waits);
    }
  };
  leave_out([&](int rank) { return waits_itself(rank, now); });
  leave_out([&](int rank) { return waits_elsewhere(rank, now); });
  return ranks;
}

/// The ranks that keep `oldest` from ending: of a message its peer, or those for whom that one
/// waits in a collective, unless this rank is the only one.
std::vector<int> Watch::missing(const Entry& oldest, Time now) const {
  if (!is_point_to_point(oldest.kind)) {
    return late(oldest.number, now);
  }
  std::vector<int> ranks;
  if (waits_itself(oldest.peer, now)) {
    ranks = late(table_->cell(oldest.peer).finished.load() + 1, now);
    std::erase(ranks, table_->rank());
  }
  return ranks.empty() ? std::vector{oldest.peer} : ranks;
}

/// A rank that is heard of through a silent one is not to blame, as far as anybody knows.
std::vector<int> Watch::blamed(const std::vector<int>& ranks, Time now) const {
  std::vector<int> found;
  for (const int rank : ranks) {
    const std::vector<int> carriers = table_->carriers(rank);
    const auto silent = std::ranges::find_if_not(
        carriers, [&](int carrier) { return carrier == rank || is_heard(carrier, now); });
    const int to_blame = silent == carriers.end() ? rank : *silent;
    if (std::ranges::find(found, to_blame) == found.end()) {
      found.push_back(to_blame);
    }
  }
  return found;
}

/// "rank 1 (host a, its last is 7, ...); rank 2 ...": where they are and what they do.
std::string Watch::describe(const std::vector<int>& ranks, Time now) const {
  std::string text;
  for (const int rank : ranks) {
    const HeartbeatCell& cell = table_->cell(rank);
    text += detail::concat(
        text.empty() ? "" : "; ", "rank ", comm_->world_rank(rank), " (host ", comm_->host(rank),
        ", ", describe_position(cell),
        cell.busy > 0 ? ", busy: " + cell.activity.load() : std::string(),
        cell.left > 0 ? ", has let go of the group" : "",
        cell.elsewhere > 0 ? detail::concat(", waiting in another group for ",
                                            seconds(milliseconds(cell.elsewhere.load())), " s")
                           : std::string(),
        is_heard(rank, now) ? ""
                            : detail::concat(", no sign of life for ",
                                             seconds(heartbeats_.silence(rank, now)), " s"),
        ")");
  }
  return text;
}

std::string Watch::complaint(const Entry& oldest, const std::vector<int>& ranks, Time now) const {
  const std::string text = describe(ranks, now);
  return detail::concat(
      "timeout: group '", comm_->name(), "' waited ", seconds(now - arrived_), " s in ",
      to_string(oldest), "; ",
      text.empty() ? "all ranks launched it, none of them ended it" : "missing: " + text);
}

Duration Watch::waited(Time now) {
  const std::lock_guard lock(mutex_);
  const bool seen = !under_way_.empty() && under_way_.front().id == oldest_;
  return seen ? now - waiting_since_ : Duration{};
}

void Watch::announce_wait_elsewhere(Duration time) {
  table_->own().elsewhere = static_cast<std::uint64_t>(
      std::max<Duration::rep>(0, std::chrono::duration_cast<milliseconds>(time).count()));
}

/// Time that does not count, and when another watch has the word. `ranks` are missing.
void Watch::excuse(const std::vector<int>& ranks, Time now, Duration since_last) {
  const auto busy = [&](int rank) {
    return table_->cell(rank).busy.load() > 0 && shows_life(rank, now);
  };
  const auto elsewhere = [&](int rank) { return waits_elsewhere(rank, now); };
  const bool all_busy = !ranks.empty() && std::ranges::all_of(ranks, busy) &&
                        excused_ < (kBusyDeadlines - 1) * deadline_;
  if (all_busy || since_last > deadline_ / 2) {  // busy, or this very process stood still
    waiting_since_ += since_last;
    excused_ += all_busy ? since_last : Duration{};
  }
  if (!ranks.empty() && std::ranges::all_of(ranks, elsewhere)) {
    not_before_ = now + grace_;
  }
}

std::vector<int> Watch::silent(Time now) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < table_->size(); ++rank) {
    const HeartbeatCell& cell = table_->cell(rank);
    const bool left_early = cell.left > 0 && cell.finished < cell.launched;
    if (!is_heard(rank, now) || left_early) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

/// True for the first living rank of those who wait: it speaks for all.
bool Watch::has_the_word(const std::vector<int>& ranks, Time now) const {
  for (int rank = 0; rank < table_->rank(); ++rank) {
    if (std::ranges::find(ranks, rank) == ranks.end() && shows_life(rank, now)) {
      return false;
    }
  }
  return true;
}

/// Says who is waited for, long before the deadline, unless another group's watch knows better.
void Watch::remind(const Entry& oldest, const std::vector<int>& ranks, Time now) {
  const std::vector<int> named = blamed(ranks.empty() ? silent(now) : ranks, now);
  const auto elsewhere = [&](int rank) { return waits_elsewhere(rank, now); };
  if (named.empty() || std::ranges::all_of(named, elsewhere) || !has_the_word(named, now)) {
    return;
  }
  const auto busy = [&](int rank) { return table_->cell(rank).busy.load() > 0; };
  const auto end = deadline_ * (std::ranges::all_of(named, busy) ? kBusyDeadlines : 1);
  log_warning("group '", comm_->name(), "' has waited ", seconds(now - arrived_), " s in ",
              to_string(oldest), " for ", describe(named, now),
              deadline_ == kForEver ? std::string()
                                    : detail::concat("; the run ends after ", seconds(end), " s"));
}

bool Watch::has_ended(int rank) const {
  const auto world = world_.lock();
  const int at = comm_->world_rank(rank);
  return world != nullptr && at < world->size() && world->cell(at).ended.load() > 0;
}

/// The ranks that `oldest` needs and that have let go of the group, or come to the end of the
/// program, without it.
std::vector<int> Watch::never_coming(const Entry& oldest) const {
  std::vector<int> gone;
  if (has_ended(table_->rank())) {
    return gone;  // what nobody waits for here needs nobody
  }
  for (int rank = 0; rank < table_->size(); ++rank) {
    const HeartbeatCell& cell = table_->cell(rank);
    const bool left = cell.left.load() > 0 || has_ended(rank);
    const bool needed =  // in this order: it may have launched it since
        oldest.number > 0 ? cell.launched.load() < oldest.number : rank == oldest.peer;
    if (left && needed && rank != table_->rank()) {
      gone.push_back(rank);
    }
  }
  return gone;
}

/// Whether `gone` will certainly not come. What the world's ranks launch stands in the table on
/// which they leave; what they send, and launch in other groups, may take a little longer to be
/// seen here than their end.
bool Watch::in_vain(const Entry& oldest, const std::vector<int>& gone) {
  looks_in_vain_ = gone.empty() ? 0 : looks_in_vain_ + 1;
  const bool at_once = oldest.number > 0 && table_ == world_.lock();
  const int enough = (at_once ? 1 : kLooksInVain) + (table_->speaks_first() ? 0 : kLooksLater);
  return looks_in_vain_ >= enough;
}

std::exception_ptr Watch::loss(const Entry& oldest, const std::vector<int>& gone, Time now) const {
  std::string ended;
  for (const int rank : gone) {
    if (has_ended(rank)) {
      ended += detail::concat(ended.empty() ? "rank " : ", rank ", comm_->world_rank(rank));
    }
  }
  if (!ended.empty()) {
    return std::make_exception_ptr(Desync(detail::concat(
        "desync: ", ended, " of group '", comm_->name(),
        "' came to the end of the program early; rank ", comm_->world_rank(comm_->rank()),
        " waits in vain in ", to_string(oldest), ": all ranks take the same steps")));
  }
  return std::make_exception_ptr(PeerLost(
      detail::concat("peer lost: group '", comm_->name(), "' waits in vain in ", to_string(oldest),
                     "; missing: ", describe(gone, now), ": all ranks take the same steps")));
}

void Watch::leave(Time now) {
  const std::lock_guard lock(mutex_);
  drop_finished(now);
  HeartbeatCell& own = table_->own();
  own.elsewhere = 0;
  own.busy = 0;
  own.left = 1;  // who still waits for this rank waits in vain
}

/// Ends what the group has under way. A call such as a split, which MPI may keep from hearing of
/// the failure, is given a moment: then it ends the world.
void Watch::heed_failure(Time now) {
  if (told_ == Time{}) {
    comm_->abort(table_->failure().exception());  // its data may know nothing of it
  }
  const std::lock_guard lock(mutex_);
  if (told_ == Time{} || now - last_look_ > kGrace / 2) {  // or this very process stood still
    told_ = now;
  }
  const auto world = world_.lock();
  const bool stuck =
      std::ranges::any_of(under_way_, [](const Entry& e) { return e.is_call && !e.work.done(); });
  if (stuck && now - told_ >= kGrace && world != nullptr && world != table_) {
    const FailureRecord& cause = table_->failure();
    world->failure().write(cause.type, comm_->world_rank(cause.rank), cause.text);
  }
}

void Watch::look(Time now) {
  HeartbeatCell& own = table_->own();
  own.beats.fetch_add(1, std::memory_order_relaxed);
  const std::string activity = activity_of(*context_);
  if (!activity.empty()) {
    own.activity.store(activity);
  }
  own.busy = activity.empty() ? 0 : 1;
  table_->exchange();
  if (table_->failure().written()) {
    heed_failure(now);
  }
  heartbeats_.listen(now);
  std::unique_lock lock(mutex_);
  const Duration since_last = last_look_ == Time{} ? Duration{} : now - last_look_;
  last_look_ = now;
  drop_finished(now);
  if (under_way_.empty()) {
    return;
  }
  const Entry oldest = under_way_.front();
  std::vector<int> ranks = missing(oldest, now);
  excuse(ranks, now, since_last);
  const bool due = reminder_.due(now - arrived_) && now >= not_before_;
  const bool enough = now - waiting_since_ >= patience_ && now >= not_before_;
  const std::vector<int> gone = never_coming(oldest);
  const bool vain = in_vain(oldest, gone);
  lock.unlock();
  if (vain && !oldest.work.done()) {
    comm_->abort(loss(oldest, gone, now));
  }
  if (!enough) {
    if (due) {
      remind(oldest, ranks, now);
    }
    return;
  }
  if (ranks.empty()) {  // everybody arrived: then somebody stopped in the middle
    ranks = silent(now);
  }
  comm_->abort(std::make_exception_ptr(Timeout(complaint(oldest, blamed(ranks, now), now))));
}

}  // namespace tessera::dist
