// A vector of at most N elements without heap memory up to `N`, and with it beyond.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace tessera {

/// Small sequence whose first `N` elements live in the object. Elements stay at one address only
/// while the size does not pass `N`.
template <class T, std::size_t N>
class InlineVector {
 public:
  InlineVector() noexcept {}
  InlineVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  explicit InlineVector(std::span<const T> values) { append(values.begin(), values.end()); }
  InlineVector(const InlineVector& other) { append(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { steal(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      destroy();
      steal(other);
    }
    return *this;
  }
  ~InlineVector() {
    if (size_ != 0 || on_heap()) {  // most that hold what is rarely there are empty
      destroy();
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) [[unlikely]] {
      return grow(T(std::forward<Args>(args)...));  // made first: `args` may be part of an element
    }
    return *std::construct_at(data_ + size_++, std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void pop_back() noexcept { std::destroy_at(data_ + --size_); }
  void resize(std::size_t size) {
    while (size_ > size) {
      pop_back();
    }
    while (size_ < size) {
      emplace_back();
    }
  }
  void clear() noexcept {
    std::destroy(begin(), end());
    size_ = 0;
  }
  operator std::span<const T>() const noexcept { return {data_, size_}; }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) {
      emplace_back(*first);
    }
  }
  /// Makes room, with `last` behind the others. Out of line: inlined, its calls would take
  /// registers from every loop that fills one.
  [[gnu::noinline, gnu::cold]] T& grow(T&& last) {
    const std::size_t capacity = capacity_ * 2;
    T* fresh = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), fresh);
    std::destroy(begin(), end());
    deallocate();
    data_ = fresh;
    capacity_ = capacity;
    return *std::construct_at(data_ + size_++, std::move(last));
  }
  void steal(InlineVector& other) noexcept {
    if (other.on_heap()) {
      data_ = std::exchange(other.data_, other.local());
      capacity_ = std::exchange(other.capacity_, N);
      size_ = std::exchange(other.size_, 0);
      return;
    }
    data_ = local();
    capacity_ = N;
    size_ = other.size_;
    std::uninitialized_move(other.begin(), other.end(), data_);
    other.clear();
  }
  void destroy() noexcept {
    clear();
    deallocate();
  }
  void deallocate() noexcept {
    if (on_heap()) [[unlikely]] {
      std::allocator<T>().deallocate(data_, capacity_);
    }
    data_ = local();
    capacity_ = N;
  }
  bool on_heap() const noexcept { return capacity_ > N; }
  T* local() noexcept { return reinterpret_cast<T*>(storage_); }

  T* data_ = local();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  alignas(T) std::byte storage_[N * sizeof(T)];
};

}  // namespace tessera
