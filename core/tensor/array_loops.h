// Loops over arrays: combining them element by element, converting and copying them.
//
// Note: they are part of `kernels/`, as all that knows instruction sets is, so that one choice
// between those rules. Who has memory and no tensors (collectives, on memory of several ranks)
// finds them here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera {

/// How two contributions become one. Integers wrap; a nan on either side wins.
enum class ReduceOp : std::uint8_t { sum, min, max };

/// What a loop makes of its arrays: two of them, or at once what two calls would make of three.
enum class CombineForm : std::uint8_t {
  two,         ///< a op b
  then_right,  ///< (a op b) op c
  then_left,   ///< c op (a op b)
};

/// The loops of one instruction set, null where a type has none: complex numbers are combined as
/// their parts, bools as u8, f16 and bf16 as f32.
struct ArrayLoops {
  /// Writes `count` elements to `out`, which may be one of the others. Form `two` reads no `c`.
  using Combine = void (*)(void* out, std::size_t count, const void* a, const void* b,
                           const void* c);
  /// Writes from[i], rounded, to to[i]: between f16 or bf16 and f32.
  using Convert = void (*)(const void* from, void* to, std::size_t count);
  using Forms = std::array<Combine, 3>;  ///< by CombineForm

  std::array<std::array<Forms, kDTypeCount>, 3> combine{};  ///< by ReduceOp, DType
  std::array<Convert, kDTypeCount> to_f32{}, from_f32{};    ///< by the other type
  /// Copies memory that nobody reads again soon: past the caches, where there are such stores.
  void (*copy_past_caches)(const std::byte* from, std::byte* to, std::size_t nbytes) = nullptr;
};

/// The loops of the active instruction set.
[[nodiscard]] const ArrayLoops& array_loops();

/// Says where they are found. Called by `kernels/`, before main.
using FindArrayLoops = const ArrayLoops& (*)();
bool set_array_loops(FindArrayLoops find);

}  // namespace tessera
