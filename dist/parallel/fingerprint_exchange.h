// Comparing what ranks are about to do, while other work goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// One number of every rank, gathered in the background.
class FingerprintExchange {
 public:
  /// Sends this rank's and returns at once. Collective.
  void begin(Communicator& comm, std::uint64_t mine, std::string label);
  /// Whether one was begun and not ended.
  [[nodiscard]] bool under_way() const { return table_ != nullptr; }
  [[nodiscard]] const Work& work() const { return work_; }
  /// Waits. Whether all ranks' numbers are equal; the same on all ranks.
  [[nodiscard]] bool all_equal() const;
  void end();

 private:
  std::shared_ptr<std::vector<std::int64_t>> table_;  ///< this rank's number, then all ranks'
  Work work_;
};

}  // namespace tessera::dist
