// Streams: queues of a device's work, in order. Tickets: points in them.
//
// Note [Names, not handles]. Streams and tickets are numbers, which cost nothing to copy, to
// compare and to keep after what they name is gone: a storage keeps the tickets of its last uses,
// and a ticket of a stream that was closed is one that was reached. An event object would need an
// owner on every storage, a call of the driver to make and to end it, and an answer to who frees it
// last.
//
// A device's backend (core/device/backend.h) knows what is behind them. The host's default stream
// runs everything at once on the caller's thread, so that nothing ever waits for it; its others are
// polled (core/device/polled_stream.h). How work on different streams waits for each other's data
// is in core/device/hazards.h.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include <tessera/core/device/device.h>

namespace tessera {

/// A queue of work on `device`; number 0 is the device's default one, which is always open.
struct StreamId {
  Device device;
  std::uint32_t number = 0;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

/// A point in a stream's queue, reached once all work before it is done. Number 0 is reached
/// always.
struct Ticket {
  StreamId stream;
  std::uint64_t number = 0;
  explicit operator bool() const noexcept { return number != 0; }
  friend bool operator==(const Ticket&, const Ticket&) = default;
};

namespace detail {
/// What a scope chose for the calling thread; others than the CPU's count where devices match.
/// One for the whole program, also where a part is compiled with -fvisibility=hidden.
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]]  //
inline constinit thread_local StreamId chosen_stream;
}  // namespace detail

/// The stream of `device` that the calling thread's ops go to: its default one unless a scope chose
/// another.
[[nodiscard]] inline StreamId current_stream(const Device& device) noexcept {
  const StreamId& chosen = detail::chosen_stream;
  return chosen.device == device ? chosen : StreamId{.device = device};
}

/// A stream of its own on a device that has streams, open while this lives.
class Stream {
 public:
  /// `name` is for people. Throws as `check_available`, and Unsupported for a device without
  /// streams.
  Stream(const Device& device, const std::string& name);
  /// Waits for the stream's work; an error that nobody saw is logged.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] const StreamId& id() const noexcept { return id_; }
  /// Blocks the host until what was launched so far is done. Rethrows the first error.
  void synchronize() const;

 private:
  StreamId id_;
  std::string name_;
};

/// Whether all work before `ticket` is done. Rethrows the first error of that work.
[[nodiscard]] bool reached(const Ticket& ticket);
/// Blocks the host until it is. Rethrows the first error of that work.
void synchronize(const Ticket& ticket);

/// Makes `stream` the calling thread's current one of its device until the scope ends.
class StreamScope {
 public:
  explicit StreamScope(const StreamId& stream)
      : previous_(std::exchange(detail::chosen_stream, stream)) {}
  ~StreamScope() { detail::chosen_stream = previous_; }
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  StreamId previous_;
};

}  // namespace tessera
