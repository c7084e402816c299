// Intrusive reference counting: one word per handle, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tessera {

/// Base of objects held by `Ref`. `T` supplies `static void release(T*)` to dispose of itself
/// when the default, plain `delete`, does not serve.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Retains an object that no other thread knows yet: an op makes three of them, and an atomic
  /// addition costs a tenth of a small op.
  void retain_fresh() const noexcept { count_.store(1, std::memory_order_relaxed); }
  /// True when the caller dropped the last reference.
  [[nodiscard]] bool drop() const noexcept {
    if (count_.load(std::memory_order_acquire) == 1) {
      return true;  // sole owner: nobody else can be adding references
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  [[nodiscard]] std::uint32_t use_count() const noexcept {
    return count_.load(std::memory_order_acquire);
  }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> count_{0};
};

/// Shared ownership of a `RefCounted` object; copying is thread-safe, a single handle is not.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) { acquire(); }
  Ref(const Ref& other) noexcept : object_(other.object_) { acquire(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  /// The first handle of an object that was made just now.
  [[nodiscard]] static Ref fresh(T* object) noexcept {
    Ref ref;
    object->retain_fresh();
    ref.object_ = object;
    return ref;
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) {  // most were moved away: those cost no call
      reset();
    }
  }

  void reset() noexcept {
    if (T* object = std::exchange(object_, nullptr); object != nullptr && object->drop()) {
      dispose(object);
    }
  }
  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  void acquire() const noexcept {
    if (object_ != nullptr) {
      object_->retain();
    }
  }
  static void dispose(T* object) noexcept {
    if constexpr (requires { T::release(object); }) {
      T::release(object);
    } else {
      delete object;
    }
  }

  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::fresh(new T(std::forward<Args>(args)...));
}

}  // namespace tessera
