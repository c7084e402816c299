#include <tessera/dist/reduce/tree_sum.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <tessera/core/base/inline_vector.h>
#include <tessera/core/device/allocator.h>
#include <tessera/dist/reduce/combine.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kTile = 2048;  // elements: the tiles of a small tree stay in the L1 cache

template <class T>
struct AccumulatorOf {
  using type = T;
};
template <>
struct AccumulatorOf<Float16> {
  using type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using type = float;
};

/// Room for one tile a source, kept by the thread between calls.
std::byte* scratch(std::size_t nbytes) {
  thread_local HeldBlock memory;
  if (memory.nbytes() < nbytes) {
    memory = HeldBlock(nbytes, MemoryCategory::communication);
  }
  return memory.data();
}

template <class T, class Op>
class Reducer {
  using A = typename AccumulatorOf<T>::type;
  static constexpr bool kWidens = !std::is_same_v<T, A>;

 public:
  explicit Reducer(const Reduction& r)
      : r_(r),
        rounds_(kWidens && !r.partial_result),
        tiles_(reinterpret_cast<A*>(scratch(r.sources.size() * kTile * sizeof(A)))) {
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
    const A* result = nullptr;
    A* direct = rounds_ ? nullptr : static_cast<A*>(r_.destinations[0]) + first;
    for (std::size_t s = 0; s < r_.steps.size();) {
      const std::size_t end = s + (joins_next(s) ? 2 : 1);
      const int into = r_.steps[end - 1].into;
      A* out = end == r_.steps.size() && direct != nullptr ? direct : tile(into);
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
  void run_steps(std::span<const TreeStep> steps, A* out, std::size_t first, std::size_t n) {
    const auto [into, from] = steps[0];
    const A* a = load(into, first, n);
    const A* b = load(from, first, n);
    if (steps.size() == 1) {
      combine<Op>(out, n, a, b);
    } else if (steps[1].into == into) {
      combine<ThenRight<Op>>(out, n, a, b, load(steps[1].from, first, n));
    } else {
      combine<ThenLeft<Op>>(out, n, a, b, load(steps[1].into, first, n));
    }
  }

  A* tile(int source) const { return tiles_ + static_cast<std::size_t>(source) * kTile; }

  const A* load(int index, std::size_t first, std::size_t n) {
    const A*& known = current_[static_cast<std::size_t>(index)];
    if (known != nullptr) {
      return known;
    }
    const TreeSource& source = r_.sources[static_cast<std::size_t>(index)];
    if constexpr (kWidens) {
      if (!source.partial) {
        convert(static_cast<const T*>(source.data) + first, tile(index), n);
        return known = tile(index);
      }
    }
    return known = static_cast<const A*>(source.data) + first;
  }

  void store(const A* result, std::size_t first, std::size_t n) const {
    if constexpr (kWidens) {
      if (rounds_) {
        T* rounded = static_cast<T*>(r_.destinations[0]) + first;
        convert(result, rounded, n);
        copy_to(rounded, first, n);
        return;
      }
    }
    copy_to(result, first, n);
  }

  template <class U>
  void copy_to(const U* result, std::size_t first, std::size_t n) const {
    for (void* destination : r_.destinations) {
      U* out = static_cast<U*>(destination) + first;
      if (out != result) {
        std::memcpy(out, result, n * sizeof(U));
      }
    }
  }

  const Reduction& r_;
  bool rounds_;
  A* tiles_;
  InlineVector<const A*, 16> current_;
};

/// Complex numbers are added as pairs of reals, bools are ordered as bytes.
DType as_real(DType dtype) {
  return dtype == DType::boolean ? DType::u8 : real_of(dtype);
}

template <class Op>
void dispatch(const Reduction& r) {
  const std::size_t count = r.count * (is_complex(r.dtype) ? 2 : 1);
  visit_dtype(as_real(r.dtype), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      Reducer<T, Op>(r).run(count);
    }
  });
}

}  // namespace

DType accumulator_of(DType dtype) noexcept {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

const char* to_string(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
  }
  return "?";
}

void check_reducible(ReduceOp op, DType dtype) {
  check(op != ReduceOp::sum || dtype != DType::boolean,
        "reduce: bools have no sum; got sum, expected max (any) or min (all)");
  check(op == ReduceOp::sum || !is_complex(dtype), "reduce: complex numbers have no order; got ",
        to_string(op), " of ", dtype, ", expected sum");
}

void tree_reduce(const Reduction& r) {
  check_reducible(r.op, r.dtype);
  switch (r.op) {
    case ReduceOp::sum:
      return dispatch<Sum>(r);
    case ReduceOp::min:
      return dispatch<Min>(r);
    case ReduceOp::max:
      return dispatch<Max>(r);
  }
}

void tree_sum(const ReductionTree& tree, std::span<const void* const> sources, void* dst,
              std::size_t count, DType dtype) {
  check(sources.size() == tree.leaves().size(), "tree_sum: one source a leaf; got ", sources.size(),
        ", expected ", tree.leaves().size());
  std::vector<TreeSource> blocks;
  for (const void* source : sources) {
    blocks.push_back({source, false});
  }
  tree_reduce({ReduceOp::sum, dtype, tree.steps(), blocks, {&dst, 1}, count});
}

}  // namespace tessera::dist
