// An op as a table of functions, and how a struct becomes one.
//
// An op is a struct with fixed static members:
//
//   struct Relu {
//     static constexpr OpInfo info{.name = "relu", .doc = "max(x, 0)", ...};
//     struct Attrs { friend bool operator==(const Attrs&, const Attrs&) = default; };
//     static void infer(Infer&, const Attrs&);            // shape rule
//     static void reference(Kernel&, const Attrs&);       // naive kernel, any dtype
//     static void vjp(Vjp&, const Attrs&);                // gradient, written with public ops
//     static ShardRule shard(const Infer&, const Attrs&); // along what it can be cut
//     static void localise(Attrs&, const Box& output);    // of attributes that name sizes
//   };
//   const Register<Relu> register_relu;
//
// An op without gradient leaves out `vjp` and says so with `differentiable = false`. See
// docs/ops.md for a worked example.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tessera/core/dispatch/attrs.h>
#include <tessera/core/dispatch/infer.h>
#include <tessera/core/dispatch/kernel.h>
#include <tessera/core/dispatch/shard_rule.h>
#include <tessera/core/dispatch/workspace.h>
#include <tessera/core/tensor/box.h>
#include <tessera/core/tensor/microbatch_layout.h>
#include <tessera/core/tensor/stage.h>

namespace tessera {

class Vjp;  // core/dispatch/vjp.h

/// In which of its inputs an op is linear, so that it gives sums over samples for such sums, and
/// means for means.
enum class LinearIn : std::uint8_t {
  none,
  first,   ///< in its first
  either,  ///< in either of two
  all,     ///< in all of them together
};

/// An output that is, but for a factor, the gradient of an input already. Where that is a parameter
/// with memory for its gradient, the output may lie there: nothing has to be moved in backward. It
/// may be overwritten before (Vjp::has_output): the gradient is computed anew then.
struct EarlyGradient {
  std::int8_t input = -1;  ///< -1: the op has none
  std::int8_t output = -1;
};

/// Properties of an op. Passes and the pipeline ask these; nobody keeps lists of ops.
struct OpInfo {
  const char* name;
  const char* doc;  ///< one line
  bool differentiable = true;
  bool elementwise = false;        ///< output element i depends on (broadcast) input elements i
  bool in_place = false;           ///< may write into its first input
  bool view = false;               ///< the output shares the first input's storage
  bool draws = false;              ///< attributes hold a draw: each sample's numbers are its own
  bool sums_microbatches = false;  ///< its kernels cut sums at microbatch borders themselves
  bool sees_microbatches = false;  ///< works on microbatch borders: the pipeline leaves them alone
  std::uint32_t sparse_gradients =
      0;                            ///< bit i: the gradient of input i is kept as rows (set_sparse)
  std::uint32_t saved_inputs = 0;   ///< bit i: the gradient reads input i
  std::uint32_t saved_outputs = 0;  ///< bit i: the gradient reads output i
  /// Bit i: of those, output i is no activation but a sum over the samples of a pass. Hooks that
  /// pack what is saved do not get it, or what they lose would depend on the number of passes.
  std::uint32_t kept_outputs = 0;
  EarlyGradient early_gradient{};
  LinearIn linear = LinearIn::none;        ///< views are in their first input
  OverPass over_samples = OverPass::none;  ///< what it gives where it reduces samples
};

struct OpDef {
  /// A fast kernel; returns false to leave these arguments to the reference kernel.
  using KernelFunction = bool (*)(Kernel&, const void* attrs);

