#include <tessera/core/base/simulated_network.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>

namespace tessera {
namespace {

constexpr std::uint16_t kFirstFreePort = 49152;

struct Segment {
  Time arrival;
  std::vector<std::byte> bytes;
};

/// What goes one way.
struct Direction {
  std::deque<Segment> segments;  ///< under way or arrived, in order
  std::size_t taken = 0;         ///< bytes of the first one
  Time last_arrival{};           ///< nothing overtakes what was sent before
  bool ended = false;
  std::mt19937_64 random;
};

/// A connection: side 0 is who asked for it; way s carries what side s sends.
struct Link {
  std::array<std::string, 2> hosts;
  std::array<std::string, 2> names;  ///< as the other side calls them
  std::array<Direction, 2> ways;
  std::array<bool, 2> killed{};
  std::array<bool, 2> closed{};
};

struct Door {
  std::string name;
  std::deque<std::shared_ptr<Link>> waiting;
  bool killed = false;
};

}  // namespace

/// What all hosts share. Members are guarded by `mutex`.
class SimulatedWires {
 public:
  SimulatedWires(std::uint64_t chosen, Delays between) : seed(chosen), delays(between) {}

  /// Waits until the time that `when` gives, which is asked again after every change.
  template <class When>
  void wait(std::unique_lock<std::mutex>& lock, Time deadline, const char* op,
            const std::string& peer, const When& when) {
    for (Time at = when(), now = clock().now(); at > now; at = when(), now = clock().now()) {
      check<Timeout>(now < deadline, op, ": '", peer, "': no answer before the deadline");
      clock().wait_until(changed, lock, std::min(at, deadline));
    }
  }

  [[nodiscard]] bool are_cut(const std::string& a, const std::string& b) const {
    return cuts.contains(std::minmax(a, b));
  }

  Duration draw_delay(std::mt19937_64& random) const {
    return Duration(std::uniform_int_distribution<Duration::rep>(delays.least.count(),
                                                                 delays.most.count())(random));
  }

  const std::uint64_t seed;
  const Delays delays;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t links_made = 0;
  std::set<std::string> hosts;
  std::map<std::string, std::uint64_t> kills;  ///< of each host
  std::set<std::pair<std::string, std::string>> cuts;
  std::map<std::pair<std::string, std::uint16_t>, std::shared_ptr<Door>> doors;
  std::vector<std::weak_ptr<Link>> links;
};

namespace {

using Wires = std::shared_ptr<SimulatedWires>;

class SimulatedConnection final : public Connection {
 public:
  SimulatedConnection(Wires wires, std::shared_ptr<Link> link, std::size_t side)
      : wires_(std::move(wires)), link_(std::move(link)), side_(side) {}
  ~SimulatedConnection() override {
    const std::lock_guard lock(wires_->mutex);
    link_->closed[side_] = true;
    own().ended = true;
    wires_->changed.notify_all();
  }

  /// There is room for all that is sent, so no deadline comes.
  void send(std::span<const std::byte> bytes, Time /*deadline*/) override {
    const std::lock_guard lock(wires_->mutex);
    check_alive("send");
    check<IoError>(!own().ended, "send: '", peer(), "': after the end");
    check<IoError>(cut() || !link_->closed[1 - side_], "send: '", peer(), "': Broken pipe");
    if (bytes.empty()) {
      return;
    }
    const Time arrival = clock().now() + wires_->draw_delay(own().random);
    own().last_arrival = std::max(own().last_arrival, arrival);
    own().segments.push_back({own().last_arrival, {bytes.begin(), bytes.end()}});
    wires_->changed.notify_all();
  }

  std::size_t receive(std::span<std::byte> bytes, Time deadline) override {
    std::unique_lock lock(wires_->mutex);
    wires_->wait(lock, deadline, "receive", peer(), [&] { return time_of_news(); });
    check_alive("receive");
    return take(bytes);
  }

  void end() override {
    const std::lock_guard lock(wires_->mutex);
    check_alive("end");
    own().ended = true;
    wires_->changed.notify_all();
  }

  [[nodiscard]] const std::string& peer() const override { return link_->names[1 - side_]; }

 private:
  Direction& own() { return link_->ways[side_]; }
  Direction& other() { return link_->ways[1 - side_]; }
  [[nodiscard]] bool cut() const { return wires_->are_cut(link_->hosts[0], link_->hosts[1]); }
  void check_alive(const char* op) const {
    check<IoError>(!link_->killed[side_], op, ": '", peer(), "': this process was killed");
    check<IoError>(cut() || !link_->killed[1 - side_], op, ": '", peer(),
                   "': Connection reset by peer");
  }
  Time time_of_news() {
    if (link_->killed[side_]) {
      return Time::min();
    }
    if (cut()) {
      return Time::max();
    }
    if (link_->killed[1 - side_]) {
      return Time::min();
    }
    return !other().segments.empty() ? other().segments.front().arrival
           : other().ended           ? other().last_arrival
                                     : Time::max();
  }
  /// Part of the first segment, as large as the seed wants.
  std::size_t take(std::span<std::byte> bytes) {
    Direction& stream = other();
    if (stream.segments.empty() || bytes.empty()) {
      return 0;
    }
    const std::vector<std::byte>& first = stream.segments.front().bytes;
    const std::size_t most = std::min(bytes.size(), first.size() - stream.taken);
    const std::size_t n = std::uniform_int_distribution<std::size_t>(1, most)(stream.random);
    std::copy_n(first.begin() + static_cast<std::ptrdiff_t>(stream.taken), n, bytes.begin());
    stream.taken += n;
    if (stream.taken == first.size()) {
      stream.segments.pop_front();
      stream.taken = 0;
    }
    return n;
  }

