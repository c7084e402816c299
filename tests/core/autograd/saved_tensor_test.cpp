// Hooks that decide how the tape keeps tensors.
#include <gtest/gtest.h>

#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/base/file.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

#include "support/temporary_folder.h"

namespace tessera {
namespace {

using testing_support::TemporaryFolder;

/// Keeps tensors in bf16.
class InHalf final : public SavedTensorHooks {
 public:
  std::unique_ptr<PackedTensor> pack(const Tensor& tensor) override {
    ++packed;
    return std::make_unique<Packed>(tensor);
  }
  int packed = 0;

 private:
  class Packed final : public PackedTensor {
   public:
    explicit Packed(const Tensor& x) : half_(cast(x.detach(), DType::bf16)), dtype_(x.dtype()) {}
    Tensor unpack() override { return cast(half_, dtype_); }

   private:
    Tensor half_;
    DType dtype_;
  };
};

/// Keeps tensors in a file.
class InFile final : public SavedTensorHooks {
 public:
  explicit InFile(std::string path) : file_(file_system().open(path, {.create = true})) {}
  std::unique_ptr<PackedTensor> pack(const Tensor& tensor) override {
    const std::uint64_t at = file_->size();
    file_->write_at({static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes()}, at);
    return std::make_unique<Packed>(*this, at, tensor);
  }

 private:
  class Packed final : public PackedTensor {
   public:
    Packed(const InFile& hooks, std::uint64_t at, const Tensor& x)
        : file_(hooks.file_), at_(at), shape_(x.shape()), dtype_(x.dtype()) {}
    Tensor unpack() override {
      Tensor x = empty(shape_, {.dtype = dtype_});
      file_->read_at({static_cast<std::byte*>(x.raw_data()), x.nbytes()}, at_);
      return x;
    }

   private:
    std::shared_ptr<File> file_;
    std::uint64_t at_;
    Shape shape_;
    DType dtype_;
  };
  std::shared_ptr<File> file_;
};

/// Does not pack, or does not unpack.
class Failing final : public SavedTensorHooks {
 public:
  explicit Failing(bool packs) : packs_(packs) {}
  std::unique_ptr<PackedTensor> pack(const Tensor&) override {
    check<IoError>(packs_, "pack: the disk is full");
    return std::make_unique<Packed>();
  }

 private:
  class Packed final : public PackedTensor {
   public:
    Tensor unpack() override { fail<IoError>("unpack: the file is gone"); }
  };
  bool packs_;
};

/// Keeps nothing in a way of its own.
class Leaving final : public SavedTensorHooks {
 public:
  std::unique_ptr<PackedTensor> pack(const Tensor&) override { return nullptr; }
};

struct SavedTensors : testing::Test {
  [[nodiscard]] Tensor square() const { return sum_to(x * x, {}); }
  Tensor x = tensor({1.00390625F, 3.F}).set_requires_grad(true);  // the first is no bf16
};

TEST_F(SavedTensors, go_through_another_dtype) {
  InHalf hooks;
  Tensor loss;
  {
    const SavedTensorHooksScope scope(hooks);
    loss = square();
  }
  EXPECT_EQ(hooks.packed, 2);
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 6}));
}

TEST_F(SavedTensors, go_through_a_file) {
  const TemporaryFolder folder;
  Tensor loss;
  {
    InFile hooks(folder / "saved");
    const SavedTensorHooksScope scope(hooks);
    loss = square();
  }
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2.0078125F, 6}));
}

TEST_F(SavedTensors, that_hooks_leave_are_watched_for_writes) {
  Leaving hooks;
  const SavedTensorHooksScope scope(hooks);
  const Tensor y = x * 1.0;
  const Tensor loss = sum_to(y * y, {});
  add_(y, ones({2}));
  EXPECT_THROW(loss.backward(), InvalidArgument);
}

TEST_F(SavedTensors, that_were_packed_may_be_written_to) {
  InHalf hooks;
  const SavedTensorHooksScope scope(hooks);
  const Tensor y = x * 1.0;
  const Tensor loss = sum_to(y * y, {});
  add_(y, ones({2}));
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 6}));
}

TEST_F(SavedTensors, go_to_the_innermost_hooks) {
  InHalf outer;
  InHalf inner;
  const SavedTensorHooksScope outer_scope(outer);
  {
    const SavedTensorHooksScope inner_scope(inner);
    static_cast<void>(square());
  }
  EXPECT_EQ(inner.packed, 2);
  EXPECT_EQ(outer.packed, 0);
  static_cast<void>(square());
  EXPECT_EQ(outer.packed, 2);
}

TEST_F(SavedTensors, whose_packing_throws_leave_the_call_with_the_error) {
  Failing hooks(false);
  const SavedTensorHooksScope scope(hooks);
  EXPECT_THROW(static_cast<void>(square()), IoError);
}

TEST_F(SavedTensors, whose_unpacking_throws_leave_no_trace_of_the_backward) {
  Failing hooks(true);
  Tensor loss;
  {
    const SavedTensorHooksScope scope(hooks);
    loss = square();
  }
  EXPECT_THROW((loss + sum_to(x * 2.0, {})).backward(), IoError);
  square().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2.0078125F, 6}));
}

}  // namespace
}  // namespace tessera
