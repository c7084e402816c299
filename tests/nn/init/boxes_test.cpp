// Initialisers make any box of a parameter as it is in the whole.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/dirac.h>
#include <tessera/nn/init/eye.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/init/orthogonal.h>
#include <tessera/nn/init/sparse.h>
#include <tessera/nn/init/trunc_normal.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/init/xavier.h>
#include <tessera/nn/layers/embedding_table.h>

#include "support/bare_device.h"
#include "support/error_of.h"
#include "support/guarded_device.h"

namespace tessera::nn {
namespace {

struct Initialised {
  const char* name;
  Initializer initializer;
  Shape shape;
};

const std::vector<Initialised>& initialised() {
  static const std::vector<Initialised> all{
      {"constant", init::constant(3), {5, 7}},
      {"normal", init::normal(1, 2), {5, 7, 3}},
      {"normal of many", init::normal(), {70, 1001}},
      {"uniform", init::uniform(-1, 2), {13, 11}},
      {"uniform of one dim", init::uniform(), {37}},
      {"trunc_normal", init::trunc_normal(), {6, 9}},
      {"kaiming_uniform", init::kaiming_uniform(std::sqrt(5.0)), {6, 3, 2, 2}},
      {"kaiming_normal", init::kaiming_normal(), {9, 4}},
      {"xavier_uniform", init::xavier_uniform(), {6, 8}},
      {"xavier_normal", init::xavier_normal(2), {7, 5}},
      {"orthogonal", init::orthogonal(), {9, 4}},
      {"orthogonal, wide", init::orthogonal(2), {4, 3, 3}},
      {"sparse", init::sparse(0.4), {9, 6}},
      {"eye", init::eye(), {6, 8}},
      {"dirac", init::dirac(2), {6, 3, 3}},
      {"a table with padding", table_init(2), {6, 5}},
  };
  return all;
}

/// What `initializer` puts in `box` into memory that holds sevens.
std::vector<double> made(const Initializer& initializer, const Box& box, DType dtype,
                         const Device& device = {}) {
  const Tensor value = full(box.shape, 7, {.dtype = dtype, .device = device});
  initializer(value, box, {.key = 11});
  return value.to_vector<double>();
}

Box random_box(const Shape& whole, std::mt19937& random) {
  Box box = Box::all_of(whole);
  for (int d = 0; d < whole.size(); ++d) {
    const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(whole[d]));
    const auto left = static_cast<unsigned>(whole[d] - first);
    box = random() % 3 == 0 ? box
                            : box.part(d, first, static_cast<std::int64_t>(random() % (left + 1)));
  }
  return box;
}

TEST(Init, boxes_are_those_of_the_whole) {
  std::mt19937 random(5);
  for (const auto& [name, initializer, shape] : initialised()) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      const std::vector<double> whole = made(initializer, Box::all_of(shape), dtype);
      for (int i = 0; i < 20; ++i) {
        const Box box = random_box(shape, random);
        std::vector<double> expected;
        for (std::int64_t element = 0; element < numel_of(box.shape); ++element) {
          expected.push_back(whole[static_cast<std::size_t>(box.number(element))]);
        }
        ASSERT_EQ(made(initializer, box, dtype), expected) << name << ' ' << dtype << ' ' << box;
      }
    }
  }
}

TEST(Init, fills_tensors_on_any_device) {
  for (const auto& [name, initializer, shape] : initialised()) {
    const Box all = Box::all_of(shape);
    for (const Device& device :
         {test::bare_device(), test::open_device(), test::guarded_device()}) {
      EXPECT_EQ(made(initializer, all, DType::f32, device), made(initializer, all, DType::f32))
          << name << " on " << device;
    }
    const Device meta{.type = DeviceType::meta};
    initializer(empty(shape, {.device = meta}), all, {.key = 11});
  }
}

TEST(Init, fills_dense_tensors_of_the_boxs_shape) {
  const Tensor value = transpose(zeros({2, 3}));
  EXPECT_EQ(testing_support::error_of<InvalidArgument>([&] {
              init::normal()(value, Box::all_of({3, 2}), {.key = 1});
            }),
            "initializer: the tensor does not fit; got shape (3, 2) and strides (1, 3), expected a "
            "dense one of shape (3, 2)");
  EXPECT_THROW(init::zeros()(zeros({2, 3}), Box::all_of({3, 2}), {.key = 1}), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
