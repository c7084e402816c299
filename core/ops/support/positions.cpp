#include <tessera/core/ops/support/positions.h>

#include <tessera/core/ops/support/checks.h>

namespace tessera {

int check_lists(const Infer& c, int from, int first) {
  const int count = c.input_count() - from;
  const int ndim = c.input().ndim();
  check(count > 0 && first >= 0 && first + count <= ndim, c.op(), ": wrong number of lists; got ",
        count, " from dim ", first, " on, expected one for each indexed dim of ",
        c.input().shape());
  for (int i = from; i < c.input_count(); ++i) {
    check_i64(c.op(), "a list", c.input(i).dtype());
    check_shape(c.op(), "a list", c.input(i).shape(), c.input(from).shape());
  }
  return count;
}

Shape taken_shape(const Shape& shape, const Shape& list, int lists, int first) {
  Shape result;
  for (int d = 0; d < first; ++d) {
    result.push_back(shape[d]);
  }
  for (const std::int64_t size : list) {
    result.push_back(size);
  }
  for (int d = first + lists; d < shape.size(); ++d) {
    result.push_back(shape[d]);
  }
  return result;
}

ShardRule positions_rule(const Infer& c, int from, int first, int taken_ndim) {
  const int lists = c.input_count() - from;
  ShardRule rule;
  DimLabels x(c.input().ndim());
  DimLabels taken(taken_ndim);
  for (int d = 0; d < x.size; ++d) {
    if (d < first || d >= first + lists) {
      const int to = d < first ? d : d + taken_ndim - x.size;
      x[d] = taken[to] = static_cast<std::int8_t>(d);
    }
  }
  DimLabels list(c.input(from).ndim());
  for (int d = 0; d < list.size; ++d) {
    list[d] = taken[first + d] = static_cast<std::int8_t>(x.size + d);
  }
  rule.inputs.push_back(x);
  for (int i = from; i < c.input_count(); ++i) {
    rule.inputs.push_back(list);
  }
  rule.outputs.push_back(taken);
  return rule;
}

std::int64_t offset_at(const Kernel& k, int from, const TensorImpl& x, int first,
                       const Dims& index) {
  const int lists = k.input_count() - from;
  const int list_ndim = k.input(from).shape.size();
  std::int64_t offset = 0;
  for (int d = 0; d < x.shape.size(); ++d) {
    if (d < first || d >= first + lists) {
      offset += index[d < first ? d : d - lists + list_ndim] * x.strides[d];
      continue;
    }
    const TensorImpl& list = k.input(from + d - first);
    std::int64_t at = 0;
    for (int i = 0; i < list_ndim; ++i) {
      at += index[first + i] * list.strides[i];
    }
    std::int64_t position = list.data<std::int64_t>()[at];
    check(position >= -x.shape[d] && position < x.shape[d], k.op(), ": index out of range; got ",
          position, ", expected [", -x.shape[d], ", ", x.shape[d], ")");
    position += position < 0 ? x.shape[d] : 0;
    offset += position * x.strides[d];
  }
  return offset;
}

}  // namespace tessera
