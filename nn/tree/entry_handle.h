// What Parameter and Buffer hold of a name in a tree of modules.
#pragma once

#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/nn/tree/copying.h>

namespace tessera::nn::detail {

/// A handle on the entry of a slot's name. That of a member stands for the name that it declared:
/// copied with its module it becomes the copy's, and it can be assigned no other. Free handles, as
/// `parameters()` gives them, may be assigned like pointers.
class EntryHandle {
 public:
  EntryHandle() = default;
  explicit EntryHandle(SlotEntryPtr entry, bool member = false)
      : entry_(std::move(entry)), member_(member) {}
  EntryHandle(const EntryHandle& other)
      : entry_(counterpart(other.entry_)), member_(other.member_ && entry_ != other.entry_) {}
  /// Leaves `other` as it is: a member cannot lose its name.
  EntryHandle(EntryHandle&& other) noexcept : entry_(other.entry_), member_(other.member_) {}
  /// Throws RuntimeError for a member with another name.
  EntryHandle& operator=(const EntryHandle& other) {
    require_free(other);
    entry_ = other.entry_;
    return *this;
  }
  EntryHandle& operator=(EntryHandle&& other) {
    require_free(other);
    entry_ = other.entry_;
    member_ = member_ || other.member_;
    return *this;
  }
  ~EntryHandle() = default;

  SlotEntry* operator->() const { return entry_.get(); }
  operator const SlotEntryPtr&() const { return entry_; }
  friend bool operator==(const EntryHandle& handle, std::nullptr_t) {
    return handle.entry_ == nullptr;
  }

 private:
  void require_free(const EntryHandle& other) const {
    check<RuntimeError>(!member_ || entry_ == other.entry_, "the member \"",
                        entry_ != nullptr ? entry_->name : "",
                        "\": stands for its name and cannot be assigned; a.tie(b) makes one "
                        "parameter of two, buffer.assign(value) changes a value");
  }

  SlotEntryPtr entry_;
  bool member_ = false;
};

}  // namespace tessera::nn::detail
