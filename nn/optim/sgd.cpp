#include <tessera/nn/optim/sgd.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/optim/pieces.h>

namespace tessera::optim {
namespace {

/// The factors of one step, rounded to the parameter's type.
template <class T>
struct Factors {
  T rate, momentum, rest, decay, scale;
  bool nesterov, first;

  Factors(const SgdOptions& o, std::int64_t step, double gradient_scale)
      : rate(static_cast<T>(o.lr)),
        momentum(static_cast<T>(o.momentum)),
        rest(static_cast<T>(1 - o.dampening)),
        decay(static_cast<T>(o.weight_decay)),
        scale(static_cast<T>(gradient_scale)),
        nesterov(o.nesterov),
        first(step == 1) {}

  void apply(T& parameter, T gradient, T* buffer) const {
    T direction = gradient * scale + decay * parameter;
    if (buffer != nullptr) {
      *buffer = first ? direction : momentum * *buffer + rest * direction;
      direction = nesterov ? direction + momentum * *buffer : *buffer;
    }
    parameter -= rate * direction;
  }
};

}  // namespace

void SgdOptions::validate() const {
  check(lr >= 0, "Sgd: lr is negative; got ", lr);
  check(momentum >= 0, "Sgd: momentum is negative; got ", momentum);
  check(weight_decay >= 0, "Sgd: weight_decay is negative; got ", weight_decay);
  check(!nesterov || (momentum > 0 && dampening == 0),
        "Sgd: nesterov needs momentum and no dampening; got momentum ", momentum, " and dampening ",
        dampening);
}

Sgd::Sgd() : OptimizerWith({"momentum_buffer"}) {}

Sgd::Sgd(const std::vector<nn::Parameter>& parameters, const SgdOptions& options) : Sgd() {
  add_group(parameters, options);
}

bool Sgd::has_state(std::size_t group) const {
  return options(group).momentum > 0;
}

void Sgd::update(std::size_t group, std::int64_t step, std::span<const Range> ranges,
                 double scale) {
  for (const Range& r : ranges) {
    for_pieces(r.parameter, [&]<class T>(std::int64_t first, std::int64_t count) {
      const Factors<T> factors(options(group), step, scale);
      T* parameter = r.parameter.get().data<T>();
      const T* gradient = r.gradient.get().data<T>();
      T* buffer = r.state.empty() ? nullptr : r.state[0].get().data<T>();
      for (std::int64_t i = first; i < first + count; ++i) {
        factors.apply(parameter[i], gradient[i], buffer == nullptr ? nullptr : buffer + i);
      }
    });
  }
}

}  // namespace tessera::optim
