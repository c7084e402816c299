// Models of the speed table, each with random data and an optimizer of its own.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/module.h>

namespace tessera::bench {

/// A model that can be trained step by step on one batch.
class Training {
 public:
  Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  virtual ~Training() = default;
  /// Forward, backward and update; the loss before the update.
  virtual Tensor step() = 0;
};

template <class Optimizer>
using OptionsOf = std::remove_cvref_t<decltype(std::declval<const Optimizer&>().options())>;

/// What `loss` says of a module is computed in `dtype`, with parameters and optimizer in f32; those
/// of f64 are f64 too.
template <class M, class Optimizer>
class TrainingOf final : public Training {
 public:
  using Loss = std::function<Tensor(const nn::Ptr<M>&)>;

  TrainingOf(const OptionsOf<Optimizer>& options, DType dtype, Loss loss)
      : model_(nn::make<M>()),
        optimizer_(model_->parameters(), options),
        dtype_(dtype),
        loss_(std::move(loss)) {
    if (dtype == DType::f64) {
      model_->to(dtype);
    }
  }

  Tensor step() override {
    Tensor loss;
    {
      const AutocastScope autocast(dtype_ == DType::f64 ? DType::f32 : dtype_);
      loss = loss_(model_);
    }
    loss.backward();
    optimizer_.step();
    return loss;
  }

 private:
  nn::Ptr<M> model_;
  Optimizer optimizer_;
  DType dtype_;
  Loss loss_;
};

template <class M, class Optimizer, class Loss>
[[nodiscard]] std::unique_ptr<Training> train(const OptionsOf<Optimizer>& options, DType dtype,
                                              Loss loss) {
  return std::make_unique<TrainingOf<M, Optimizer>>(options, dtype, std::move(loss));
}

/// Random numbers as a model of `dtype` takes them.
[[nodiscard]] inline Tensor random_input(const Shape& shape, DType dtype) {
  return cast(randn(shape), dtype == DType::f64 ? dtype : DType::f32);
}
/// Random classes below `count`.
[[nodiscard]] inline Tensor random_classes(const Shape& shape, double count) {
  return cast(rand(shape) * count, DType::i64);
}

/// ResNet-18 for CIFAR (3x32x32, 10 classes), batch 32; SGD with momentum.
[[nodiscard]] std::unique_ptr<Training> resnet18(DType dtype);
/// Bytes embedded in 256, LSTM 2 x 512, a head; 64 steps, batch 16; AdamW.
[[nodiscard]] std::unique_ptr<Training> byte_lstm(DType dtype);
/// Layers 784-512-512-10 with relu, batch 128; AdamW.
[[nodiscard]] std::unique_ptr<Training> mlp(DType dtype);
/// BERT of 6 layers of 384, 8 texts of 128 words; AdamW.
[[nodiscard]] std::unique_ptr<Training> mini_lm(DType dtype);
/// A linear layer, 512 x 768 into 768, and the convolution of a ResNet-18's first stage, 64
/// channels into 64 by 3x3 on 32 images of 32x32: forward, backward to x and weight; SGD.
[[nodiscard]] std::unique_ptr<Training> linear_layer(DType dtype);
[[nodiscard]] std::unique_ptr<Training> convolution_layer(DType dtype);
/// 20 linear layers of 64 and relu, batch 8: so small that time goes to calls; SGD.
[[nodiscard]] std::unique_ptr<Training> chain(DType dtype);

}  // namespace tessera::bench
