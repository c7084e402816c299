// A value that another thread prepares.
#pragma once

#include <exception>
#include <latch>
#include <utility>

namespace tessera::data {

/// One thread makes the value, one other takes it. Unlike a std::future's, an exception then
/// belongs to the taker alone.
template <class T>
class Prepared {
 public:
  /// Keeps what `f` returns or throws. Once.
  void make(const auto& f) noexcept {
    try {
      value_ = f();
    } catch (...) {
      error_ = std::current_exception();
    }
    done_.count_down();
  }
  /// Waits for it, and returns or rethrows it. Once.
  [[nodiscard]] T take() {
    done_.wait();
    if (error_ != nullptr) {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    return std::move(value_);
  }

 private:
  T value_{};
  std::exception_ptr error_;
  std::latch done_{1};
};

}  // namespace tessera::data
