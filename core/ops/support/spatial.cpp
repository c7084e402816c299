#include <tessera/core/ops/support/spatial.h>

#include <limits>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

Spatial spatial_numbers(const char* op, const char* name, const Dims& numbers, int ndim,
                        std::int64_t least, std::int64_t fill) {
  check(numbers.size() == 1 || numbers.size() == ndim, op, ": wrong number of ", name, "s; got ",
        numbers, ", expected one or ", ndim);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // positions fit 64 bits
  Spatial result;
  result.fill(fill);
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t number = numbers[numbers.size() == 1 ? 0 : d];
    check(number >= least && number <= kMost, op, ": ", name, " out of range; got ", numbers,
          ", expected ", least, " to ", kMost);
    result[static_cast<std::size_t>(3 - ndim + d)] = number;
  }
  return result;
}

int spatial_dims(const char* op, const Shape& x) {
  check_layout(x.size() >= 3 && x.size() <= 5, op, "x", x,
               "(samples, channels, sizes...) with 1 to 3 sizes");
  return x.size() - 2;
}

Dims spatial_sizes(const Shape& x) {
  Dims sizes;
  for (int d = 2; d < x.size(); ++d) {
    sizes.push_back(x[d]);
  }
  return sizes;
}

Shape with_spatial(std::int64_t a, std::int64_t b, const Spatial& sizes, int ndim) {
  Shape shape{a, b};
  for (int d = 3 - ndim; d < 3; ++d) {
    shape.push_back(sizes[static_cast<std::size_t>(d)]);
  }
  return shape;
}

ShardRule plane_rule(int ndim, int inputs, int outputs) {
  const DimLabels labels = DimLabels::numbered(ndim, 2);
  ShardRule rule;
  for (int i = 0; i < inputs; ++i) {
    rule.inputs.push_back(labels);
  }
  for (int i = 0; i < outputs; ++i) {
    rule.outputs.push_back(labels);
  }
  return rule;
}

void check_countable(const char* op, const Shape& shape) {
  double numel = 1;
  for (const std::int64_t size : shape) {
    numel *= static_cast<double>(size);
  }
  check(numel < 1e18, op, ": too many elements; got shape ", shape, ", expected fewer than 10^18");
}

}  // namespace tessera
