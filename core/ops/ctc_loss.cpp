#include <tessera/core/ops/ctc_loss.h>

#include <cmath>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/ctc.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/saved_inputs.h>

namespace tessera {
namespace {

void check_integers(const Infer& c, int i, const char* what, const Shape& shape) {
  const Tensor& x = c.input(i);
  check_integer(c.op(), what, x.dtype());
  check_shape(c.op(), what, x.shape(), shape);
}

void check_batch(const Infer& c, const CtcLossAttrs& attrs) {
  const Tensor& x = c.input(0);
  check_layout(x.ndim() == 3, c.op(), "log-probabilities", x.shape(), "(frames, samples, classes)");
  check_floating(c.op(), "log-probabilities", x.dtype());
  check(attrs.blank >= 0 && attrs.blank < x.size(2), c.op(), ": blank is no class; got ",
        attrs.blank, ", expected one in [0, ", x.size(2), ")");
  check_layout(c.input(1).ndim() == 2, c.op(), "labels", c.input(1).shape(), "(samples, labels)");
  check_integers(c, 1, "labels", {x.size(1), c.input(1).size(1)});
  check_integers(c, 2, "input lengths", {x.size(1)});
  check_integers(c, 3, "target lengths", {x.size(1)});
}

/// The samples of a call, whose values are checked as they are used.
class Batch {
 public:
  Batch(const Kernel& k, const CtcLossAttrs& attrs)
      : op_(k.op()),
        blank_(attrs.blank),
        shape_(k.input(0).shape),
        width_(k.input(1).shape[1]),
        log_probs_(dense_values<double>(k.input(0))),
        labels_(dense_values<std::int64_t>(k.input(1))),
        frames_(dense_values<std::int64_t>(k.input(2))),
        lengths_(dense_values<std::int64_t>(k.input(3))) {}

  [[nodiscard]] std::int64_t samples() const { return shape_[1]; }
  [[nodiscard]] std::int64_t classes() const { return shape_[2]; }
  [[nodiscard]] std::int64_t numel() const { return numel_of(shape_); }

  [[nodiscard]] CtcLattice sample(std::int64_t n) const {
    const std::int64_t frames = frames_[static_cast<std::size_t>(n)];
    check(frames >= 0 && frames <= shape_[0], op_, ": input length out of range; got ", frames,
          " of sample ", n, ", expected [0, ", shape_[0], "]");
    return {log_probs_.data() + n * classes(), samples() * classes(), frames, labels(n), blank_};
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> labels(std::int64_t n) const {
    const std::int64_t length = lengths_[static_cast<std::size_t>(n)];
    check(length >= 0 && length <= width_, op_, ": target length out of range; got ", length,
          " of sample ", n, ", expected [0, ", width_, "]");
    const auto first = labels_.begin() + n * width_;
    for (auto label = first; label != first + length; ++label) {
      check(*label >= 0 && *label < classes() && *label != blank_, op_,
            ": a label is no class; got ", *label, " in sample ", n, ", expected [0, ", classes(),
            ") without the blank ", blank_);
    }
    return {first, first + length};
  }

  const char* op_;
  std::int64_t blank_;
  Shape shape_;
  std::int64_t width_;
  std::vector<double> log_probs_;
  std::vector<std::int64_t> labels_;
  std::vector<std::int64_t> frames_;
  std::vector<std::int64_t> lengths_;
};

/// Samples can be dealt out: label 1 is theirs.
ShardRule sample_rule(bool with_gradients) {
  ShardRule rule;
  DimLabels frames(3);
  frames[1] = 1;
  DimLabels rows(2);
  rows[0] = 1;
  DimLabels each(1);
  each[0] = 1;
  for (const DimLabels& labels : {frames, rows, each, each}) {
    rule.inputs.push_back(labels);
  }
  if (with_gradients) {
    rule.inputs.push_back(each);
  }
  rule.outputs.push_back(with_gradients ? frames : each);
  return rule;
}

}  // namespace

void CtcLoss::infer(Infer& c, const Attrs& attrs) {
  check_batch(c, attrs);
  const Tensor& x = c.input(0);
  c.add_output({x.size(1)}, x.dtype() == DType::f64 ? DType::f64 : DType::f32);
}

void CtcLoss::reference(Kernel& k, const Attrs& attrs) {
  const Batch batch(k, attrs);
  std::vector<double> losses;
  for (std::int64_t n = 0; n < batch.samples(); ++n) {
    const double loss = batch.sample(n).loss();
    losses.push_back(attrs.zero_infinity && std::isinf(loss) ? 0 : loss);
  }
  store_values(k.output(), losses);
}

void CtcLoss::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<CtcLossBackward>({v.input(0), v.input(1), v.input(2), v.input(3), v.gradient()},
                                 attrs));
}

ShardRule CtcLoss::shard(const Infer&, const Attrs&) {
  return sample_rule(false);
}

void CtcLossBackward::infer(Infer& c, const Attrs& attrs) {
  check_batch(c, attrs);
  check_saved(c, 4, {c.input(0).size(1)});
  c.add_output(c.input(0).shape(), c.input(0).dtype());
}

void CtcLossBackward::reference(Kernel& k, const Attrs& attrs) {
  const Batch batch(k, attrs);
  const std::vector<double> scales = dense_values<double>(k.input(4));
  std::vector<double> gradient(static_cast<std::size_t>(batch.numel()));
  for (std::int64_t n = 0; n < batch.samples(); ++n) {
    const CtcLattice lattice = batch.sample(n);
    if (!attrs.zero_infinity || !std::isinf(lattice.loss())) {
      lattice.add_gradient(gradient.data() + n * batch.classes(),
                           scales[static_cast<std::size_t>(n)]);
    }
  }
  store_values(k.output(), gradient);
}

void CtcLossBackward::vjp(Vjp&, const Attrs&) {
  fail<Unsupported>("ctc_loss: second derivatives are not supported");
}

ShardRule CtcLossBackward::shard(const Infer&, const Attrs&) {
  return sample_rule(true);
}

const Register<CtcLoss> register_ctc_loss;
const Register<CtcLossBackward> register_ctc_loss_backward;

}  // namespace tessera
