// A layer's case made again.
#pragma once

#include <string>
#include <vector>

#include "oracle/support/counterparts.h"
#include "oracle/support/precision.h"

namespace tessera::oracle {

/// A recorded layer, as module and as function.
class LayerReplay {
 public:
  /// `record`: the case in the fixture; `layer`: how it is made.
  LayerReplay(const Node& record, const Layer& layer) : record_(record), layer_(layer) {}

  /// Runs forward and backward and expects outputs, buffers and gradients near the record's.
  void expect_near(const Precision& precision) const;
  /// Not under autocast where the record is not smooth: behind a kink, another rounding gives
  /// another slope.
  [[nodiscard]] bool compares_gradients(const Precision& precision) const;
  /// Expects the names of the state, in order, and the printed form.
  void expect_same_form() const;
  /// Expects its bytes to give a module of the same form and of the same bytes.
  void expect_same_from_bytes() const;
  /// Expects the values of a new module to be spread as the record's.
  void expect_same_beginning() const;

 private:
  void run_module(const Precision& precision) const;
  void run_function(const Precision& precision) const;
  /// Inputs in the precision; those that have a gradient in the record collect one.
  [[nodiscard]] NamedTensors inputs(const Precision& precision) const;
  void backward(const std::vector<Tensor>& outputs, const Precision& precision) const;
  void expect_part(const char* part, const Precision& precision, const NamedTensors& got) const;

  const Node& record_;
  const Layer& layer_;
};

}  // namespace tessera::oracle
