#include <tessera/dist/reduce/tree_sum.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <tessera/core/base/inline_vector.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/tensor/array_loops.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kTile = 2048;  // elements: the tiles of a small tree stay in the L1 cache

/// Room for one tile a source, kept by the thread between calls.
std::byte* scratch(std::size_t nbytes) {
  thread_local HeldMemory memory;
  if (memory.nbytes() < nbytes) {
    memory = HeldMemory(nbytes, MemoryCategory::communication);
  }
  return memory.data();
}

/// Complex numbers are added as pairs of reals, bools are ordered as bytes.
DType as_real(DType dtype) {
  return dtype == DType::boolean ? DType::u8 : real_of(dtype);
}

/// Carries out a reduction tile by tile. Sums are held, in f32 for 16-bit floats, in one tile a
/// source.
class Reducer {
 public:
  explicit Reducer(const TreeReduceArgs& r)
      : r_(r),
        stored_(as_real(r.dtype)),
        held_(accumulator_of(stored_)),
        widens_(stored_ != held_),
        rounds_(widens_ && !r.partial_result),
        loops_(array_loops()),
        forms_(loops_.combine[static_cast<std::size_t>(r.op)][static_cast<std::size_t>(held_)]),
        tiles_(scratch(r.sources.size() * kTile * size_of(held_))) {
    current_.resize(r.sources.size());
  }

  void run(std::size_t count) {
    for (std::size_t first = 0; first < count; first += kTile) {
      run_tile(first, std::min(kTile, count - first));
    }
  }

 private:
  void run_tile(std::size_t first, std::size_t n) {
    std::fill(current_.begin(), current_.end(), nullptr);
    const std::byte* result = nullptr;
    std::byte* direct = rounds_ ? nullptr : at(r_.destinations[0], first, held_);
    for (std::size_t s = 0; s < r_.steps.size();) {
      const std::size_t end = s + (joins_next(s) ? 2 : 1);
      const int into = r_.steps[end - 1].into;
      std::byte* out = end == r_.steps.size() && direct != nullptr ? direct : tile(into);
      run_steps(r_.steps.subspan(s, end - s), out, first, n);
      current_[static_cast<std::size_t>(into)] = result = out;
      s = end;
    }
    store(r_.steps.empty() ? load(0, first, n) : result, first, n);
  }

  /// Whether the next step takes this one's result: both are done in one walk then.
  [[nodiscard]] bool joins_next(std::size_t s) const {
    return s + 1 < r_.steps.size() &&
           (r_.steps[s + 1].into == r_.steps[s].into || r_.steps[s + 1].from == r_.steps[s].into);
  }

  /// One step, or two that join.
  void run_steps(std::span<const TreeStep> steps, std::byte* out, std::size_t first,
                 std::size_t n) {
    const auto [into, from] = steps[0];
    const std::byte* a = load(into, first, n);
    const std::byte* b = load(from, first, n);
    if (steps.size() == 1) {
      combine(CombineForm::two, out, n, a, b, nullptr);
    } else if (steps[1].into == into) {
      combine(CombineForm::then_right, out, n, a, b, load(steps[1].from, first, n));
    } else {
      combine(CombineForm::then_left, out, n, a, b, load(steps[1].into, first, n));
    }
  }

  void combine(CombineForm form, std::byte* out, std::size_t n, const std::byte* a,
               const std::byte* b, const std::byte* c) const {
    forms_[static_cast<std::size_t>(form)](out, n, a, b, c);
  }

  [[nodiscard]] std::byte* tile(int source) const {
    return at(tiles_, static_cast<std::size_t>(source) * kTile, held_);
  }

  const std::byte* load(int index, std::size_t first, std::size_t n) {
    const std::byte*& known = current_[static_cast<std::size_t>(index)];
    if (known != nullptr) {
      return known;
    }
    const TreeSource& source = r_.sources[static_cast<std::size_t>(index)];
    if (widens_ && !source.partial) {
      loops_.to_f32[static_cast<std::size_t>(stored_)](at(source.data, first, stored_), tile(index),
                                                       n);
      return known = tile(index);
    }
    return known = at(source.data, first, held_);
  }

  void store(const std::byte* result, std::size_t first, std::size_t n) const {
    if (!rounds_) {
      copy_to(result, first, n * size_of(held_), held_);
      return;
    }
    std::byte* rounded = at(r_.destinations[0], first, stored_);
    loops_.from_f32[static_cast<std::size_t>(stored_)](result, rounded, n);
    copy_to(rounded, first, n * size_of(stored_), stored_);
  }

  void copy_to(const std::byte* result, std::size_t first, std::size_t nbytes, DType dtype) const {
    for (void* destination : r_.destinations) {
      std::byte* out = at(destination, first, dtype);
      if (out != result) {
        std::memcpy(out, result, nbytes);
      }
    }
  }

  static std::byte* at(void* data, std::size_t element, DType dtype) {
    return static_cast<std::byte*>(data) + element * size_of(dtype);
  }
  static const std::byte* at(const void* data, std::size_t element, DType dtype) {
    return static_cast<const std::byte*>(data) + element * size_of(dtype);
  }

  const TreeReduceArgs& r_;
  DType stored_, held_;  ///< of the blocks, of their sums
  bool widens_, rounds_;
  const ArrayLoops& loops_;
  const ArrayLoops::Forms& forms_;
  std::byte* tiles_;
  InlineVector<const std::byte*, 16> current_;
};

}  // namespace

DType accumulator_of(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

const char* to_string(ReduceOp op) noexcept {
  constexpr std::array kNames{"sum", "min", "max"};
  const auto at = static_cast<std::size_t>(op);
  return at < kNames.size() ? kNames[at] : "?";
}

void check_reducible(ReduceOp op, DType dtype) {
  check(op != ReduceOp::sum || dtype != DType::boolean,
        "reduce: bools have no sum; got sum, expected max (any) or min (all)");
  check(op == ReduceOp::sum || !is_complex(dtype), "reduce: complex numbers have no order; got ",
        to_string(op), " of ", dtype, ", expected sum");
}

void tree_reduce(const TreeReduceArgs& r) {
  check_reducible(r.op, r.dtype);
  Reducer(r).run(r.count * (is_complex(r.dtype) ? 2 : 1));
}

}  // namespace tessera::dist
