// Members of modules that are modules.
#pragma once

#include <concepts>
#include <memory>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/nn/build/construction.h>
#include <tessera/nn/call.h>

namespace tessera::nn {

namespace detail {

template <class... A>
inline constexpr bool kBeginsWithName = false;
template <class First, class... Rest>
inline constexpr bool kBeginsWithName<First, Rest...> =
    std::convertible_to<First, std::string_view>;

}  // namespace detail

/// A member that is itself a module: `nn::Child<nn::Linear> fc{this, "fc", 4, 8};` constructs and
/// registers it; ModuleOptions may stand before M's own arguments. Called like a function with
/// exactly M's forward. It follows its name: a module that derives from M can be put there with
/// `set_submodule`, and then runs its own forward.
template <class M>
class Child {
 public:
  static_assert(std::is_base_of_v<Module, M>, "no class of modules: write `struct M : nn::Module`");

  template <class... A>
  Child(Module* owner, std::string_view name, const ModuleOptions& options, A&&... arguments)
      : entry_(detail::child_entry(*owner, name)) {
    const ClassInfo& info = detail::class_info<M>();
    check<KeyError>(entry_->module == nullptr, "module name \"", name,
                    "\": already used by a module of ", owner->class_name());
    entry_->declared = &info;
    if constexpr (detail::check_construction<M, A...>()) {
      std::shared_ptr<M> module;
      {
        const detail::Construction construction(info, options);
        module = std::make_shared<M>(std::forward<A>(arguments)...);
      }
      detail::put_child(*owner, entry_, std::move(module));
    }
  }
  template <class... A>
  requires(!detail::kBeginsWithOptions<A...>)
      Child(Module* owner, std::string_view name,  // options with their type: ConvOptions{...}
            A&&... arguments)
      : Child(owner, name, ModuleOptions{}, std::forward<A>(arguments)...) {}
  /// Says what to write where the name is missing.
  template <class... A>
  requires(!detail::kBeginsWithName<A...>) explicit Child(Module*, A&&...) {
    static_assert(detail::kNever<M, A...>,
                  "the child has no name: write `nn::Child<M> member{this, \"member\", ...}`");
  }
  /// Says what to write where `this` is missing.
  template <class First, class... Rest>
  requires(detail::kBeginsWithName<First> || std::is_arithmetic_v<First>)  //
      explicit Child(const First&, const Rest&...) {
    static_assert(detail::kNever<M, First, Rest...>,
                  "the child has no owner: write `nn::Child<M> member{this, \"member\", ...}`");
  }
  /// Refers to a name that is there. Throws TypeError when it holds something else than an M.
  explicit Child(ChildEntryPtr entry) : entry_(std::move(entry)) {
    entry_->declared = &detail::class_info<M>();
    check<TypeError>(entry_->module == nullptr || entry_->declared->can_hold(*entry_->module),
                     "module name \"", entry_->name, "\": the module there is no ",
                     entry_->declared->name);
  }
  Child(const std::shared_ptr<M>&) = delete;  // write {this, "member", arguments of the module}
  Child(const Child& other) : entry_(detail::counterpart(other.entry_)) {}
  Child(Child&&) noexcept = default;
  Child& operator=(const Child&) = delete;  // to share a module: set_submodule(name, other.ptr())
  Child& operator=(Child&&) noexcept = default;

  template <class... A>
  auto operator()(A&&... arguments) const {
    if constexpr (std::is_base_of_v<Module, M>) {
      return detail::invoke_with_options<M>(get(), entry_->name, std::forward<A>(arguments)...);
    } else {
      return detail::AnyResult();  // the assertion above said what is wrong
    }
  }
  explicit operator bool() const = delete;           // no condition: write child.defined()
  operator std::vector<Parameter>() const = delete;  // for an optimizer: child->parameters()
  M* operator->() const { return &get(); }
  M& operator*() const { return get(); }
  /// False when the name was emptied.
  [[nodiscard]] bool defined() const { return entry_->module != nullptr; }
  [[nodiscard]] std::shared_ptr<M> ptr() const {
    return std::static_pointer_cast<M>(entry_->module);
  }

 private:
  [[nodiscard]] M& get() const {
    check<AttributeError>(defined(), "module \"", entry_->name, "\": the name holds no module");
    return static_cast<M&>(*entry_->module);
  }

  ChildEntryPtr entry_;
};

/// Prints the module, not its address; "None" where there is none.
template <std::derived_from<Module> M>
std::ostream& operator<<(std::ostream& out, const std::shared_ptr<M>& module) {
  return module == nullptr ? out << "None" : out << *module;
}
template <class M>
std::ostream& operator<<(std::ostream& out, const Child<M>& child) {
  return out << child.ptr();
}

}  // namespace tessera::nn
