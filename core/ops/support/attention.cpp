#include <tessera/core/ops/support/attention.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/ops/support/dropout_mask.h>
#include <tessera/core/ops/support/rows_along.h>

namespace tessera {
namespace {

/// One query's row of scores.
class ScoreRow {
 public:
  ScoreRow(const AttentionProblem& p, const AttentionData& x, std::int64_t b, std::int64_t h,
           std::int64_t i)
      : p_(p), b_(b), h_(h), i_(i), kv_head_(h / (p.heads / p.kv_heads)) {
    const double* q = x.q.data() + p.q.at(b, h, i);
    const std::int64_t seen = p.attrs.causal ? std::min(i + 1, p.keys) : p.keys;
    for (std::int64_t j = 0; j < seen; ++j) {
      const double* k = x.k.data() + p.k.at(b, kv_head_, j);
      double score = 0;
      for (std::int64_t d = 0; d < p.size; ++d) {
        score += q[d] * k[d];
      }
      score *= p.scale();
      if (!p.mask.empty()) {
        score += p.mask[static_cast<std::size_t>(p.score_at(b, h, i) + j)];
      }
      scores_.push_back(p.in_f32 ? static_cast<float>(score) : score);
    }
  }

  [[nodiscard]] ScoreSum<double> sum() const {
    const double kHidden = -std::numeric_limits<double>::infinity();
    if (std::ranges::count(scores_, kHidden) == std::ssize(scores_)) {
      return {};
    }
    const LineSum sum = line_sum(scores_);
    return ScoreSum<double>::of(sum.top, sum.log_sum);
  }

  /// Calls f(j, p_ij, m_ij) for the keys that the query sees.
  template <class F>
  void for_each(const ScoreSum<double>& sum, const F& f) const {
    const DropoutMask mask(p_.attrs.dropout, p_.attrs.key);
    const std::int64_t first = p_.score_at(0, p_.attrs.first_head + h_, i_);
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(scores_.size()); ++j) {
      const double score = scores_[static_cast<std::size_t>(j)];
      const double kept =
          p_.attrs.dropout > 0 ? mask.factor(p_.attrs.first_sample + b_, first + j) : 1;
      f(j, std::exp((score - sum.top) - sum.log_sum), kept);
    }
  }
  [[nodiscard]] std::int64_t kv_head() const { return kv_head_; }

 private:
  const AttentionProblem& p_;
  std::int64_t b_, h_, i_, kv_head_;
  std::vector<double> scores_;
};

template <class F>
void for_each_query(const AttentionProblem& p, const F& f) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t h = 0; h < p.heads; ++h) {
      for (std::int64_t i = 0; i < p.queries; ++i) {
        f(b, h, i);
      }
    }
  }
}

/// to += factor * from, over the size of a head.
void add_scaled(double* to, const double* from, double factor, std::int64_t size) {
  for (std::int64_t d = 0; d < size; ++d) {
    to[d] += factor * from[d];
  }
}

double dot(const double* a, const double* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t d = 0; d < size; ++d) {
    sum += a[d] * b[d];
  }
  return sum;
}

}  // namespace

double AttentionProblem::scale() const {
  return attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<double>(size));
}

void attention_forward(const AttentionProblem& p, const AttentionData& x, std::vector<double>& y,
                       std::vector<double>& sums) {
  for_each_query(p, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const ScoreRow row(p, x, b, h, i);
    const ScoreSum<double> sum = row.sum();
    sums.insert(sums.end(), {sum.top, sum.log_sum});
    double* to = y.data() + p.y.at(b, h, i);
    row.for_each(sum, [&](std::int64_t j, double weight, double kept) {
      add_scaled(to, x.v.data() + p.v.at(b, row.kv_head(), j), weight * kept, p.size);
    });
  });
}

void attention_backward(const AttentionProblem& p, const AttentionData& x,
                        const std::vector<double>& gradient, const std::vector<double>& sums,
                        AttentionData& to) {
  std::size_t next = 0;
  for_each_query(p, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const ScoreRow row(p, x, b, h, i);
    const ScoreSum<double> total{sums[next], sums[next + 1]};
    next += 2;
    const double* g = gradient.data() + p.y.at(b, h, i);
    const auto along = [&](std::int64_t j, double kept) {
      return kept * dot(g, x.v.data() + p.v.at(b, row.kv_head(), j), p.size);
    };
    double mean = 0;
    row.for_each(total, [&](std::int64_t j, double weight, double kept) {
      mean += weight * along(j, kept);
    });
    row.for_each(total, [&](std::int64_t j, double weight, double kept) {
      const std::int64_t key = p.k.at(b, row.kv_head(), j);
      const std::int64_t query = p.q.at(b, h, i);
      const double score = weight * (along(j, kept) - mean) * p.scale();
      add_scaled(to.v.data() + p.v.at(b, row.kv_head(), j), g, weight * kept, p.size);
      add_scaled(to.q.data() + query, x.k.data() + key, score, p.size);
      add_scaled(to.k.data() + key, x.q.data() + query, score, p.size);
    });
  });
}

}  // namespace tessera
