#include <tessera/core/ops/multinomial.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/core/base/philox.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/draw.h>

namespace tessera {
namespace {

/// The class at `point` in [0, 1) of the row's cumulated probabilities.
std::int64_t class_at(const double* row, std::int64_t classes, double total, double point) {
  double sum = 0;
  std::int64_t last = 0;  // the point may lie beyond the sum by rounding
  for (std::int64_t j = 0; j < classes; ++j) {
    sum += row[j];
    if (row[j] > 0) {
      last = j;
    }
    if (sum > point * total) {
      return j;
    }
  }
  return last;
}

double total_of(const double* row, std::int64_t classes, std::int64_t number) {
  double total = 0;
  for (std::int64_t j = 0; j < classes; ++j) {
    check(row[j] >= 0 && std::isfinite(row[j]), "multinomial: wrong probability; got ", row[j],
          " for class ", j, " in row ", number, ", expected a finite one of at least 0");
    total += row[j];
  }
  check(total > 0, "multinomial: row ", number, " has no probability above 0; got the sum ", total,
        ", expected at least one class above 0");
  return total;
}

}  // namespace

void Multinomial::infer(Infer& c, const Attrs& attrs) {
  const Tensor& x = c.input();
  check_floating("multinomial", "x", x.dtype());
  check_layout(x.ndim() >= 1 && x.shape().back() > 0, "multinomial", "x", x.shape(),
               "(..., classes)");
  check_at_least("multinomial", "number of draws", attrs.count, 1);
  Shape shape = x.shape();
  shape[shape.size() - 1] = attrs.count;
  c.add_output(shape, DType::i64);
}

void Multinomial::reference(Kernel& k, const Attrs& attrs) {
  const std::int64_t classes = k.input().shape.back();
  const std::vector<double> rows = dense_values<double>(k.input());
  std::vector<std::int64_t> drawn;
  for (std::int64_t r = 0; r < k.input().numel() / classes; ++r) {
    const double* row = rows.data() + r * classes;
    const double total = total_of(row, classes, r);
    const RandomStream stream{mix(attrs.key, static_cast<std::uint64_t>(attrs.first_row + r))};
    for (std::int64_t i = 0; i < attrs.count; ++i) {
      const double point = to_uniform(stream.word(static_cast<std::uint64_t>(i)));
      drawn.push_back(class_at(row, classes, total, point));
    }
  }
  store_values(k.output(), drawn);
}

/// Rows are numbered through, so only dim 0 may be cut, and there into microbatches alone.
ShardRule Multinomial::shard(const Infer& c, const Attrs&) {
  ShardRule rule;
  for (DimLabels* labels : {&rule.inputs.emplace_back(c.input().ndim()),
                            &rule.outputs.emplace_back(c.input().ndim())}) {
    (*labels)[0] = c.input().ndim() > 1 ? std::int8_t{0} : DimLabels::kWhole;
  }
  return rule;
}

void Multinomial::localise(Attrs& attrs, const Box& output) {
  std::int64_t rows = output.offset[0];  // before the piece
  for (int d = 1; d + 1 < output.whole.size(); ++d) {
    rows *= output.whole[d];
  }
  attrs.first_row += rows;
}

namespace {

std::int64_t rows_of(const Tensor& probabilities) {
  const std::int64_t classes = probabilities.ndim() > 0 ? probabilities.shape().back() : 1;
  return probabilities.numel() / std::max<std::int64_t>(classes, 1);
}

}  // namespace

Tensor multinomial(const Tensor& probabilities, std::int64_t count) {
  const Tensor each = for_each_drawing(probabilities);
  const MicrobatchLayout& layout = each.microbatches();
  const Draw draw = new_draw(each);
  const std::int64_t samples = draw.samples * (layout ? layout.count : 1);
  const std::int64_t of_a_sample = samples > 0 ? rows_of(each) / samples : 0;
  Multinomial::Attrs attrs{
      .count = count, .key = draw.key, .first_row = of_a_sample * draw.first_sample};
  const bool in_rows = layout.dim == 0 && !layout.per_microbatch && samples > 0;
  if (!layout || in_rows) {
    return call<Multinomial>({each}, attrs);
  }
  Outputs pieces = unbind_microbatches(each);
  for (Tensor& piece : pieces) {
    piece = call<Multinomial>({piece}, attrs);
    attrs.first_row += of_a_sample * draw.samples;
  }
  const std::vector<TensorRef> drawn(pieces.begin(), pieces.end());
  return join_microbatches(drawn, layout);
}

const Register<Multinomial> register_multinomial;

}  // namespace tessera
