// Whether a group of ranks still works, and if not, what broke it first.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace tessera::dist {

/// The first failure in a group, in memory that its ranks may share. Plain data: it lies in a
/// shared segment or on the heap, zero-filled at first.
struct FailureRecord {
  static constexpr std::size_t kTextSize = 1000;

  std::atomic<std::uint32_t> state{0};    ///< 0 none, 1 being written, 2 written
  std::atomic<std::uint32_t> printed{0};  ///< 1 once some rank has shown it to the user
  std::uint32_t type = 0;
  std::int32_t rank = 0;
  char text[kTextSize] = {};

  /// Writes the record unless there is one already.
  void write(std::uint32_t new_type, int new_rank, const std::string& new_text) noexcept;
  [[nodiscard]] bool written() const noexcept { return state.load(std::memory_order_acquire) == 2; }
  /// The failure as an exception of its original type, where it is one of Tessera's.
  [[nodiscard]] std::exception_ptr exception() const;
};

/// Health of a communicator as one rank sees it. A group fails with its parent.
class Health {
 public:
  /// `shared` lives as long as `owner`; `parent` may be null.
  Health(FailureRecord& shared, int rank, std::shared_ptr<Health> parent,
         std::shared_ptr<const void> owner)
      : shared_(&shared), rank_(rank), parent_(std::move(parent)), owner_(std::move(owner)) {}

  /// Cheap: asked at every poll.
  [[nodiscard]] bool failed() const noexcept {
    return shared_->written() || (parent_ != nullptr && parent_->failed());
  }
  /// The first cause, null while healthy.
  [[nodiscard]] std::exception_ptr cause() const;
  /// True when the first cause came from this rank.
  [[nodiscard]] bool is_own() const noexcept;
  /// Fails the group, here and on every rank that shares the record.
  void fail(const std::exception_ptr& cause) noexcept;
  /// Rethrows the cause when failed.
  void require() const;
  [[nodiscard]] FailureRecord& record() const noexcept { return *shared_; }

 private:
  FailureRecord* shared_;
  int rank_;
  std::shared_ptr<Health> parent_;
  std::shared_ptr<const void> owner_;
  mutable std::mutex mutex_;
  std::exception_ptr own_;  ///< the exception itself when this rank failed first
};

/// The text of any exception.
[[nodiscard]] std::string text_of(const std::exception_ptr& error);

}  // namespace tessera::dist
