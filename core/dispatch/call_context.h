// What the result of a call depends on besides its inputs and attributes.
#pragma once

#include <optional>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

/// The circumstances of a call. A public function asks for them where a call begins, and what they
/// say goes into attributes; a gradient is given its own (Vjp::context). Nothing else of an op
/// knows that there are any.
struct CallContext {
  const Pass* pass;               ///< that the rank runs; never null
  BatchSum batch_sum;             ///< how sums over the batch are handed over
  bool record;                    ///< gradients are on
  std::optional<DType> autocast;  ///< in which heavy ops compute: core/dispatch/autocast.h

  /// The circumstances of a call on this thread now.
  [[nodiscard]] static CallContext current() noexcept {
    const Modes& modes = Modes::current();
    return {&Context::current().pass, modes.batch_sum, modes.record, modes.autocast};
  }
  /// The dtype in which an op computes whose inputs promote to `promoted`.
  [[nodiscard]] DType compute_dtype(DType promoted) const noexcept {
    const bool applies = autocast && is_floating(promoted) && promoted != DType::f64;
    return applies ? *autocast : promoted;
  }
};

static_assert(sizeof(CallContext) == 16, "it is handed on by value");

/// While it lives, ops that sum over the batch hand over one sum a microbatch, as in a forward.
class SumsApart {
 public:
  SumsApart() = default;

 private:
  ModeGuard<&Modes::batch_sum> guard_{BatchSum::per_microbatch};
};

}  // namespace tessera