  OpInfo info;
  const AttrsType* attrs;
  Stages stages = Stages::all();  ///< that its calls may go through
  void (*infer)(Infer&, const void* attrs) = nullptr;
  void (*reference)(Kernel&, const void* attrs) = nullptr;  ///< null for views
  /// Views only: strides and offset of output `index`, whose shape `infer` set; before they are
  /// those of the input.
  void (*alias)(const TensorImpl& input, TensorImpl& output, int index,
                const void* attrs) = nullptr;
  void (*vjp)(Vjp&, const void* attrs) = nullptr;                 ///< null: not differentiable
  ShardRule (*shard)(const Infer&, const void* attrs) = nullptr;  ///< null: cannot be cut
  /// Makes attributes of a whole call those of the piece of it whose first output is `output`.
  /// Null: they are the same.
  void (*localise)(void* attrs, const Box& output) = nullptr;
  KernelFunction kernels[kDeviceTypeCount]{};  ///< fast kernels by device type
};

template <class Op>
concept ViewOp = Op::info.view&& requires(const TensorImpl& in, TensorImpl& out,
                                          const typename Op::Attrs& attrs) {
  Op::alias(in, out, 0, attrs);
};

template <class Op>
concept ComputingOp = !Op::info.view && requires(Kernel & k, const typename Op::Attrs& attrs) {
  Op::reference(k, attrs);
};

template <class Op>
concept OpStruct = (ViewOp<Op> || ComputingOp<Op>)&&requires(Infer& infer,
                                                             const typename Op::Attrs& attrs) {
  { Op::info } -> std::convertible_to<const OpInfo&>;
  { attrs == attrs } -> std::convertible_to<bool>;
  Op::infer(infer, attrs);
};

namespace detail {

template <class Op>
const typename Op::Attrs& attrs_of(const void* attrs) {
  return *static_cast<const typename Op::Attrs*>(attrs);
}

template <OpStruct Op>
OpDef make_op_def() {
  static_assert(
      Op::info.draws == requires(const typename Op::Attrs& a) { a.draw; },
      "ops say whether their attributes hold a draw");
  OpDef def{.info = Op::info, .attrs = &kAttrsType<typename Op::Attrs>};
  def.stages.set(Stage::split, !Op::info.sees_microbatches);
  def.infer = [](Infer& c, const void* attrs) { Op::infer(c, attrs_of<Op>(attrs)); };
  if constexpr (ViewOp<Op>) {
    def.alias = [](const TensorImpl& in, TensorImpl& out, int index, const void* attrs) {
      Op::alias(in, out, index, attrs_of<Op>(attrs));
    };
  } else {
    def.reference = [](Kernel& k, const void* attrs) { Op::reference(k, attrs_of<Op>(attrs)); };
  }
  if constexpr (Op::info.differentiable) {
    def.vjp = [](Vjp& v, const void* attrs) { Op::vjp(v, attrs_of<Op>(attrs)); };
  }
  if constexpr (requires(const Infer& c, const typename Op::Attrs& a) { Op::shard(c, a); }) {
    def.shard = [](const Infer& c, const void* attrs) { return Op::shard(c, attrs_of<Op>(attrs)); };
  }
  if constexpr (requires(typename Op::Attrs & a, const Box& box) { Op::localise(a, box); }) {
    def.localise = [](void* attrs, const Box& output) {
      Op::localise(*static_cast<typename Op::Attrs*>(attrs), output);
    };
  }
  return def;
}

void register_op(OpDef& def);

/// The workspace of most kernels.
template <class Op>
constexpr std::size_t nothing(const Kernel&, const typename Op::Attrs&) {
  return 0;
}

}  // namespace detail

/// The table of `Op`, made at its first use.
template <OpStruct Op>
OpDef& op_def() {
  static OpDef def = detail::make_op_def<Op>();
  return def;
}

/// All registered ops, sorted by name.
[[nodiscard]] std::vector<const OpDef*> registered_ops();
/// Throws Unsupported for an unknown name.
[[nodiscard]] const OpDef& find_op(std::string_view name);

/// Puts `Op` into the registry; one constant of this type stands at the end of an op's file.
template <OpStruct Op>
struct Register {
  Register() { detail::register_op(op_def<Op>()); }
};

/// Gives `Op` a fast kernel on a type of device: RegisterKernel<Gelu, gelu_cpu>
/// registered{DeviceType::cpu}. `function` returns false to leave its arguments to the reference
/// kernel. Where it needs memory beside its outputs, `workspace` says how many bytes of it.
template <OpStruct Op, bool (*function)(Kernel&, const typename Op::Attrs&),
          std::size_t (*workspace)(const Kernel&, const typename Op::Attrs&) = detail::nothing<Op>>
struct RegisterKernel {
  explicit RegisterKernel(DeviceType device) {
    op_def<Op>().kernels[static_cast<std::size_t>(device)] = [](Kernel& k, const void* attrs) {
      const auto& own = detail::attrs_of<Op>(attrs);
      const Workspace memory(k, workspace(k, own));
      return function(k, own);
    };
  }
};

}  // namespace tessera
