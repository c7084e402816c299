// Errors while a sample is read.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/core/base/error.h>

namespace tessera::data {

/// Rethrows the exception in flight with the number of the sample in its text: an IoError stays
/// one, and so does an InvalidArgument; other std::exceptions become a RuntimeError. The first
/// exception is nested in the new one.
[[noreturn]] void rethrow_with_sample(std::int64_t index);

/// Samples that do not fit into one batch: that at place `place` and the first one.
class SamplesDiffer : public InvalidArgument {
 public:
  SamplesDiffer(const std::string& text, std::int64_t place)
      : InvalidArgument(text), place_(place) {}
  [[nodiscard]] std::int64_t place() const noexcept { return place_; }
  /// This error with the numbers that the two samples have in the data set.
  [[nodiscard]] SamplesDiffer of_data_set(std::int64_t number, std::int64_t first) const;

 private:
  std::int64_t place_;
};

}  // namespace tessera::data
