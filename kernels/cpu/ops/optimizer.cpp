#include <tessera/kernels/cpu/ops/optimizer.h>

namespace tessera::cpu {
namespace {

/// Input `m` of a group, when it is the output's memory too.
template <class Number>
bool lies_on_output(const Kernel& k, int members, int group, int m) {
  const TensorImpl& old = k.input(member_at(members, group, m));
  const TensorImpl& now = k.output(group * (members - 1) + (m == 0 ? 0 : m - 1));
  return is_dense<Number>(now) && bytes_of(now) == bytes_of(old);
}

}  // namespace

template <class Number>
std::optional<std::vector<ParameterRangeOf<Number>>> ranges_in_place(const Kernel& k, int members) {
  std::vector<ParameterRangeOf<Number>> ranges;
  ranges.reserve(static_cast<std::size_t>(group_count(k, members)));
  for (int group = 0; group < group_count(k, members); ++group) {
    ParameterRangeOf<Number>& range = ranges.emplace_back();
    for (int m = 0; m < members; ++m) {
      const int at = member_at(members, group, m);
      if (!k.has_input(at) || !is_dense<Number>(k.input(at)) ||
          (m != 1 && !lies_on_output<Number>(k, members, group, m))) {
        return std::nullopt;
      }
    }
    const int first = member_at(members, group, 0);
    range.parameter = k.input(first).data<Number>();
    range.gradient = k.input(first + 1).data<Number>();
    for (int m = 2; m < members; ++m) {
      range.states[m - 2] = k.input(first + m).data<Number>();
    }
    range.count = k.input(first).numel();
  }
  return ranges;
}

template std::optional<std::vector<ParameterRange>> ranges_in_place<float>(const Kernel&, int);
template std::optional<std::vector<ParameterRangeF64>> ranges_in_place<double>(const Kernel&, int);

}  // namespace tessera::cpu
