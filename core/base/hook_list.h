// Lists of hooks, and the handles that take a hook out again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
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

 protected:
  /// One counter for hooks of all kinds.
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1) + 1;
  }
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
/// that were there when it began, but for those removed since. Safe to use from several threads.
template <class Hook>
class HookList final : public HookStore, public std::enable_shared_from_this<HookList<Hook>> {
 public:
  struct Entry {
    Entry(std::uint64_t number, Hook run) : id(number), hook(std::move(run)) {}
    std::uint64_t id;
    Hook hook;
    std::atomic<bool> removed = false;
  };

  /// Adds a hook at the end, or with `prepend` before all others.
  RemovableHandle add(Hook hook, bool prepend = false) {
    const auto entry = std::make_shared<Entry>(next_id(), std::move(hook));
    auto changed = std::make_shared<Entries>();
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(*entries_, std::back_inserter(*changed),
                         [](const auto& known) { return !known->removed; });
    changed->insert(prepend ? changed->begin() : changed->end(), entry);
    size_.store(changed->size(), std::memory_order_relaxed);
    std::swap(entries_, changed);
    return {this->weak_from_this(), entry->id};
  }
  /// Allocates nothing. What is removed under a walk is let go with the next hook that is added.
  void remove(std::uint64_t id) noexcept override {
    std::shared_ptr<Entry> gone;  // its destructor is the caller's code: not under the lock
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(*entries_, id, &Entry::id);
    if (found == entries_->end() || (*found)->removed.exchange(true)) {
      return;
    }
    --size_;
    if (walks_ == 0) {
      gone = std::move(*found);
      entries_->erase(found);
    }
  }
  /// Calls `visit(entry)` for each.
  template <class Visit>
  void walk(const Visit& visit) const {
    const Walk walk(*this);
    for (const std::shared_ptr<Entry>& entry : *walk.entries) {
      if (!entry->removed) {
        visit(std::as_const(*entry));
      }
    }
  }
  [[nodiscard]] bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  using Entries = std::vector<std::shared_ptr<Entry>>;

  /// While one lives, nothing is taken out of the vector that it goes over.
  struct Walk {
    explicit Walk(const HookList& hooks) : list(hooks), alive(hooks.weak_from_this().lock()) {
      const std::lock_guard lock(list.mutex_);
      ++list.walks_;
      entries = list.entries_;
    }
    ~Walk() {
      const std::lock_guard lock(list.mutex_);
      --list.walks_;
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    const HookList& list;
    std::shared_ptr<const HookList> alive;
    std::shared_ptr<const Entries> entries;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
  std::atomic<std::size_t> size_{0};
  mutable std::size_t walks_ = 0;
};

}  // namespace tessera
