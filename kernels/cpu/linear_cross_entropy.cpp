#include <tessera/kernels/cpu/linear_cross_entropy.h>

#include <algorithm>
#include <bit>
#include <functional>

#include <tessera/core/base/error.h>
#include <tessera/core/base/tree.h>
#include <tessera/core/device/allocator.h>
#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/rows.h>
#include <tessera/kernels/cpu/softmax.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kChunk = 256;

/// The weight's gradients of finished blocks of microbatches that wait for their sibling.
class WeightSums {
 public:
  WeightSums(const LinearCrossEntropy& h, std::int64_t holds)
      : h_(h), size_(h.classes * h.columns) {
    const auto levels =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(holds)));
    const std::int64_t own = h.accumulate ? levels + 1 : levels;
    if (holds > 1 || h.accumulate) {
      memory_ = HeldMemory(static_cast<std::size_t>(own * size_) * sizeof(float));
      buffers_ = memory_.as<float>();
    }
  }

  /// Memory for the next block's sum. The lowest level is the gradient itself where it may be.
  float* next() {
    const auto level = static_cast<std::int64_t>(sums_.size());
    if (h_.accumulate) {
      return buffers_ + level * size_;
    }
    return level == 0 ? h_.dweight : buffers_ + (level - 1) * size_;
  }

  void push() { sums_.take(pushed_++, 1, next(), std::bind_front(&WeightSums::add, this)); }

  void finish() {
    sums_.finish(std::bind_front(&WeightSums::add, this));
    if (h_.accumulate && !sums_.empty()) {
      add(h_.dweight, sums_.back());
    }
  }

 private:
  void add(float* into, const float* from) const {
    const auto run = IsaTable<NormTable>::get().add;
    constexpr std::int64_t kStep = 65536;
    for_ranges(size_, kStep, [&](std::int64_t i, std::int64_t n) { run(into + i, from + i, n); });
  }

  const LinearCrossEntropy& h_;
  std::int64_t size_;
  HeldMemory memory_;
  float* buffers_ = nullptr;
  TreeSum<float*> sums_;
  std::int64_t pushed_ = 0;
};

class Head {
 public:
  explicit Head(const LinearCrossEntropy& h) : h_(h), per_cut_(h.rows / h.cuts) {
    check(h.cuts >= 1 && h.rows % h.cuts == 0,
          "linear_cross_entropy: rows cannot be cut into equal parts; got ", h.rows, ", cuts ",
          h.cuts, ", expected a divisor");
    check(h.dtype == DType::f32 || h.dtype == DType::bf16,
          "linear_cross_entropy: dtype not supported; got ", h.dtype, ", expected f32 or bf16");
    const std::int64_t row_bytes = std::max<std::int64_t>(1, h.classes) * 4;
    const std::int64_t fitting = std::max(kChunk, h.max_bytes / row_bytes);
    if (fitting >= h.rows || h.rows == 0) {
      hold_rows_ = h.rows;
    } else if (fitting >= per_cut_) {
      const auto whole = static_cast<std::uint64_t>(fitting / per_cut_);
      hold_rows_ = static_cast<std::int64_t>(std::bit_floor(whole)) * per_cut_;
    } else {
      hold_rows_ = fitting / kChunk * kChunk;
    }
  }

  void run() {
    if (h_.rows == 0) {
      zero_gradient();
      return;
    }
    check_targets("linear_cross_entropy", rows_from(0, h_.rows));
    memory_ = HeldMemory(static_cast<std::size_t>(hold_rows_ * h_.classes) * sizeof(float));
    logits_ = memory_.as<float>();
    if (hold_rows_ >= per_cut_) {
      run_whole_cuts();
    } else {
      run_parts_of_cuts();
    }
  }

 private:
  [[nodiscard]] bool wants_weight() const { return h_.dlosses != nullptr && h_.dweight != nullptr; }
  [[nodiscard]] const void* x_at(std::int64_t row) const {
    return static_cast<const char*>(h_.x) +
           row * h_.columns * static_cast<std::int64_t>(size_of(h_.dtype));
  }

  void zero_gradient() {
    if (wants_weight() && !h_.accumulate) {
      std::fill_n(h_.dweight, h_.classes * h_.columns * (h_.per_microbatch ? h_.cuts : 1), 0.0F);
    }
  }

  void run_whole_cuts() {
    const std::int64_t holds = (h_.rows + hold_rows_ - 1) / hold_rows_;
    const bool sums = wants_weight() && !h_.per_microbatch;
    WeightSums waiting(h_, sums ? holds : 1);
    for (std::int64_t row = 0; row < h_.rows; row += hold_rows_) {
      const std::int64_t rows = std::min(hold_rows_, h_.rows - row);
      run_rows(row, rows);
      if (!wants_weight()) {
        continue;
      }
      if (h_.per_microbatch) {
        weight_gradient(row, 0, rows, h_.dweight + row / per_cut_ * h_.classes * h_.columns, false);
      } else if (holds == 1) {
        weight_gradient(row, 0, rows, h_.dweight, h_.accumulate);
      } else {
        weight_gradient(row, 0, rows, waiting.next(), false);
        waiting.push();
      }
    }
    if (sums && holds > 1) {
      waiting.finish();
    }
  }

