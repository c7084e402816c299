#include <tessera/nn/layers/recurrent.h>

#include <cmath>

#include <tessera/core/base/log.h>
#include <tessera/core/base/mapped.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

void check_sizes(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                 const RecurrentOptions& options) {
  check<ValueError>(input_size >= 1 && hidden_size >= 1 && options.num_layers >= 1,
                    "recurrent: sizes must be positive; got input_size ", input_size,
                    ", hidden_size ", hidden_size, ", num_layers ", options.num_layers);
  check<ValueError>(options.dropout >= 0 && options.dropout <= 1, "recurrent: wrong dropout; got ",
                    options.dropout, ", expected one in [0, 1]");
  const std::int64_t projected = options.proj_size;
  check<ValueError>(projected == 0 || cell == RecurrentCell::lstm,
                    "recurrent: only an lstm takes a proj_size; got ", projected);
  check<ValueError>(projected >= 0 && projected < hidden_size, "recurrent: wrong proj_size; got ",
                    projected, ", expected one in [0, ", hidden_size, ")");
  if (options.dropout > 0 && options.num_layers == 1) {
    log_warning("recurrent: dropout acts between layers; got ", options.dropout, " and one layer");
  }
}

}  // namespace

Recurrent::Recurrent(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                     const RecurrentOptions& options)
    : cell_(cell), input_size_(input_size), hidden_size_(hidden_size), options_(options) {
  check_sizes(cell, input_size, hidden_size, options);
  for (std::int64_t layer = 0; layer < options.num_layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      layers_.push_back(make_direction(layer, direction == 1));
    }
  }
}

Recurrent::Direction Recurrent::make_direction(std::int64_t layer, bool reverse) {
  const std::string suffix = "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
  const std::int64_t width = layer == 0 ? input_size_ : state_size() * directions();
  const std::int64_t gates = hidden_size_ * gates_of(cell_);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size_));
  const auto make = [&](const std::string& name, const Shape& shape) {
    return Parameter(this, name + suffix, shape, init::uniform(-bound, bound));
  };
  Direction made;
  made.weight_ih = make("weight_ih", {gates, width});
  made.weight_hh = make("weight_hh", {gates, state_size()});
  if (options_.bias) {
    made.bias_ih = make("bias_ih", {gates});
    made.bias_hh = make("bias_hh", {gates});
  }
  if (options_.proj_size > 0) {
    made.weight_hr = make("weight_hr", {options_.proj_size, hidden_size_});
  }
  return made;
}

RecurrentOutput Recurrent::run(const Tensor& x, const RecurrentStates& first,
                               const Tensor& lengths) const {
  const auto weights = mapped(layers_, [](const Direction& own) {
    return RecurrentWeights{own.weight_ih, own.weight_hh, own.bias_ih, own.bias_hh, own.weight_hr};
  });
  return run_recurrent(cell_, x, first, weights,
                       {.batch_first = options_.batch_first,
                        .dropout = training() ? options_.dropout : 0,
                        .bidirectional = options_.bidirectional,
                        .lengths = lengths});
}

std::string Recurrent::extra_repr() const {
  std::string text = tessera::detail::concat(input_size_, ", ", hidden_size_);
  const auto add = [&](bool differs, const char* name, const auto& value) {
    text += differs ? tessera::detail::concat(", ", name, "=", value) : "";
  };
  add(options_.proj_size != 0, "proj_size", options_.proj_size);
  add(options_.num_layers != 1, "num_layers", options_.num_layers);
  add(!options_.bias, "bias", "False");
  add(options_.batch_first, "batch_first", "True");
  add(options_.dropout != 0, "dropout", python_text(options_.dropout));
  add(options_.bidirectional, "bidirectional", "True");
  return text;
}

}  // namespace tessera::nn
