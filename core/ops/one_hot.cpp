#include <tessera/core/ops/one_hot.h>

#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {

void OneHot::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  check_integer("one_hot", "x", x.dtype());
  check_at_least("one_hot", "number of classes", attrs.classes, 1);
  Shape shape = x.shape();
  shape.push_back(attrs.classes);
  c.add_output(shape, DType::i64);
}

void OneHot::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input();
  auto* y = k.output().data<std::int64_t>();
  for_each_element(x, [&](std::int64_t at) {
    const auto hot = load_as<std::int64_t>(x, at);
    check(hot >= 0 && hot < attrs.classes, "one_hot: class out of range; got ", hot,
          ", expected [0, ", attrs.classes, ")");
    for (std::int64_t i = 0; i < attrs.classes; ++i) {
      *y++ = i == hot ? 1 : 0;
    }
  });
}

ShardRule OneHot::shard(const Infer& c, const Attrs&) {
  const int ndim = c.input().ndim();
  return {.inputs = {DimLabels::numbered(ndim)}, .outputs = {DimLabels::numbered(ndim + 1, ndim)}};
}

Tensor one_hot(const Tensor& x, std::int64_t classes) {
  return call<OneHot>({x}, {classes});
}

const Register<OneHot> register_one_hot;

}  // namespace tessera
