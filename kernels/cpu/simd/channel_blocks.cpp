#include <tessera/kernels/cpu/simd/channel_blocks.h>

#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/transpose.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// kLanes channels of `count` positions, at most kLanes.
template <class T>
void lines_of_square(const T* planes, const ChannelSteps& steps, std::int64_t count, T* lines) {
  VF r[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const T* plane = planes + i * steps.plane;
    r[i] = count == kLanes ? load(plane) : load_n(plane, count);
  }
  transpose(r);
  for (int i = 0; i < kLanes && i < count; ++i) {
    store(lines + i * steps.line, r[i]);
  }
}

template <class T>
void planes_of_square(const T* lines, const ChannelSteps& steps, std::int64_t count, T* planes) {
  VF r[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    r[i] = i < count ? load(lines + i * steps.line) : zero();
  }
  transpose(r);
  for (int i = 0; i < kLanes; ++i) {
    if (count == kLanes) {
      store(planes + i * steps.plane, r[i]);
    } else {
      store_n(planes + i * steps.plane, r[i], count);
    }
  }
}

/// Calls body(channel, position, count) for all squares.
template <class Body>
[[gnu::always_inline]] inline void each_square(std::int64_t positions, const Body& body) {
  for (std::int64_t p = 0; p < positions; p += kLanes) {
    const std::int64_t count = positions - p < kLanes ? positions - p : kLanes;
    for (std::int64_t c = 0; c < kChannelBlock; c += kLanes) {
      body(c, p, count);
    }
  }
}

template <class T>
void to_lines(const void* from, std::int64_t positions, const ChannelSteps& steps, void* to) {
  each_square(positions, [&](std::int64_t c, std::int64_t p, std::int64_t count) {
    lines_of_square(static_cast<const T*>(from) + c * steps.plane + p, steps, count,
                    static_cast<T*>(to) + p * steps.line + c);
  });
}

template <class T>
void to_planes(const void* from, std::int64_t positions, const ChannelSteps& steps, void* to) {
  each_square(positions, [&](std::int64_t c, std::int64_t p, std::int64_t count) {
    planes_of_square(static_cast<const T*>(from) + p * steps.line + c, steps, count,
                     static_cast<T*>(to) + c * steps.plane + p);
  });
}

/// The lines of a weight in the order of a plane's elements: tap by tap for each input channel.
class WeightLines {
 public:
  WeightLines(const float* lines, std::int64_t taps) : lines_(lines), taps_(taps) {}
  const float* next() {
    const float* line = lines_ + (tap_ * kChannelBlock + in_) * kChannelBlock;
    if (++tap_ == taps_) {
      tap_ = 0;
      ++in_;
    }
    return line;
  }

 private:
  const float* lines_;
  std::int64_t taps_, tap_ = 0, in_ = 0;
};

void weight_to_planes(const float* lines, std::int64_t taps, std::int64_t step, float* planes) {
  WeightLines order(lines, taps);
  for (std::int64_t p = 0; p < kChannelBlock * taps; p += kLanes) {
    const float* line[kLanes];
    for (auto& at : line) {
      at = order.next();
    }
    for (std::int64_t out = 0; out < kChannelBlock; out += kLanes) {
      VF r[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        r[i] = load(line[i] + out);
      }
      transpose(r);
      for (int i = 0; i < kLanes; ++i) {
        store(planes + (out + i) * step + p, r[i]);
      }
    }
  }
}

constexpr ChannelBlockTable kChannelBlockTable{{to_lines<float>, to_lines<BFloat16>},
                                               {to_planes<float>, to_planes<BFloat16>},
                                               weight_to_planes};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kChannelBlocksAdded =
    IsaTable<ChannelBlockTable>::add(Isa::TESSERA_ISA, &kChannelBlockTable);
}
