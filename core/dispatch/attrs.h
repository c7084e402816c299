// An op's attributes with their type erased, so that the tape can hold any op's.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <ostream>
#include <type_traits>

namespace tessera {

/// What erased attributes can do; one constant per attribute type.
struct AttrsType {
  std::size_t size;
  void (*copy)(void* to, const void* from);
  void (*destroy)(void* attrs);
  bool (*equal)(const void* a, const void* b);
  /// Writes `{dim=0, keepdim=true}`, nothing for attributes without fields.
  void (*print)(std::ostream& out, const void* attrs);
};

/// The attributes of an op without any.
struct NoAttrs {
  friend bool operator==(const NoAttrs&, const NoAttrs&) = default;
};

/// The attributes of an op that works along one dim.
struct DimAttrs {
  int dim = 0;
  void fields(auto&& see) const { see("dim", dim); }
  friend bool operator==(const DimAttrs&, const DimAttrs&) = default;
};

namespace detail {

/// Attributes with fields show them, in order:
/// `void fields(auto&& see) const { see("dim", dim), see("keepdim", keepdim); }`.
template <class A>
concept HasFields = requires(const A& attrs) {
  attrs.fields([](const char*, const auto&) {});
};

template <class V>
void print_value(std::ostream& out, const V& value);

template <HasFields A>
void print_fields(std::ostream& out, const A& attrs) {
  const char* before = "{";
  attrs.fields([&](const char* name, const auto& value) {
    out << before << name << '=';
    print_value(out, value);
    before = ", ";
  });
  out << '}';
}

template <class V>
void print_value(std::ostream& out, const V& value) {
  if constexpr (HasFields<V>) {
    print_fields(out, value);
  } else if constexpr (std::same_as<V, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_integral_v<V>) {
    out << +value;  // numbers of 8 bits are no letters
  } else {
    out << value;
  }
}

template <class A>
void print_attrs([[maybe_unused]] std::ostream& out, [[maybe_unused]] const A& attrs) {
  static_assert(std::is_empty_v<A> || HasFields<A>,
                "attributes show their fields: core/dispatch/attrs.h");
  if constexpr (HasFields<A>) {
    print_fields(out, attrs);
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
    .print = [](std::ostream& out,
                const void* a) { detail::print_attrs(out, *static_cast<const A*>(a)); }};

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
