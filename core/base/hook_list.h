// Lists of hooks, and the handles that take a hook out again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tessera {

/// Where hooks of one kind are kept.
class HookStore {
 public:
  virtual ~HookStore() = default;
  virtual void remove(std::uint64_t id) noexcept = 0;
};

/// Takes its hook out when told to. A copyable, weak reference: dropping it leaves the hook in
/// place, and it outlives what the hook hangs on.
class RemovableHandle {
 public:
  RemovableHandle() = default;
  RemovableHandle(std::weak_ptr<HookStore> store, std::uint64_t id)
      : store_(std::move(store)), id_(id) {}
  /// Does nothing when the hook is gone already.
  void remove() const noexcept {
    if (const std::shared_ptr<HookStore> store = store_.lock()) {
      store->remove(id_);
    }
  }
  /// Unique in the process; later registrations have larger ones.
  [[nodiscard]] std::uint64_t id() const { return id_; }

 private:
  std::weak_ptr<HookStore> store_;
  std::uint64_t id_ = 0;
};

/// Takes its hook out at the end of the scope.
class ScopedHandle {
 public:
  ScopedHandle(RemovableHandle handle) : handle_(std::move(handle)) {}
  ~ScopedHandle() { handle_.remove(); }
  ScopedHandle(ScopedHandle&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ScopedHandle& operator=(ScopedHandle&&) = delete;

 private:
  RemovableHandle handle_;
};

/// Hooks in the order in which they run. May be changed while it is walked: a walk sees the hooks
/// that were there when it began. Safe to use from several threads.
template <class Hook>
class HookList final : public HookStore, public std::enable_shared_from_this<HookList<Hook>> {
 public:
  struct Entry {
    std::uint64_t id = 0;
    Hook hook;
  };
  using Entries = std::vector<Entry>;

  /// At the end, or with `prepend` before all others.
  RemovableHandle add(Hook hook, bool prepend = false) {
    const std::uint64_t id = next_id();
    change([&](Entries& entries) {
      entries.insert(prepend ? entries.begin() : entries.end(), {id, std::move(hook)});
    });
    return {this->weak_from_this(), id};
  }
  void remove(std::uint64_t id) noexcept override {
    change([&](Entries& entries) {
      std::erase_if(entries, [&](const Entry& entry) { return entry.id == id; });
    });
  }
  [[nodiscard]] std::shared_ptr<const Entries> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1) + 1;
  }
  template <class F>
  void change(const F& how) {
    const std::lock_guard lock(mutex_);
    auto changed = std::make_shared<Entries>(*entries_);
    how(*changed);
    size_.store(changed->size(), std::memory_order_relaxed);
    entries_ = std::move(changed);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_ = std::make_shared<Entries>();
  std::atomic<std::size_t> size_{0};
};

}  // namespace tessera
