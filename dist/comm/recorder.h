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

/// Keeps the last `capacity` collectives. Thread-safe.
class Recorder final : public CommDecorator {
 public:
  struct Entry {
    std::uint64_t number = 0;  ///< counts every launch, from 1
    Signature signature;
    Work work;
  };
  explicit Recorder(std::shared_ptr<Communicator> inner, std::size_t capacity = 64);

  Work launch(Collective) override;
  /// Oldest first.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// A line each: number, what, and its duration, "under way" or the error.
  [[nodiscard]] std::string report() const;

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override;

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> ring_;
  std::size_t capacity_;
  std::uint64_t launched_ = 0;
};

}  // namespace tessera::dist
