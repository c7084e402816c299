#include <tessera/kernels/cpu/onednn_layouts.h>

#include <optional>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

namespace tessera::cpu::onednn {
dnnl::memory without_data(const dnnl::memory::desc& desc) {
  return {desc, cpu_engine(), DNNL_MEMORY_NONE};
}

void ChannelReorder::operator()(const void* from, void* to) const {
  const ChannelBlockTable& table = IsaTable<ChannelBlockTable>::get();
  const auto run = (to_lines ? table.to_lines : table.to_planes)[dtype == DType::bf16 ? 1 : 0];
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t block = kChannelBlock * positions;
  const std::int64_t line_block = whole_lines ? kChannelBlock : block;
  const ChannelSteps steps{positions, whole_lines ? blocks * kChannelBlock : kChannelBlock};
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t planes = sample * step + b * block;
      const std::int64_t lines = sample * blocks * block + b * line_block;
      run(static_cast<const char*>(from) + (to_lines ? planes : lines) * size, positions, steps,
          static_cast<char*>(to) + (to_lines ? lines : planes) * size);
    }
  }
}

void WeightReorder::operator()(const void* from, void* to) const {
  const auto run = IsaTable<ChannelBlockTable>::get().weight_to_planes;
  const auto* lines = static_cast<const float*>(from);
  const std::int64_t run_of_plane = kChannelBlock * taps, step = in_blocks * run_of_plane;
  for (std::int64_t out = 0; out < out_blocks; ++out) {
    for (std::int64_t in = 0; in < in_blocks; ++in, lines += kChannelBlock * run_of_plane) {
      run(lines, taps, step,
          static_cast<float*>(to) + out * kChannelBlock * step + in * run_of_plane);
    }
  }
}

Reorder::Reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to)
    : needed_(from != to) {
  if (needed_) {
    primitive_ = dnnl::reorder(dnnl::reorder::primitive_desc(cpu_engine(), from, cpu_engine(), to,
                                                             dnnl::primitive_attr()));
    from_ = without_data(from);
    to_ = without_data(to);
  }
}

void Reorder::run(const void* from, void* to) {
  if (copy_) {
    copy_(from, to);
    return;
  }
  from_.set_data_handle(const_cast<void*>(from));
  to_.set_data_handle(to);
  primitive_.execute(cpu_stream(), {{DNNL_ARG_FROM, from_}, {DNNL_ARG_TO, to_}});
}

namespace {

using dnnl::memory;

memory::dims with_channels(std::int64_t a, std::int64_t b, memory::dims sizes) {
  sizes.insert(sizes.begin(), {a, b});
  return sizes;
}

/// Sizes of a weight: with groups, one of them for each.
memory::dims weight_dims(const ConvolutionGeometry& g) {
  memory::dims sizes = with_channels(g.group_out(), g.group_in(), spatial(g, g.kernel));
  if (g.groups > 1) {
    sizes.insert(sizes.begin(), g.groups);
  }
  return sizes;
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
  const std::int64_t weight_step = t.shape.groups > 1 ? t.shape.group_out() : t.x_channels;
  return {plain(dims[0], t.dtypes[0], t.x_channels), plain(dims[1], t.dtypes[1], weight_step),
          plain(dims[2], t.dtypes[2], t.y_channels)};
}

/// The weight's gradient as runs of 16 channels, where that is how oneDNN forms it.
std::optional<WeightReorder> weight_reorder_of(const ConvolutionTile& t,
                                               const memory::desc& inner) {
  using Tag = memory::format_tag;
  if (t.shape.groups > 1) {
    return std::nullopt;
  }
  const memory::dims dims = dims_of(t.shape)[1];
  const memory::desc lines(dims, memory::data_type::f32,
                           dims.size() == 4 ? Tag::OIhw16i16o : Tag::OIdhw16i16o);
  if (t.dtypes[1] != DType::f32 || inner != lines || dims[0] % kChannelBlock != 0 ||
      dims[1] % kChannelBlock != 0) {
    return std::nullopt;
  }
  return WeightReorder{dims[0] / kChannelBlock, dims[1] / kChannelBlock, t.shape.taps()};
}

/// x or y (operand 0 or 2) as runs of 16 channels or as lines of all, where that is what oneDNN
/// wants of it.
std::optional<ChannelReorder> channel_reorder_of(const ConvolutionTile& t, std::size_t operand,
                                                 const memory::desc& inner) {
  using Tag = memory::format_tag;
  const memory::dims dims = dims_of(t.shape)[operand];
  const DType dtype = t.dtypes[operand];
  const bool flat = dims.size() == 4;
  const memory::desc lines(dims, type_of(dtype), flat ? Tag::nChw16c : Tag::nCdhw16c);
  const memory::desc whole_lines(dims, type_of(dtype), flat ? Tag::nhwc : Tag::ndhwc);
  if (operand == 1 || dims[1] % kChannelBlock != 0 || (inner != lines && inner != whole_lines)) {
    return std::nullopt;
  }
  const bool of_x = operand == 0;
  const std::int64_t positions = of_x ? t.shape.in_size() : t.shape.out_size();
  return ChannelReorder{.samples = dims[0],
                        .blocks = dims[1] / kChannelBlock,
                        .positions = positions,
                        .step = (of_x ? t.x_channels : t.y_channels) * positions,
                        .whole_lines = inner != lines,
                        .dtype = dtype,
                        .to_lines = operand != static_cast<std::size_t>(t.result)};
}

}  // namespace

memory::dims spatial(const ConvolutionGeometry& g, const Spatial& sizes) {
  return g.ndim == 3 ? memory::dims(sizes.begin(), sizes.end())
                     : memory::dims(sizes.begin() + 1, sizes.end());
}

std::array<memory::dims, 3> dims_of(const ConvolutionGeometry& g) {
  return {with_channels(g.batch, g.in_channels, spatial(g, g.in)), weight_dims(g),
          with_channels(g.batch, g.out_channels, spatial(g, g.out))};
}

Reorder reorder_of(const ConvolutionTile& tile, std::size_t operand, const memory::desc& inner) {
  const bool written = operand == static_cast<std::size_t>(tile.result);
  if (const auto reorder = channel_reorder_of(tile, operand, inner)) {
    return Reorder(*reorder);
  }
  if (const auto reorder = weight_reorder_of(tile, inner); reorder && written && operand == 1) {
    return Reorder(*reorder);
  }
  const memory::desc outer = plain_layouts(tile)[operand];
  return written ? Reorder(inner, outer) : Reorder(outer, inner);
}

}  // namespace tessera::cpu::onednn
