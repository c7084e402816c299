// One declarative case an op, from which everything that must hold for an op is tested.
//
//   const RegisterOpCase<Clamp> kClampCase{{
//       .samples = {{.inputs = {real({2, 3})}, .attrs = {.low = -1, .high = 1}}},
//       .wrong = {{.inputs = {complex({2})}}},
//   }};
//
// Each case becomes a handful of tests named NAME.*: see op_checks.h. The completeness test fails
// for a registered op without a case.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tessera/core/dispatch/call.h>

namespace tessera::test {

/// How to make one input of a call. Values depend on the seed alone, and are multiples of 1/64
/// where that serves, so that 16-bit floats hold them too.
struct InputSpec {
  enum class Kind { real, complex, integer, boolean, absent, derived };
  Kind kind = Kind::real;
  Shape shape;
  double low = -2;
  double high = 2;
  DType dtype = DType::f64;
  bool sweeps = true;          ///< takes the dtype of a dtype sweep
  bool differentiates = true;  ///< its gradient is checked
  bool distinct = false;       ///< no two elements are equal, nor close
  std::vector<double> values;  ///< given instead of random ones
  /// Makes a derived input from the others.
  std::function<Tensor(const std::vector<Tensor>& inputs)> derive;

  /// Never closer to zero than 1/8: for functions with a kink or pole there.
  InputSpec& away_from_zero() {
    gap = 0.125;
    return *this;
  }
  /// Its gradient is not checked: it has none.
  InputSpec& constant() {
    differentiates = false;
    return *this;
  }
  double gap = 0;
  /// It holds `parts` microbatches along `dim`, or stacked in dim 0.
  InputSpec& in_microbatches(std::int32_t parts, std::int8_t dim, bool stacked = false) {
    microbatches = {.count = parts, .dim = dim, .per_microbatch = stacked};
    return *this;
  }
  MicrobatchLayout microbatches;
};

/// Floating numbers in [low, high), f64 unless a dtype sweep says otherwise.
[[nodiscard]] InputSpec real(Shape shape, double low = -2, double high = 2);
/// Floating numbers that all differ by at least 1/16 or so: for max, sorting.
[[nodiscard]] InputSpec distinct(Shape shape);
[[nodiscard]] InputSpec complex(Shape shape);
/// Integers in [low, high); dtype i64, not swept.
[[nodiscard]] InputSpec integers(Shape shape, std::int64_t low, std::int64_t high);
[[nodiscard]] InputSpec booleans(Shape shape);
/// Given numbers; `dtype` i64 and bool are not swept.
[[nodiscard]] InputSpec given(Shape shape, std::vector<double> values, DType dtype = DType::f64);
/// An optional input that is not there.
[[nodiscard]] InputSpec absent();
/// What `derive` makes of the call's inputs, those that are derived before it among them: saved
/// results of a forward op, say, which its backward op takes. It has no gradient of its own: one of
/// the call holds for inputs that move together with it.
[[nodiscard]] InputSpec derived(std::function<Tensor(const std::vector<Tensor>& inputs)> derive);

/// How far a fast kernel or a narrow dtype may be off, in units in the last place of the dtype of
/// the output, measured at the size of the reference value.
struct Tolerance {
  double ulps = 4;
  /// Allowed beside it, in units in the last place of the largest output element: for sums with
  /// cancellation.
  double of_largest = 0;
};

/// One call to try.
struct SampleData {
  using Attrs = std::shared_ptr<const void>;
  std::vector<InputSpec> inputs;
  std::function<Attrs(DType)> attrs_in;  ///< for swept inputs of a dtype
  /// Of microbatch `index` of `count`, of the call with attributes `attrs`.
  std::function<Attrs(const void* attrs, int index, int count)> attrs_of_microbatch;

