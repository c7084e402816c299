// Streams of the host: work that is carried out by whoever waits for it, or by a thread beside.
#pragma once

#include <cstdint>
#include <memory>

#include <tessera/core/device/stream.h>

namespace tessera {

/// A queue of work of the host's, which tickets know by its number. Those of a stream that is gone
/// are reached: one whose work has failed is to be kept (`keep`).
class PolledStream {
 public:
  PolledStream();
  virtual ~PolledStream();
  PolledStream(const PolledStream&) = delete;
  PolledStream& operator=(const PolledStream&) = delete;

  [[nodiscard]] const StreamId& id() const noexcept { return id_; }
  /// True once the ticket with this number is reached; `synchronize` waits for it. Any thread may
  /// call these.
  [[nodiscard]] virtual bool reached(std::uint64_t number) = 0;
  virtual void synchronize(std::uint64_t number) = 0;

 private:
  StreamId id_;
};

/// The stream of this name; null when it is gone.
[[nodiscard]] std::shared_ptr<PolledStream> polled_stream(const StreamId& id);
/// Makes `stream` known to who waits for its tickets; its owner calls this once, behind its making.
void make_known(const std::shared_ptr<PolledStream>& stream);
/// Keeps a stream for as long as the program runs.
void keep(const std::shared_ptr<PolledStream>& stream);

}  // namespace tessera
