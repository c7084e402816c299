// Tensors: shapes, views, dtypes and indexing, as in NumPy and PyTorch.
#include <iostream>

#include <tessera/tessera.h>

using tessera::DType;
using tessera::Range;
using tessera::Tensor;

/// What is made here can be looked at as another shape: the memory is the same.
void views() {
  const Tensor x = tessera::arange(12, {.dtype = DType::f32});
  const Tensor rows = tessera::reshape(x, {3, 4});
  const Tensor columns = tessera::transpose(rows, 0, 1);
  std::cout << "3 rows of 4\n" << rows << "\nseen from the side\n" << columns << '\n';
  tessera::assign(columns, {0}, -1);  // a write into a view
  std::cout << "the same memory: " << x << '\n';
}

/// Sizes of 1 stretch, and the wider dtype wins.
void broadcasting() {
  const Tensor column = tessera::reshape(tessera::arange(3), {3, 1});
  const Tensor row = tessera::tensor({0.5F, 0.25F});
  const Tensor table = column + row;
  std::cout << "i64 " << column.shape() << " + f32 " << row.shape() << " = " << table.dtype() << ' '
            << table.shape() << '\n'
            << table << '\n';
}

/// Numbers, ranges, masks and lists, which may be read and written.
void indexing() {
  const Tensor x = tessera::reshape(tessera::arange(20), {4, 5});
  std::cout << "x[1:3, ::2]\n" << tessera::index(x, {Range{1, 3}, Range{.step = 2}}) << '\n';
  std::cout << "x[x > 15] = " << tessera::index(x, {x > 15}) << '\n';
  const Tensor list = tessera::tensor({std::int64_t{3}, std::int64_t{0}});
  std::cout << "x[[3, 0], -1] = " << tessera::index(x, {list, -1}) << '\n';
}

/// An error says what was given and what was expected, and changes nothing.
void errors() {
  try {
    static_cast<void>(tessera::matmul(tessera::ones({2, 3}), tessera::ones({2, 3})));
  } catch (const tessera::Error& error) {
    std::cout << "error: " << error.what() << '\n';
  }
}

int main() {
  views();
  broadcasting();
  indexing();
  errors();
}
