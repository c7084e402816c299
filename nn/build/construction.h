// Modules under construction on a thread.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

#include <tessera/nn/build/module_options.h>
#include <tessera/nn/tree/class_info.h>

namespace tessera::nn::detail {

template <class... A>
inline constexpr bool kBeginsWithOptions = false;
template <class First, class... Rest>
inline constexpr bool kBeginsWithOptions<First, Rest...> =
    std::same_as<std::remove_cvref_t<First>, ModuleOptions>;

/// While it lives, the next module constructed on this thread is of class `info`, and what is
/// constructed on the way belongs to it.
class Construction {
 public:
  /// Throws ValueError for a device that is none of `options.devices`.
  Construction(const ClassInfo& info, const ModuleOptions& options);
  /// Lends these options to what a module constructs while it is built.
  explicit Construction(std::shared_ptr<const ModuleOptions> options);
  ~Construction();
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;
  /// True for the root of what is being constructed.
  [[nodiscard]] bool outermost() const { return outer_ == nullptr; }

  /// What the base class of modules asks for: the class under construction, and its options.
  struct Start {
    const ClassInfo* info;
    std::shared_ptr<const ModuleOptions> options;  ///< null: the defaults
  };
  static Start start();

 private:
  const ClassInfo* pending_;
  std::shared_ptr<const ModuleOptions> options_;
  Construction* outer_;
};

}  // namespace tessera::nn::detail