  Wires wires_;
  std::shared_ptr<Link> link_;
  std::size_t side_;
};

class SimulatedListener final : public Listener {
 public:
  SimulatedListener(Wires wires, std::string host, Address address, std::shared_ptr<Door> door)
      : wires_(std::move(wires)),
        host_(std::move(host)),
        address_(std::move(address)),
        door_(std::move(door)) {}
  ~SimulatedListener() override {
    const std::lock_guard lock(wires_->mutex);
    if (!door_->killed) {
      wires_->doors.erase({host_, address_.port});
    }
    for (const auto& link : door_->waiting) {
      link->killed[1] = true;  // nobody will accept it: the peer's connection is reset
    }
    wires_->changed.notify_all();
  }

  std::unique_ptr<Connection> accept(Time deadline) override {
    std::unique_lock lock(wires_->mutex);
    wires_->wait(lock, deadline, "accept", door_->name, [&] {
      return door_->killed || !door_->waiting.empty() ? Time::min() : Time::max();
    });
    check<IoError>(!door_->killed, "accept: '", door_->name, "': this process was killed");
    const std::shared_ptr<Link> link = door_->waiting.front();
    door_->waiting.pop_front();
    return std::make_unique<SimulatedConnection>(wires_, link, 1);
  }

  [[nodiscard]] const Address& address() const override { return address_; }

 private:
  Wires wires_;
  std::string host_;
  Address address_;
  std::shared_ptr<Door> door_;
};

class SimulatedHost final : public HostNetwork {
 public:
  SimulatedHost(Wires wires, std::string name) : wires_(std::move(wires)), name_(std::move(name)) {}

  std::unique_ptr<Listener> listen(const Address& address) override {
    const std::lock_guard lock(wires_->mutex);
    check<IoError>(address.host.empty() || address.host == name_, "listen: '", to_string(address),
                   "': Cannot assign requested address");
    Address own = address;
    if (own.port == 0) {
      own.port = kFirstFreePort;
      while (wires_->doors.contains({name_, own.port})) {
        ++own.port;
      }
    }
    auto door = std::make_shared<Door>();
    door->name = to_string(own);
    const bool free = wires_->doors.emplace(std::pair(name_, own.port), door).second;
    check<IoError>(free, "listen: '", door->name, "': Address already in use");
    return std::make_unique<SimulatedListener>(wires_, name_, own, door);
  }

  std::unique_ptr<Connection> connect(const Address& address, Time deadline) override {
    std::unique_lock lock(wires_->mutex);
    const std::string peer = to_string(address);
    check<IoError>(wires_->hosts.contains(address.host), "connect: '", peer,
                   "': Name or service not known");
    const auto link = new_link(address.host, peer);
    const Time arrival = clock().now() + wires_->draw_delay(link->ways[0].random);
    const std::uint64_t life = wires_->kills[name_];
    wires_->wait(lock, deadline, "connect", peer, [&] {
      return wires_->kills[name_] != life           ? Time::min()
             : wires_->are_cut(name_, address.host) ? Time::max()
                                                    : arrival;
    });
    check<IoError>(wires_->kills[name_] == life, "connect: '", peer, "': this process was killed");
    const auto door = wires_->doors.find({address.host, address.port});
    check<IoError>(door != wires_->doors.end(), "connect: '", peer, "': Connection refused");
    wires_->links.push_back(link);
    door->second->waiting.push_back(link);
    wires_->changed.notify_all();
    return std::make_unique<SimulatedConnection>(wires_, link, 0);
  }

 private:
  std::shared_ptr<Link> new_link(const std::string& to, const std::string& peer) {
    auto link = std::make_shared<Link>();
    link->hosts = {name_, to};
    link->names = {name_, peer};
    for (std::size_t side = 0; side < 2; ++side) {
      link->ways[side].random.seed(mix(wires_->seed, 2 * wires_->links_made + side));
    }
    ++wires_->links_made;
    return link;
  }

  Wires wires_;
  std::string name_;
};

}  // namespace

SimulatedNetwork::SimulatedNetwork(std::uint64_t seed, Delays delays)
    : wires_(std::make_shared<SimulatedWires>(seed, delays)) {}

SimulatedNetwork::~SimulatedNetwork() = default;

std::shared_ptr<HostNetwork> SimulatedNetwork::host(const std::string& name) {
  const std::lock_guard lock(wires_->mutex);
  wires_->hosts.insert(name);
  return std::make_shared<SimulatedHost>(wires_, name);
}

void SimulatedNetwork::cut(const std::string& a, const std::string& b) {
  const std::lock_guard lock(wires_->mutex);
  wires_->cuts.insert(std::minmax(a, b));
}

void SimulatedNetwork::join(const std::string& a, const std::string& b) {
  const std::lock_guard lock(wires_->mutex);
  wires_->cuts.erase(std::minmax(a, b));
  wires_->changed.notify_all();
}

void SimulatedNetwork::kill(const std::string& name) {
  const std::lock_guard lock(wires_->mutex);
  ++wires_->kills[name];
  std::erase_if(wires_->doors, [&](const auto& entry) {
    const bool killed = entry.first.first == name;
    entry.second->killed = entry.second->killed || killed;
    return killed;
  });
  std::erase_if(wires_->links, [](const auto& link) { return link.expired(); });
  for (const auto& entry : wires_->links) {
    const auto link = entry.lock();
    for (std::size_t side = 0; link != nullptr && side < 2; ++side) {
      link->killed[side] = link->killed[side] || link->hosts[side] == name;
    }
  }
  wires_->changed.notify_all();
}

}  // namespace tessera
