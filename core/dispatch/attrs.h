// An op's attributes with their type erased, so that the tape can hold any op's.
#pragma once

#include <cstddef>
#include <new>
#include <ostream>

namespace tessera {

/// What erased attributes can do; one constant per attribute type.
struct AttrsType {
  std::size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* attrs);
  bool (*equal)(const void* a, const void* b);
  void (*print)(std::ostream& out, const void* attrs);  ///< null when not printable
};

namespace detail {

template <class A>
constexpr auto attrs_printer() -> void (*)(std::ostream&, const void*) {
  if constexpr (requires(std::ostream & out, const A& a) { out << a; }) {
    return [](std::ostream& out, const void* a) { out << *static_cast<const A*>(a); };
  } else {
    return nullptr;
  }
}

}  // namespace detail

template <class A>
inline constexpr AttrsType kAttrsType{
    .size = sizeof(A),
    .copy = [](void* to, const void* from) { ::new (to) A(*static_cast<const A*>(from)); },
    .destroy = [](void* attrs) { static_cast<A*>(attrs)->~A(); },
    .equal = [](const void* a,
                const void* b) { return *static_cast<const A*>(a) == *static_cast<const A*>(b); },
    .print = detail::attrs_printer<A>()};

/// A copy of some op's attributes; small ones live inline.
class AttrsBox {
 public:
  AttrsBox(const AttrsType& type, const void* attrs) : type_(&type) {
    void* memory = inline_;
    if (type.size > sizeof(inline_)) {
      memory = heap_ = ::operator new(type.size);
    }
    type.copy(memory, attrs);
  }
  AttrsBox(const AttrsBox&) = delete;
  AttrsBox& operator=(const AttrsBox&) = delete;
  ~AttrsBox() {
    type_->destroy(const_cast<void*>(get()));
    ::operator delete(heap_);
  }

  [[nodiscard]] const void* get() const noexcept { return heap_ != nullptr ? heap_ : inline_; }
  [[nodiscard]] const AttrsType& type() const noexcept { return *type_; }

 private:
  const AttrsType* type_;
  void* heap_ = nullptr;
  alignas(std::max_align_t) std::byte inline_[48];
};

}  // namespace tessera
