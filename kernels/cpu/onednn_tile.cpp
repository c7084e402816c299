#include <tessera/kernels/cpu/onednn_tile.h>

#include <tessera/kernels/cpu/onednn_layouts.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu::onednn {
namespace {

using dnnl::memory;

constexpr std::array<int, 3> kRead{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
constexpr std::array<int, 3> kGradient{DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};

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

constexpr std::size_t round_to_line(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

struct TileHash {
  std::size_t operator()(const ConvolutionTile& t) const {
    const ConvolutionGeometry& g = t.shape;
    auto hash = static_cast<std::size_t>(t.result) * 4 + (t.compute == DType::bf16 ? 1 : 0);
    for (const std::int64_t x : {g.batch, g.in_channels, g.out_channels, g.in[1], g.in[2],
                                 g.kernel[1], g.kernel[2], g.stride[2], g.groups}) {
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
  const bool forward = tile.result == ConvolutionResult::y;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool written = i == result_;
    reorders_[i] = reorder_of(tile, i, inner_[i]);
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

TileConvolution& tile_convolution(const ConvolutionTile& tile) {
  return made_for<TileConvolution, TileHash>(tile);
}

}  // namespace tessera::cpu::onednn
