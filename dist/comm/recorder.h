// Remembers the last collectives of a communicator, for people who look for what went wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/signature.h>

namespace tessera::dist {

/// Keeps the last `capacity` collectives of a group and of those that are split from it.
/// Thread-safe.
class Recorder final : public CommDecorator {
 public:
  struct Entry {
    std::uint64_t number = 0;  ///< counts every launch, from 1
    std::string group;
    Signature signature;
    Work work;
  };
  explicit Recorder(std::shared_ptr<Communicator> inner, std::size_t capacity = 64);

  Work start(Collective&&) override;
  /// Oldest first.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// A line each: number, group, what, and its duration, "under way" or the error.
  [[nodiscard]] std::string report() const;

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override;

 private:
  struct Ring {
    explicit Ring(std::size_t room) : capacity(room) {}
    std::mutex mutex;
    std::vector<Entry> entries;
    std::size_t capacity;
    std::uint64_t launched = 0;
  };
  Recorder(std::shared_ptr<Communicator> inner, std::shared_ptr<Ring> ring)
      : CommDecorator(std::move(inner)), ring_(std::move(ring)) {}

  std::shared_ptr<Ring> ring_;
};

}  // namespace tessera::dist
