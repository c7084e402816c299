#include <tessera/kernels/cpu/onednn_reorder.h>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/channel_blocks.h>

namespace tessera::cpu::onednn {

dnnl::memory without_data(const dnnl::memory::desc& desc) {
  return {desc, cpu_engine(), DNNL_MEMORY_NONE};
}

void ChannelBlocks::operator()(const void* from, void* to) const {
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

void WeightBlocks::operator()(const void* from, void* to) const {
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

}  // namespace tessera::cpu::onednn
