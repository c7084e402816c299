// One declarative case an op, from which everything that must hold for an op is tested.
//
//   const RegisterOpCase<Clamp> registered{{
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
  enum class Kind { real, complex, integer, boolean, absent };
  Kind kind = Kind::real;
  Shape shape;
  double low = -2;
  double high = 2;
  DType dtype = DType::f64;
  bool sweeps = true;          ///< takes the dtype of a dtype sweep
  bool differentiates = true;  ///< its gradient is checked
  bool distinct = false;       ///< no two elements are equal, nor close
  std::vector<double> values;  ///< given instead of random ones

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

/// How far a fast kernel or a narrow dtype may be off, in units in the last place of the dtype of
/// the output, measured at the size of the reference value.
struct Tolerance {
  double ulps = 4;
  /// Allowed beside it, relative to the largest output element: for sums with cancellation.
  double of_largest = 0;
};

/// One call to try.
struct SampleData {
  std::vector<InputSpec> inputs;
  std::shared_ptr<const void> attrs;
};

/// A case with its op's type erased.
struct OpCaseData {
  const OpDef* op = nullptr;
  std::vector<SampleData> samples;
  std::vector<SampleData> wrong;  ///< each must throw InvalidArgument or Unsupported
  std::vector<DType> dtypes;      ///< in which the first sample must run
  Tolerance tolerance;
  bool gradient = true;
  bool second_gradient = true;
  bool shard_truth = true;
  std::vector<std::int8_t> shard_labels;
  bool meta = true;
  bool strides = true;
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

template <OpStruct Op>
struct OpCase {
  struct Sample {
    std::vector<InputSpec> inputs;
    typename Op::Attrs attrs{};
  };
  std::vector<Sample> samples;
  std::vector<Sample> wrong;
  std::vector<DType> dtypes = kFloatDTypes;
  Tolerance tolerance{};
  /// Finite differences against the op's gradient, f64; first sample inputs only where they
  /// differentiate. Switch off, with a reason beside it, where they are no oracle.
  bool gradient = true;
  bool second_gradient = true;
  /// Slicing along each label with the same attributes. Switch off where attributes name sizes.
  bool shard_truth = true;
  std::vector<std::int8_t> shard_labels;  ///< only these, where attributes name sizes of others
  bool meta = true;                       ///< false: shapes depend on values
  bool strides = true;                    ///< false: takes dense inputs only
  double step = 1e-5;
};

/// Makes the tests of a case known to GoogleTest and to `has_op_case`.
void register_op_case(OpCaseData data);
[[nodiscard]] bool has_op_case(const OpDef& op);

template <OpStruct Op>
struct RegisterOpCase {
  RegisterOpCase(OpCase<Op> typed) {
    const auto erase = [](const std::vector<typename OpCase<Op>::Sample>& samples) {
      std::vector<SampleData> erased;
      for (const auto& sample : samples) {
        erased.push_back({sample.inputs, std::make_shared<typename Op::Attrs>(sample.attrs)});
      }
      return erased;
    };
    register_op_case({.op = &op_def<Op>(),
                      .samples = erase(typed.samples),
                      .wrong = erase(typed.wrong),
                      .dtypes = typed.dtypes,
                      .tolerance = typed.tolerance,
                      .gradient = typed.gradient,
                      .second_gradient = typed.second_gradient,
                      .shard_truth = typed.shard_truth,
                      .shard_labels = typed.shard_labels,
                      .meta = typed.meta,
                      .strides = typed.strides,
                      .step = typed.step});
  }
};

}  // namespace tessera::test