  /// For inputs as they are given.
  [[nodiscard]] Attrs attrs() const { return attrs_in(DType::f64); }
};

inline constexpr int kMaxOutputs = 1000;

/// What of the gradient of an op's gradient is tested.
enum class SecondGradient : std::uint8_t {
  right,      ///< by finite differences of the gradient
  refused,    ///< that it is Unsupported
  unchecked,  ///< nothing, for the reason beside it
};

/// A case with its op's type erased.
struct OpCaseData {
  const OpDef* op = nullptr;
  std::string variant;  ///< of an op with several cases
  std::vector<SampleData> samples;
  std::vector<SampleData> wrong;  ///< each must throw InvalidArgument or Unsupported
  std::vector<DType> dtypes;      ///< in which the first sample must run
  Tolerance tolerance;
  bool gradient = true;
  SecondGradient second_gradient = SecondGradient::right;
  int gradient_outputs = kMaxOutputs;
  std::vector<int> overwrites;
  std::vector<int> means_of_microbatches;
  bool meta = true;
  bool strides = true;
  bool spreads_nan = false;
  double step = 1e-5;  ///< of finite differences
};

inline const std::vector<DType> kFloatDTypes{DType::f16, DType::bf16, DType::f32, DType::f64};
/// Bool, integers and floats.
inline const std::vector<DType> kRealDTypes{DType::boolean, DType::u8,  DType::i8,  DType::i16,
                                            DType::i32,     DType::i64, DType::f16, DType::bf16,
                                            DType::f32,     DType::f64};
/// Integers and floats.
inline const std::vector<DType> kNumberDTypes{DType::u8,   DType::i8,  DType::i16,
                                              DType::i32,  DType::i64, DType::f16,
                                              DType::bf16, DType::f32, DType::f64};
/// Every dtype there is.
inline const std::vector<DType> kAllDTypes{DType::boolean, DType::u8,  DType::i8,  DType::i16,
                                           DType::i32,     DType::i64, DType::f16, DType::bf16,
                                           DType::f32,     DType::f64, DType::c64, DType::c128};

/// What OpCase::set_dtype is for attributes `dtype` and `result`.
template <class Attrs>
void set_dtypes(Attrs& attrs, DType dtype) {
  attrs.dtype = attrs.result = dtype;
}

template <OpStruct Op>
struct OpCase {
  struct Sample {
    std::vector<InputSpec> inputs;
    typename Op::Attrs attrs{};
  };
  const char* variant = "";  ///< tells the cases of an op apart
  std::vector<Sample> samples;
  std::vector<Sample> wrong;
  std::vector<DType> dtypes = kFloatDTypes;
  Tolerance tolerance{};
  /// Tells attributes that name a dtype which one the swept inputs have.
  void (*set_dtype)(typename Op::Attrs&, DType) = nullptr;
  /// Tells attributes that name a place in the batch that the call runs microbatch `index` of
  /// `count` alone; those of a call that holds all of them are the first one's.
  void (*set_microbatch)(typename Op::Attrs&, int index, int count) = nullptr;
  /// Finite differences against the op's gradient, f64; first sample inputs only where they
  /// differentiate. Switch off, with a reason beside it, where they are no oracle.
  bool gradient = true;
  SecondGradient second_gradient = SecondGradient::right;
  int gradient_outputs = kMaxOutputs;  ///< so many have a gradient, the others are saved results
  /// Output i may be written over input overwrites[i]; that of ops in place is input 0.
  std::vector<int> overwrites;
  /// These outputs are means of each microbatch, over the rows whose target, in the last input, is
  /// not negative, or gradients of such a mean. Those of pieces enter the whole by their rows, and
  /// pieces are compared with a call that holds them as microbatches, too.
  std::vector<int> means_of_microbatches{};
  bool meta = true;          ///< false: shapes depend on values
  bool strides = true;       ///< false: takes dense inputs only
  bool spreads_nan = false;  ///< fast kernels may spread a nan over the tile that it lies in
  double step = 1e-5;
};

/// Makes the tests of a case known to GoogleTest and to `find_op_case`.
void register_op_case(OpCaseData data);
/// Null for an op without a case. An op with several cases gives the first.
[[nodiscard]] const OpCaseData* find_op_case(const OpDef& op);

template <OpStruct Op>
struct RegisterOpCase {
  RegisterOpCase(const OpCase<Op>& typed) {
    register_op_case({.op = &op_def<Op>(),
                      .variant = typed.variant,
                      .samples = erase(typed.samples, typed),
                      .wrong = erase(typed.wrong, typed),
                      .dtypes = typed.dtypes,
                      .tolerance = typed.tolerance,
                      .gradient = typed.gradient,
                      .second_gradient = typed.second_gradient,
                      .gradient_outputs = typed.gradient_outputs,
                      .overwrites = typed.overwrites,
                      .means_of_microbatches = typed.means_of_microbatches,
                      .meta = typed.meta,
                      .strides = typed.strides,
                      .spreads_nan = typed.spreads_nan,
                      .step = typed.step});
  }

 private:
  using Attrs = typename Op::Attrs;
  static std::vector<SampleData> erase(const std::vector<typename OpCase<Op>::Sample>& samples,
                                       const OpCase<Op>& typed) {
    std::vector<SampleData> erased;
    for (const auto& sample : samples) {
      SampleData& data = erased.emplace_back();
      data.inputs = sample.inputs;
      data.attrs_in = [attrs = sample.attrs, set = typed.set_dtype](DType dtype) {
        const auto changed = std::make_shared<Attrs>(attrs);
        if (set != nullptr) {
          set(*changed, dtype);
        }
        return changed;
      };
      data.attrs_of_microbatch = [set = typed.set_microbatch](const void* attrs, int index,
                                                              int count) {
        const auto changed = std::make_shared<Attrs>(*static_cast<const Attrs*>(attrs));
        if (set != nullptr) {
          set(*changed, index, count);
        }
        return changed;
      };
    }
    return erased;
  }
};

}  // namespace tessera::test
