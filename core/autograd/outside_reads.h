// What a checkpointed region reads from outside that may change before it runs again.
#pragma once

#include <any>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/base/error.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// What the first run of a region read, in order.
struct OutsideLog {
  std::vector<SavedTensor> tensors;  ///< with their versions: what is written to since is refused
  std::vector<bool> flags;
  std::vector<std::any> values;
};

/// Installed while a region runs: the first run notes what it reads, the second gets the same.
class OutsideReads {
 public:
  OutsideReads(OutsideLog& log, bool replay)
      : log_(log), replay_(replay), outer_(Modes::current().outside_reads) {}

  template <class Get>
  Tensor tensor(const std::string& name, const Get& get) {
    if (replay_ && next_tensor_ < log_.tensors.size()) {
      const SavedTensor& saved = log_.tensors[next_tensor_++];
      check(saved.is_intact(), "checkpoint: \"", name,
            "\", which the region reads again in backward, ",
            "was changed in place since its forward");
      return saved.unpack("checkpoint");
    }
    Tensor now = outer_ == nullptr ? get() : outer_->tensor(name, get);
    log_.tensors.push_back(SavedTensor::as_it_is(now));
    return now;
  }
  bool flag(bool now) {
    if (replay_ && next_flag_ < log_.flags.size()) {
      return log_.flags[next_flag_++];
    }
    log_.flags.push_back(outer_ == nullptr ? now : outer_->flag(now));
    return log_.flags.back();
  }
  /// A value of any type T; `keep` makes what is noted of what `get` gave.
  template <class T, class Get, class Keep>
  T value(const Get& get, const Keep& keep) {
    if (replay_ && next_value_ < log_.values.size()) {
      return std::any_cast<const T&>(log_.values[next_value_++]);
    }
    T now = outer_ == nullptr ? get() : outer_->template value<T>(get, keep);
    log_.values.emplace_back(T(keep(now)));
    return now;
  }

 private:
  OutsideLog& log_;
  bool replay_;
  OutsideReads* outer_;
  std::size_t next_tensor_ = 0;
  std::size_t next_flag_ = 0;
  std::size_t next_value_ = 0;
};

/// While it lives, what the thread does is no part of the checkpointed region that runs, if one
/// does: the second run will not repeat it, so nothing is noted, and the tape keeps tensors itself.
class OutsideRegionScope {
 public:
  OutsideRegionScope() {
    if (Modes::current().outside_reads != nullptr) {
      reads_.emplace(nullptr);
      saved_.emplace(nullptr);
    }
  }

 private:
  std::optional<ModeGuard<&Modes::outside_reads>> reads_;
  std::optional<ModeGuard<&Modes::saved_hooks>> saved_;
};

/// The tensor that `get` gives; in the second run of a region the one that it gave in the first.
/// Throws InvalidArgument naming it, by `name`, where it was written to since.
template <class Get>
Tensor read_outside(const std::string& name, const Get& get) {
  OutsideReads* reads = Modes::current().outside_reads;
  return reads == nullptr ? get() : reads->tensor(name, get);
}

/// A switch, as a region reads it from outside.
inline bool read_outside(bool now) {
  OutsideReads* reads = Modes::current().outside_reads;
  return reads == nullptr ? now : reads->flag(now);
}

}  // namespace tessera
