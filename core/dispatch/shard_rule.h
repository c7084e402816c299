// Along which directions an op can be cut, as data.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tessera/core/base/inline_vector.h>
#include <tessera/core/tensor/shape.h>

namespace tessera {

/// One label a dim. Dims that share a label are cut together; `kWhole` dims cannot be cut.
struct DimLabels {
  static constexpr std::int8_t kWhole = -1;

  std::array<std::int8_t, kMaxDims> labels{};
  std::int8_t size = 0;

  DimLabels() = default;
  explicit DimLabels(int ndim) : size(static_cast<std::int8_t>(ndim)) { labels.fill(kWhole); }
  /// The labels of `ndim` dims, of which the first `count` have their number, and others none.
  static DimLabels numbered(int ndim, int count) {
    DimLabels labels(ndim);
    for (int d = 0; d < count; ++d) {
      labels[d] = static_cast<std::int8_t>(d);
    }
    return labels;
  }
  static DimLabels numbered(int ndim) { return numbered(ndim, ndim); }
  std::int8_t& operator[](int dim) { return labels[index_of(dim)]; }
  std::int8_t operator[](int dim) const { return labels[index_of(dim)]; }
  /// The dim that carries `label`, or -1.
  [[nodiscard]] int find(std::int8_t label) const {
    for (int i = 0; i < size; ++i) {
      if ((*this)[i] == label) {
        return i;
      }
    }
    return -1;
  }

 private:
  /// Tells the optimizer that there are no further dims: GCC 13 warns of writes behind them.
  static std::size_t index_of(int dim) {
    if (dim < 0 || dim >= kMaxDims) {
      __builtin_unreachable();
    }
    return static_cast<std::size_t>(dim);
  }
};

/// How an op's inputs and outputs may be cut, like the letters of an einsum: cutting every dim that
/// carries a label cuts the computation into independent pieces. If an output has the label, its
/// pieces are concatenated there. If an output lacks it, the pieces are combined as `partial` says.
///
/// matmul is {ik, kj} -> ij: i and j cut the output, k makes partial sums.
struct ShardRule {
  enum class Partial : std::uint8_t {
    none,  ///< pieces of outputs without the label cannot be combined
    sum,   ///< they are partial sums
  };

  InlineVector<DimLabels, 4> inputs;
  InlineVector<DimLabels, 3> outputs;
  Partial partial = Partial::none;
};

/// What cutting some inputs of an op along one axis means for the op.
struct AxisUse {
  std::int8_t label = DimLabels::kWhole;     ///< of the dims that are cut; kWhole: none is
  InlineVector<std::int8_t, 3> output_dims;  ///< along which each output is cut, or -1
  bool sums = false;                         ///< some output lacks the label: it is reduced over it
  std::int8_t conflict = -1;  ///< the first input that cannot be cut like those before it; -1: none
};

/// Follows an axis through an op with `rule`, of which input i is cut along dim `input_dims[i]`;
/// -1: it is whole. An input may be cut along a dim that has a label, and the cut dims of all
/// inputs have one label. What is whole beside them is cut by whoever runs the pieces: it has the
/// label, too, or all pieces share it.
[[nodiscard]] AxisUse follow(const ShardRule& rule, std::span<const std::int8_t> input_dims);

}  // namespace tessera
