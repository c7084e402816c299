#include <tessera/kernels/cpu/onednn_tile.h>

#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

namespace tessera::cpu::onednn {
namespace {

using dnnl::memory;

constexpr std::array<int, 3> kRead{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
constexpr std::array<int, 3> kGradient{DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};

/// The last spatial sizes, two or three.
memory::dims spatial(const ConvolutionGeometry& g, const Spatial& sizes) {
  return g.ndim == 3 ? memory::dims(sizes.begin(), sizes.end())
                     : memory::dims(sizes.begin() + 1, sizes.end());
}

memory::dims with_channels(std::int64_t a, std::int64_t b, memory::dims sizes) {
  sizes.insert(sizes.begin(), {a, b});
  return sizes;
}

/// Sizes of x, weight and y.
std::array<memory::dims, 3> dims_of(const ConvolutionGeometry& g) {
  return {with_channels(g.batch, g.in_channels, spatial(g, g.in)),
          with_channels(g.out_channels, g.in_channels, spatial(g, g.kernel)),
          with_channels(g.batch, g.out_channels, spatial(g, g.out))};
}

/// Row-major, with `channels` between two elements of the first dim.
memory::desc plain(const memory::dims& dims, DType dtype, std::int64_t channels) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * (d == 1 ? channels : dims[d]);
  }
  return {dims, type_of(dtype), strides};
}

std::array<memory::desc, 3> plain_layouts(const ConvolutionTile& t) {
  const auto dims = dims_of(t.shape);
  return {plain(dims[0], t.dtypes[0], t.x_channels), plain(dims[1], t.dtypes[1], t.x_channels),
          plain(dims[2], t.dtypes[2], t.y_channels)};
}

/// What oneDNN is asked for: any layout, and the dtype in which it computes, but for an f32 result.
struct Wish {
  Wish(const ConvolutionTile& t, ConvolutionResult result) {
    const auto dims = dims_of(t.shape);
    for (std::size_t i = 0; i < 3; ++i) {
      const bool wide = i == static_cast<std::size_t>(result) && t.dtypes[i] == DType::f32;
      operands[i] =
          memory::desc(dims[i], type_of(wide ? DType::f32 : t.compute), memory::format_tag::any);
    }
    if (t.bias) {
      bias = memory::desc({t.shape.out_channels}, memory::data_type::f32, memory::format_tag::a);
    }
    const ConvolutionGeometry& g = t.shape;
    strides = spatial(g, g.stride), padding = spatial(g, g.padding);
    dilation = spatial(g, g.dilation);
    for (auto& d : dilation) {
      --d;  // oneDNN counts what lies between
    }
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  std::array<memory::desc, 3> operands;
  memory::desc bias;
  memory::dims strides, padding, dilation;
  dnnl::primitive_attr attributes;
};

constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr auto kTraining = dnnl::prop_kind::forward_training;

#if DNNL_VERSION_MAJOR >= 3

auto describe_y(const Wish& w) {
  return dnnl::convolution_forward::primitive_desc(cpu_engine(), kTraining, kDirect, w.operands[0],
                                                   w.operands[1], w.bias, w.operands[2], w.strides,
                                                   w.dilation, w.padding, w.padding, w.attributes);
}

auto describe_x(const Wish& w, const Wish& forward) {
  return dnnl::convolution_backward_data::primitive_desc(
      cpu_engine(), kDirect, w.operands[0], w.operands[1], w.operands[2], w.strides, w.dilation,
      w.padding, w.padding, describe_y(forward), w.attributes);
}

auto describe_weight(const Wish& w, const Wish& forward) {
  return dnnl::convolution_backward_weights::primitive_desc(
      cpu_engine(), kDirect, w.operands[0], w.operands[1], w.operands[2], w.strides, w.dilation,
      w.padding, w.padding, describe_y(forward), w.attributes);
}

#else

auto describe_y(const Wish& w) {
  const dnnl::convolution_forward::desc desc(kTraining, kDirect, w.operands[0], w.operands[1],
                                             w.bias, w.operands[2], w.strides, w.dilation,
                                             w.padding, w.padding);
  return dnnl::convolution_forward::primitive_desc(desc, w.attributes, cpu_engine());
}

auto describe_x(const Wish& w, const Wish& forward) {
  const dnnl::convolution_backward_data::desc desc(kDirect, w.operands[0], w.operands[1],
                                                   w.operands[2], w.strides, w.dilation, w.padding,
                                                   w.padding);
  return dnnl::convolution_backward_data::primitive_desc(desc, w.attributes, cpu_engine(),
                                                         describe_y(forward));
}

auto describe_weight(const Wish& w, const Wish& forward) {
  const dnnl::convolution_backward_weights::desc desc(kDirect, w.operands[0], w.operands[1],
                                                      w.operands[2], w.strides, w.dilation,
                                                      w.padding, w.padding);
  return dnnl::convolution_backward_weights::primitive_desc(desc, w.attributes, cpu_engine(),
                                                            describe_y(forward));
}

#endif

/// A primitive, the layouts it chose, and the bytes it works in.
struct Chosen {
  dnnl::primitive primitive;
  std::array<memory::desc, 3> layouts;
  memory::desc scratchpad;
};

Chosen choose(const ConvolutionTile& tile) {
  const Wish wish(tile, tile.result), forward(tile, ConvolutionResult::y);
  if (tile.result == ConvolutionResult::x) {
    const auto d = describe_x(wish, forward);
    return {dnnl::convolution_backward_data(d),
            {d.diff_src_desc(), d.weights_desc(), d.diff_dst_desc()},
            d.scratchpad_desc()};
  }
  if (tile.result == ConvolutionResult::weight) {
    const auto d = describe_weight(wish, forward);
    return {dnnl::convolution_backward_weights(d),
            {d.src_desc(), d.diff_weights_desc(), d.diff_dst_desc()},
            d.scratchpad_desc()};
  }
  const auto d = describe_y(forward);
  return {dnnl::convolution_forward(d),
          {d.src_desc(), d.weights_desc(), d.dst_desc()},
          d.scratchpad_desc()};
}

/// The weight's gradient as runs of 16 channels, where that is how oneDNN forms it.
std::optional<WeightBlocks> weight_blocks_of(const ConvolutionTile& t, const memory::desc& inner) {
  using Tag = memory::format_tag;
  const memory::dims dims = dims_of(t.shape)[1];
  const memory::desc lines(dims, memory::data_type::f32,
                           dims.size() == 4 ? Tag::OIhw16i16o : Tag::OIdhw16i16o);
  if (t.dtypes[1] != DType::f32 || inner != lines || dims[0] % kChannelBlock != 0 ||
      dims[1] % kChannelBlock != 0) {
    return std::nullopt;
  }
  return WeightBlocks{dims[0] / kChannelBlock, dims[1] / kChannelBlock, t.shape.taps()};
}

/// x or y (operand 0 or 2) as runs of 16 channels, where that is what oneDNN wants of it.
std::optional<ChannelBlocks> blocks_of(const ConvolutionTile& t, std::size_t operand,
                                       const memory::desc& inner) {
  using Tag = memory::format_tag;
  const memory::dims dims = dims_of(t.shape)[operand];
  const DType dtype = t.dtypes[operand];
  const memory::desc lines(dims, type_of(dtype), dims.size() == 4 ? Tag::nChw16c : Tag::nCdhw16c);
  if (operand == 1 || dims[1] % kChannelBlock != 0 || inner != lines) {
    return std::nullopt;
  }
  const bool of_x = operand == 0;
  const std::int64_t positions = of_x ? t.shape.in_size() : t.shape.out_size();
  return ChannelBlocks{.samples = dims[0],
                       .blocks = dims[1] / kChannelBlock,
                       .positions = positions,
                       .step = (of_x ? t.x_channels : t.y_channels) * positions,
                       .dtype = dtype,
                       .to_lines = operand != static_cast<std::size_t>(t.result)};
}

constexpr std::size_t round_to_line(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

struct TileHash {
  std::size_t operator()(const ConvolutionTile& t) const {
    const ConvolutionGeometry& g = t.shape;
    auto hash = static_cast<std::size_t>(t.result) * 4 + (t.compute == DType::bf16 ? 1 : 0);
    for (const std::int64_t x : {g.batch, g.in_channels, g.out_channels, g.in[1], g.in[2],
                                 g.kernel[1], g.kernel[2], g.stride[2]}) {
      hash = hash * 0x9e3779b97f4a7c15ULL + static_cast<std::size_t>(x);
    }
    return hash;
  }
};

}  // namespace

TileConvolution::TileConvolution(const ConvolutionTile& tile)
    : result_(static_cast<std::size_t>(tile.result)) {
  Chosen chosen = choose(tile);
  primitive_ = chosen.primitive;
  inner_ = chosen.layouts;
  const auto outer = plain_layouts(tile);
  const bool forward = tile.result == ConvolutionResult::y;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool written = i == result_;
    const auto blocks = blocks_of(tile, i, inner_[i]);
    const auto weight = written && i == 1 ? weight_blocks_of(tile, inner_[1]) : std::nullopt;
    reorders_[i] = blocks    ? Reorder(*blocks)
                   : weight  ? Reorder(*weight)
                   : written ? Reorder(inner_[i], outer[i])
                             : Reorder(outer[i], inner_[i]);
    memory_[i] = without_data(inner_[i]);
    // y is a gradient in both other directions.
    const bool gradient = !forward && (written || i == 2);
    arguments_.emplace((gradient ? kGradient : kRead)[i], memory_[i]);
  }
  if (tile.bias) {
    bias_ =
        without_data({{tile.shape.out_channels}, memory::data_type::f32, memory::format_tag::a});
    arguments_.emplace(DNNL_ARG_BIAS, bias_);
  }
  scratchpad_bytes_ = round_to_line(chosen.scratchpad.get_size());
  scratchpad_ = without_data(chosen.scratchpad);
  arguments_.emplace(DNNL_ARG_SCRATCHPAD, scratchpad_);
}

std::size_t TileConvolution::scratch_bytes(std::size_t operand) const {
  const bool prepared = operand == 1 && result_ != 1;
  return !prepared && reorders_[operand].needed() ? round_to_line(inner_[operand].get_size()) : 0;
}

void TileConvolution::run(const Operands& operands, const float* bias) {
  const std::size_t bytes =
      scratchpad_bytes_ + scratch_bytes(0) + scratch_bytes(1) + scratch_bytes(2);
  char* free = static_cast<char*>(scratch(Scratch::library, bytes));
  scratchpad_.set_data_handle(free);
  free += scratchpad_bytes_;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool here = scratch_bytes(i) > 0;
    memory_[i].set_data_handle(here ? free : operands[i]);
    if (here && i != result_) {
      reorders_[i].run(operands[i], free);
    }
    free += scratch_bytes(i);
  }
  if (bias != nullptr) {
    bias_.set_data_handle(const_cast<float*>(bias));
  }
  primitive_.execute(cpu_stream(), arguments_);
  if (reorders_[result_].needed()) {
    reorders_[result_].run(memory_[result_].get_data_handle(), operands[result_]);
  }
}

// A thread's own, so that nothing is locked. oneDNN shares the code of equal primitives.
TileConvolution& tile_convolution(const ConvolutionTile& tile) {
  thread_local std::unordered_map<ConvolutionTile, TileConvolution, TileHash> tiles;
  constexpr std::size_t kMost = 512;
  const auto found = tiles.find(tile);
  if (found != tiles.end()) {
    return found->second;
  }
  if (tiles.size() >= kMost) {
    tiles.clear();
  }
  return tiles.emplace(tile, TileConvolution(tile)).first->second;
}

}  // namespace tessera::cpu::onednn