  void run_parts_of_cuts() {
    const bool sums = wants_weight() && !h_.per_microbatch;
    WeightSums waiting(h_, sums ? h_.cuts : 1);
    for (std::int64_t cut = 0; cut < h_.cuts; ++cut) {
      float* target = sums ? waiting.next() : nullptr;
      if (wants_weight() && h_.per_microbatch) {
        target = h_.dweight + cut * h_.classes * h_.columns;
      }
      for (std::int64_t done = 0; done < per_cut_; done += hold_rows_) {
        const std::int64_t rows = std::min(hold_rows_, per_cut_ - done);
        run_rows(cut * per_cut_ + done, rows);
        for (std::int64_t i = 0; i < rows && target != nullptr; i += kChunk) {
          weight_gradient(cut * per_cut_ + done, i, std::min(kChunk, rows - i), target,
                          done + i > 0);
        }
      }
      if (sums) {
        waiting.push();
      }
    }
    if (sums) {
      waiting.finish();
    }
  }

  [[nodiscard]] CrossEntropyRows rows_from(std::int64_t first, std::int64_t rows) const {
    CrossEntropyRows c;
    c.rows = rows, c.columns = h_.classes, c.logits = logits_, c.targets = h_.targets + first;
    c.ignore_index = h_.ignore_index, c.smoothing = h_.smoothing;
    return c;
  }

  /// Logits, losses and the gradients of logits and x for some rows.
  void run_rows(std::int64_t first, std::int64_t rows) {
    Gemm g;
    g.m = rows, g.n = h_.classes, g.k = h_.columns;
    g.a = {x_at(first), h_.dtype, h_.columns, 1};
    g.b = {h_.weight, DType::f32, 1, h_.columns};
    g.c = logits_, g.c_stride = h_.classes, g.compute = h_.dtype;
    gemm(g);
    const CrossEntropyRows c = rows_from(first, rows);
    if (h_.dlosses == nullptr) {
      cross_entropy_forward(c, h_.losses + first, nullptr);
      return;
    }
    cross_entropy(c, h_.losses + first, h_.dlosses + first, h_.dtype, logits_, stride());
    if (h_.dx != nullptr) {
      input_gradient(first, rows);
    }
  }

  /// Elements from one row of the logits' gradient to the next: it lies where the logits lay.
  [[nodiscard]] std::int64_t stride() const {
    return h_.dtype == DType::bf16 ? 2 * h_.classes : h_.classes;
  }

  void input_gradient(std::int64_t first, std::int64_t rows) {
    Gemm g;
    g.m = rows, g.n = h_.columns, g.k = h_.classes;
    g.a = {logits_, h_.dtype, stride(), 1};
    g.b = {h_.weight, DType::f32, h_.columns, 1};
    g.c = static_cast<char*>(h_.dx) +
          first * h_.columns * static_cast<std::int64_t>(size_of(h_.dtype));
    g.c_dtype = h_.dtype, g.c_stride = h_.columns, g.compute = h_.dtype;
    gemm(g);
  }

  /// Sums up the weight's gradient from rows [first + skip, first + skip + rows), of which `first`
  /// is the first one held.
  void weight_gradient(std::int64_t first, std::int64_t skip, std::int64_t rows, float* target,
                       bool accumulate) {
    Gemm g;
    g.m = h_.classes, g.n = h_.columns, g.k = rows;
    const auto at = skip * stride() * static_cast<std::int64_t>(size_of(h_.dtype));
    g.a = {reinterpret_cast<const char*>(logits_) + at, h_.dtype, 1, stride()};
    g.b = {x_at(first + skip), h_.dtype, h_.columns, 1};
    g.c = target, g.c_stride = h_.columns, g.compute = h_.dtype;
    g.cuts = std::max<std::int64_t>(1, rows / per_cut_);
    g.chunk = kChunk;
    g.accumulate = accumulate;
    g.per_microbatch = h_.per_microbatch && !accumulate && hold_rows_ >= per_cut_;
    g.cut_stride = h_.classes * h_.columns;
    gemm(g);
  }

  const LinearCrossEntropy& h_;
  std::int64_t per_cut_, hold_rows_ = 0;
  HeldMemory memory_;
  float* logits_ = nullptr;
};

}  // namespace

void linear_cross_entropy(const LinearCrossEntropy& h) {
  Head(h).run();
}

}  // namespace tessera::cpu
