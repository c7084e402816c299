#include <tessera/core/ops/add_rows.h>

#include <map>
#include <vector>

#include <tessera/core/base/tree.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

// Inputs: values, ids, x. The first one is never absent.
void AddRows::infer(Infer& c, const Attrs& attrs) {
  const Tensor& values = c.input(0);
  const Tensor& ids = c.input(1);
  check_layout(values.ndim() >= 1, "add_rows", "values", values.shape(), "(..., width)");
  check_floating("add_rows", "values", values.dtype());
  if (c.has_input(2)) {
    check_floating("add_rows", "x", c.input(2).dtype());
  }
  check_integer("add_rows", "ids", ids.dtype());
  const std::int64_t width = values.shape().back();
  check(values.numel() == ids.numel() * width, "add_rows: wrong number of ids; got ", ids.shape(),
        ", expected one for each row of values ", values.shape());
  const Shape shape{attrs.rows, width};
  if (c.has_input(2)) {
    check_shape("add_rows", "x", c.input(2).shape(), shape);
  }
  c.add_output(shape, c.has_input(2) ? c.input(2).dtype() : values.dtype());
}

void AddRows::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& values = k.input(0);
  const TensorImpl& ids = k.input(1);
  const std::int64_t width = values.shape.back();
  const std::int64_t microbatch_size = ids.numel() / attrs.microbatch_count;
  std::map<std::int64_t, std::vector<double>> sums;  // of a row: one block a microbatch
  StridedCounter<1> at_id(ids.shape, {ids.strides});
  StridedCounter<1> at_value(values.shape, {values.strides});
  for (std::int64_t i = 0; i < ids.numel(); ++i, at_id.next()) {
    const auto id = load_as<std::int64_t>(ids, at_id.offsets[0]);
    check(id >= 0 && id < attrs.rows, "add_rows: id out of range; got ", id, ", expected [0, ",
          attrs.rows, ")");
    std::vector<double>& blocks = sums[id];
    blocks.resize(static_cast<std::size_t>(attrs.microbatch_count * width));
    for (std::int64_t j = 0; j < width; ++j, at_value.next()) {
      blocks[static_cast<std::size_t>(i / microbatch_size * width + j)] +=
          load_as<double>(values, at_value.offsets[0]);
    }
  }
  TensorImpl& out = k.output();
  StridedCounter<1> at(out.shape, {out.strides});
  for (std::int64_t i = 0; i < out.numel(); ++i, at.next()) {
    const double base = k.has_input(2)
                            ? load_as<double>(k.input(2), at.index()[0] * k.input(2).strides[0] +
                                                              at.index()[1] * k.input(2).strides[1])
                            : 0.0;
    store_as(out, at.offsets[0], base);
  }
  for (auto& [id, blocks] : sums) {
    tree_sum(blocks, attrs.microbatch_count, width);
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t to = id * out.strides[0] + j * out.strides[1];
      store_as(out, to, load_as<double>(out, to) + blocks[static_cast<std::size_t>(j)]);
    }
  }
}

void AddRows::vjp(Vjp& v, const Attrs&) {
  v.set(0, [&] { return embedding(v.gradient(), v.input(1)); });
  v.set(2, [&] { return v.gradient(); });
}

Tensor add_rows(const Tensor& x, const Tensor& ids, const Tensor& values,
                const AddRows::Attrs& attrs) {
  return call<AddRows>({values, ids, x}, attrs);
}

const Register<AddRows> register_add_rows;

}  // namespace tessera
