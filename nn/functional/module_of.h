// Plain functions, tuples and lists of them as modules.
//
//   auto dense = nn::module_of([](nn::State& s, const Tensor& x) {
//     return matmul(x, s.variable("w", [&] { return randn({x.size(-1), 4}); }));
//   }, "dense");
//   auto layer = dense(nn::RandomKey{1, 0}, x);   // runs it once to find its state
//   Tensor y = layer(x);
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/nn/functional/frame.h>
#include <tessera/nn/functional/function_module.h>
#include <tessera/nn/functional/random_key.h>

namespace tessera::nn {

namespace detail {

/// Takes all writes: initialising declares state and changes none.
class ScratchFrame final : public KeepingFrame {
 public:
  bool write(const SlotPtr& slot, const Tensor& value) override {
    check_assigned(*slot, value);
    values_[slot.get()] = kept_copy(value, value.dtype());
    return true;
  }
};

/// The key of element `i` of a tuple or list.
inline RandomKey split(const RandomKey& key, std::size_t i) {
  return {mix(key.seed, i + 1), key.step};
}

inline std::string element_name(const std::string& name, std::size_t i) {
  return name.empty() ? name : tessera::detail::concat(name, '_', i);
}

}  // namespace detail

/// A function that becomes a module when it is called with a key and example inputs.
template <class F>
class FunctionTemplate {
 public:
  FunctionTemplate(F function, const std::string& name)
      : function_(std::move(function)), name_(name) {}

  template <class... A>
  auto operator()(const RandomKey& key, const A&... inputs) const {
    using R = std::invoke_result_t<const F&, State&, const A&...>;
    ModuleOptions options;
    if (!name_.empty()) {
      options.name = name_;
    }
    const auto module = make<FunctionModule<R(A...)>>(options, function_);
    const RandomKeyScope random(key);
    detail::ScratchFrame scratch;
    const FrameScope scope(scratch);
    static_cast<void>(module->initialise(inputs...));
    return module;
  }

 private:
  F function_;
  std::string name_;
};

/// `function(State&, inputs...)` as a template of modules. A function that declares nothing becomes
/// a module without state; an empty name is none.
template <class F>
requires(!std::is_base_of_v<Module, F>)
    [[nodiscard]] FunctionTemplate<F> module_of(F function, const std::string& name = {}) {
  return {std::move(function), name};
}

/// Functions side by side: the module gives all of them the same inputs and returns a tuple.
template <class... F>
requires(sizeof...(F) > 0)
    [[nodiscard]] auto module_of(std::tuple<F...> functions, const std::string& name = {}) {
  return [functions = std::move(functions), name]<class... A>(const RandomKey& key,
                                                              const A&... inputs) {
    const auto parts = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple{module_of(std::get<I>(functions), detail::element_name(name, I))(
          detail::split(key, I), inputs...)...};
    }
    (std::index_sequence_for<F...>());
    const auto all = [parts](State& state, const A&... given) {
      return std::apply(
          [&](const auto&... part) { return std::tuple{state.call(part, given...)...}; }, parts);
    };
    return module_of(all, name)(key, inputs...);
  };
}
[[noreturn]] inline void module_of(std::tuple<>, const std::string& = {}) {
  fail<ValueError>("module_of: an empty tuple makes no module");
}

/// Functions one after another: each gets what the one before returned.
template <class F>
[[nodiscard]] auto module_of(std::vector<F> functions, const std::string& name = {}) {
  check<ValueError>(!functions.empty(), "module_of: an empty list makes no module");
  return [functions = std::move(functions), name](const RandomKey& key, const Tensor& input) {
    std::vector<Ptr<FunctionModule<Tensor(Tensor)>>> parts;
    Tensor x = input;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      parts.push_back(
          module_of(functions[i], detail::element_name(name, i))(detail::split(key, i), x));
      x = parts.back()(x);
    }
    const auto all = [parts](State& state, const Tensor& given) {
      Tensor y = given;
      for (const auto& part : parts) {
        y = state.call(part, y);
      }
      return y;
    };
    return module_of(all, name)(key, input);
  };
}

}  // namespace tessera::nn
