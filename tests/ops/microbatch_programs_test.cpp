// Random programs of views, writes and arithmetic on samples, on values that exist once a
// microbatch and on weights: all microbatches in one pass give what each gives alone, in values,
// gradients and gradients of gradients, bit for bit.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/op_tools.h"
#include "support/sweep.h"

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera::test {
namespace {

constexpr int kMicrobatches = 4;
constexpr int kPrograms = 2000;
constexpr int kSampledPrograms = 300;

/// Draws of one program.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(std::int64_t n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  double number() { return 0.5 + 0.25 * below(8); }

 private:
  std::mt19937 engine_;
};

/// One value of a program: in one pass, and of each microbatch alone.
struct Value {
  Tensor together;
  std::vector<Tensor> alone;
};

using Function = std::function<Tensor(const Tensor& x, const Tensor& y)>;

/// What a program does next with two of its values. `f` gives `x` itself where it writes to it.
struct Step {
  std::string text;
  Function f;
};

/// A dim of `x`, of one microbatch, that holds no samples, and where it may be taken.
struct Place {
  int dim = 0;
  std::int64_t size = 1;
  int at = 0;
};

std::optional<Place> draw_place(Random& random, const Value& x) {
  const Shape& shape = x.alone[0].shape();
  const bool samples = x.together.microbatches() && !x.together.microbatches().per_microbatch;
  const int first = samples ? 1 : 0;
  if (shape.size() <= first) {
    return {};
  }
  const int dim = first + random.below(shape.size() - first);
  return Place{dim, shape[dim], random.below(shape[dim])};
}

Step draw_view(Random& random, const Value& x, const Place& p) {
  const bool samples = x.together.microbatches() && !x.together.microbatches().per_microbatch;
  const Shape shape = x.alone[0].shape();
  const std::int64_t all = numel_of(shape);
  const int back = p.dim - shape.size();
  switch (random.below(samples ? 5 : 7)) {
    case 0:
      return {"select", [=](auto& t, auto&) { return select(t, back, p.at); }};
    case 1:
      return {"slice", [=](auto& t, auto&) { return slice(t, p.dim, p.at, p.size, 2); }};
    case 2:
      return {"transpose", [=](auto& t, auto&) { return transpose(t, p.dim, -1); }};
    case 3:
      return {"unsqueeze", [=](auto& t, auto&) { return unsqueeze(t, back); }};
    case 4:
      return {"sum", [=](auto& t, auto&) { return sum(t, {back}); }};
    case 5:
      return {"reshape", [=](auto& t, auto&) { return reshape(t, {1, all}); }};
    default:
      return {"expand", [=](auto& t, auto&) {
                Shape to = shape;
                to.insert(0, 2);
                return expand(t, to);
              }};
  }
}

Step draw_write(Random& random, const Place& p) {
  const double c = random.number();
  switch (random.below(10)) {
    case 0:
      return {"mul_ by a number", [=](auto& t, auto&) { return mul_(t, c), t; }};
    case 1:
      return {"mul_", [](auto& t, auto& y) { return mul_(t, y), t; }};
    case 2:
      return {"sub_", [](auto& t, auto& y) { return sub_(t, y), t; }};
    case 3:
      return {"copy_", [](auto& t, auto& y) { return t.copy_(y), t; }};
    case 4:
      return {"fill_", [=](auto& t, auto&) { return fill_(t, c), t; }};
    case 5:
      return {"clamp_", [](auto& t, auto&) { return clamp_(t, 0.4, 1.1), t; }};
    case 6:
      return {"mul_ of a select",
              [=](auto& t, auto&) { return mul_(select(t, p.dim, p.at), c), t; }};
    case 7:
      return {"mul_ of a slice by another", [=](auto& t, auto&) {
                return mul_(slice(t, p.dim, 0, p.size - 1), slice(t, p.dim, 1, p.size)), t;
              }};
    case 8:
      return {"copy_ of a slice to another", [=](auto& t, auto&) {
                return slice(t, p.dim, 1, p.size).copy_(slice(t, p.dim, 0, p.size - 1)), t;
              }};
    default:
      return {"mul_ of a select off the tape", [=](auto& t, auto&) {
                const NoGradGuard off_the_tape;
                return mul_(select(t, p.dim, p.at), c), t;
              }};
  }
}

Step draw_arithmetic(Random& random) {
  switch (random.below(3)) {
    case 0:
      return {"times", [](auto& t, auto& y) { return t * y; }};
    case 1:
      return {"plus", [](auto& t, auto& y) { return t + y; }};
    default:
      return {"sigmoid", [](auto& t, auto&) { return sigmoid(t); }};
  }
}

Step draw_step(Random& random, const Value& x) {
  const std::optional<Place> place = draw_place(random, x);
  const int kind = place ? random.below(3) : 2;
  return kind == 0   ? draw_view(random, x, *place)
         : kind == 1 ? draw_write(random, *place)
                     : draw_arithmetic(random);
}

/// The program of a seed, run in one pass and alone. It ends early where either throws.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    const Shape sample = random_.below(2) == 0 ? Shape{2, 3, 4} : Shape{2, 4};
    Shape value = sample;
    value.erase(0);
    add_leaves(sample, 0);
    add_leaves(random_.below(2) == 0 ? sample : value, -1);
    add_weight(value);
    for (int steps = 3 + random_.below(8); steps > 0 && whole_; --steps) {
      take_step();
    }
  }

  /// A tensor that an op saved and that was overwritten by what came of it would hold its graph,
  /// and its graph it.
  ~Program() {
    for (Value& value : values_) {
      value.together.get().autograd.reset();
      for (const Tensor& x : value.alone) {
        x.get().autograd.reset();
      }
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// True when no step threw.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

  /// In place of the number of a microbatch: all of them, in one pass.
  static constexpr int kTogether = -1;
  /// Gradients, of a sum of all values, with respect to the leaves and, last, the weight. With
  /// `twice`, those of the sum of squares of the leaves' gradients.
  [[nodiscard]] std::vector<Tensor> gradients(int microbatch, bool twice) const;

 private:
  void add_leaves(const Shape& shape, int dim);
  void add_weight(const Shape& shape);
  void take_step();

  Random random_;
  bool whole_ = true;
  std::string text_;
  std::vector<Value> values_;
  std::vector<Tensor> leaves_;  ///< of the pass
  std::vector<std::vector<Tensor>> alone_ = std::vector<std::vector<Tensor>>(kMicrobatches);
};

Tensor leaf_of_values(const Tensor& values) {
  return clone(values).detach().set_requires_grad(true);
}

void Program::add_leaves(const Shape& shape, int dim) {
  std::vector<Tensor> pieces;
  Value value;
  for (int m = 0; m < kMicrobatches; ++m) {
    const Tensor x = rand(shape) + 0.25;
    pieces.push_back(leaf_of_values(x));
    auto& mine = alone_[static_cast<std::size_t>(m)];
    mine.push_back(leaf_of_values(x));
    value.alone.push_back(mine.back() * 1.0);
  }
  value.together =
      join_microbatches(std::vector<TensorRef>(pieces.begin(), pieces.end()), dim) * 1.0;
  leaves_.insert(leaves_.end(), pieces.begin(), pieces.end());
  values_.push_back(std::move(value));
}

void Program::add_weight(const Shape& shape) {
  const Tensor x = rand(shape) + 0.25;
  leaves_.push_back(leaf_of_values(x));
  Value value{leaves_.back() * 1.0, {}};
  for (auto& mine : alone_) {
    mine.push_back(leaf_of_values(x));
    value.alone.push_back(mine.back() * 1.0);
  }
  values_.push_back(std::move(value));
}

void Program::take_step() {
  const auto i = static_cast<std::size_t>(random_.below(std::ssize(values_)));
  const auto j = static_cast<std::size_t>(random_.below(std::ssize(values_)));
  const Step step = draw_step(random_, values_[i]);
  text_ += "value " + std::to_string(i) + ": " + step.text + ", " + std::to_string(j) + "\n";
  Value result;
  try {
    result.together = step.f(values_[i].together, values_[j].together);
    for (std::size_t m = 0; m < kMicrobatches; ++m) {
      result.alone.push_back(step.f(values_[i].alone[m], values_[j].alone[m]));
    }
  } catch (const Error&) {
    whole_ = false;
    return;
  }
  if (!result.together.is(values_[i].together)) {
    values_.push_back(std::move(result));
  }
}

/// Zeros where there is none.
std::vector<Tensor> gradients_of(const Tensor& total, const std::vector<Tensor>& leaves,
                                 const BackwardOptions& options) {
  std::vector<Tensor> found = grad({&total, 1}, leaves, {}, options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = found[i].defined() ? found[i] : zeros_like(leaves[i]);
  }
  return found;
}

std::vector<Tensor> Program::gradients(int microbatch, bool twice) const {
  const bool all = microbatch == kTogether;
  const auto m = static_cast<std::size_t>(all ? 0 : microbatch);
  Tensor total;
  double weight = 1.0;
  for (const Value& value : values_) {
    const Tensor& y = all ? value.together : value.alone[m];
    const Tensor term = sum(y * y * weight);
    total = total.defined() ? total + term : term;
    weight += 0.5;
  }
  const std::vector<Tensor>& leaves = all ? leaves_ : alone_[m];
  if (!twice) {
    return gradients_of(total, leaves, {.keep_graph = true});
  }
  const std::vector<Tensor> once = gradients_of(total, leaves, {.create_graph = true});
  Tensor squares = zeros({});
  for (const Tensor& g : std::span(once).first(once.size() - 1)) {  // all but the weight's
    squares = squares + sum(g * g);
  }
  return squares.requires_grad() ? gradients_of(squares, leaves, {}) : once;
}

void expect_same_values(const Program& program) {
  for (const Value& value : program.values()) {
    const NoGradGuard off_the_tape;
    const Tensor& x = value.together;
    const Outputs pieces = x.microbatches() ? unbind_microbatches(x.detach()) : Outputs{};
    for (std::size_t m = 0; m < kMicrobatches; ++m) {
      expect_same_bits(x.microbatches() ? pieces[m] : x, value.alone[m], "value");
    }
  }
}

void expect_same_gradients(const Program& program, bool twice) {
  const std::vector<Tensor> all = program.gradients(Program::kTogether, twice);
  std::vector<Tensor> of_weight;
  for (int m = 0; m < kMicrobatches; ++m) {
    const std::vector<Tensor> alone = program.gradients(m, twice);
    const std::size_t shared = alone.size() - 1;
    for (std::size_t leaf = 0; leaf < shared; ++leaf) {
      const Tensor& together = all[leaf * kMicrobatches + static_cast<std::size_t>(m)];
      expect_same_bits(together, alone[leaf], "gradient of a leaf of one microbatch");
    }
    of_weight.push_back(alone[shared]);
  }
  const std::vector<TensorRef> pieces(of_weight.begin(), of_weight.end());
  expect_same_bits(all.back(), sum_microbatches(join_microbatches(pieces, -1)),
                   "gradient of the weight");
}

TEST(MicrobatchPrograms, together_as_each_alone) {
  int whole = 0;
  int once = 0;
  int twice = 0;
  const std::vector<int> seeds = sampled(kPrograms, kSampledPrograms);
  for (const int seed : seeds) {
    if (HasFailure()) {
      return;
    }
    const Program program(static_cast<unsigned>(seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + program.text());
    if (!program.whole()) {
      continue;
    }
    ++whole;
    expect_same_values(program);
    try {
      expect_same_gradients(program, false);
      ++once;
      expect_same_gradients(program, true);
      ++twice;
    } catch (const Error&) {  // a write to what a gradient needs, or a second gradient refused
    }
  }
  // A sweep in which all is refused shows nothing.
  const int count = static_cast<int>(seeds.size());
  EXPECT_GT(whole, count / 3);
  EXPECT_GT(once, count / 4);
  EXPECT_GT(twice, count / 10);
}

}  // namespace
}  // namespace tessera::test
