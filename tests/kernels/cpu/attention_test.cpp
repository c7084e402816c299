#include <tessera/kernels/cpu/attention.h>

#include <cmath>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support.h"

namespace tessera::cpu {
namespace {

using test::random_values;

struct AttentionCase {
  std::int64_t batch, heads, key_heads, queries, keys, dim;
  bool causal;
  MaskKind mask = MaskKind::none;
};

std::ostream& operator<<(std::ostream& out, const AttentionCase& c) {
  return out << c.batch << " x " << c.heads << "/" << c.key_heads << " heads, " << c.queries
             << " x " << c.keys << ", dim " << c.dim << (c.causal ? ", causal" : "");
}

Heads heads_of(const void* data, std::int64_t heads, std::int64_t length, std::int64_t dim) {
  // Stored as [batch, length, heads, dim], as a projection leaves it.
  return {const_cast<void*>(data), length * heads * dim, dim, heads * dim};
}

/// Inputs, outputs and gradients of one case in T.
template <class T>
struct Problem {
  explicit Problem(const AttentionCase& c_in) : c(c_in) {
    const std::int64_t nq = c.batch * c.queries * c.heads * c.dim;
    const std::int64_t nk = c.batch * c.keys * c.key_heads * c.dim;
    q = random_values<T>(nq, 1, 2.0F), k = random_values<T>(nk, 2, 2.0F);
    v = random_values<T>(nk, 3), dout = random_values<T>(nq, 4);
    out.resize(q.size()), dq.resize(q.size()), dk.resize(k.size()), dv.resize(k.size());
    sums.resize(static_cast<std::size_t>(c.batch * c.heads * c.queries));
    additive = random_values(c.queries * c.keys, 5);
    visible = std::make_unique<bool[]>(additive.size());
    for (std::size_t i = 0; i < additive.size(); ++i) {
      visible[i] = additive[i] > -0.5F && i >= static_cast<std::size_t>(c.keys);  // row 0: nothing
    }
  }

  Attention attention() {
    Attention a;
    a.batch = c.batch, a.heads = c.heads, a.key_heads = c.key_heads;
    a.queries = c.queries, a.keys = c.keys, a.head_dim = c.dim, a.dtype = dtype_of<T>;
    a.scale = 1.0F / std::sqrt(static_cast<float>(c.dim)), a.causal = c.causal;
    a.q = heads_of(q.data(), c.heads, c.queries, c.dim);
    a.k = heads_of(k.data(), c.key_heads, c.keys, c.dim);
    a.v = heads_of(v.data(), c.key_heads, c.keys, c.dim);
    a.out = heads_of(out.data(), c.heads, c.queries, c.dim);
    a.sums = sums.data(), a.dropout = dropout;
    a.mask.kind = c.mask, a.mask.row_stride = c.keys;
    a.mask.data = c.mask == MaskKind::additive ? static_cast<const void*>(additive.data())
                                               : static_cast<const void*>(visible.get());
    return a;
  }
  void forward() { attention_forward(attention()); }
  void backward() {
    AttentionGradient g;
    g.forward = attention();
    g.dout = heads_of(dout.data(), c.heads, c.queries, c.dim);
    g.dq = heads_of(dq.data(), c.heads, c.queries, c.dim);
    g.dk = heads_of(dk.data(), c.key_heads, c.keys, c.dim);
    g.dv = heads_of(dv.data(), c.key_heads, c.keys, c.dim);
    attention_backward(g);
  }

  AttentionCase c;
  DropoutDraw dropout;
  std::vector<T> q, k, v, dout, out, dq, dk, dv;
  std::vector<ScoreSum<float>> sums;
  std::vector<float> additive;
  std::unique_ptr<bool[]> visible;
};

/// The same in double with whole score rows.
template <class T>
struct Truth {
  explicit Truth(const Problem<T>& r_in)
      : r(r_in), out(r.q.size()), dq(r.q.size()), dk(r.k.size()), dv(r.k.size()) {
    for (std::int64_t b = 0; b < r.c.batch; ++b) {
      for (std::int64_t h = 0; h < r.c.heads; ++h) {
        for (std::int64_t i = 0; i < r.c.queries; ++i) {
          row(b, h, i);
        }
      }
    }
  }

  std::size_t q_at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return static_cast<std::size_t>(((b * r.c.queries + i) * r.c.heads + h) * r.c.dim);
  }
  std::size_t k_at(std::int64_t b, std::int64_t h, std::int64_t j) const {
    const std::int64_t key_head = h / (r.c.heads / r.c.key_heads);
    return static_cast<std::size_t>(((b * r.c.keys + j) * r.c.key_heads + key_head) * r.c.dim);
  }
  double dot(const std::vector<T>& x, std::size_t i, const std::vector<T>& y, std::size_t j) const {
    double s = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(r.c.dim); ++d) {
      s += static_cast<double>(static_cast<float>(x[i + d])) * static_cast<float>(y[j + d]);
    }
    return s;
  }

  std::vector<double> probabilities(std::int64_t b, std::int64_t h, std::int64_t i) const {
    std::vector<double> p(static_cast<std::size_t>(r.c.keys));
    double total = 0;
    for (std::int64_t j = 0; j < r.c.keys; ++j) {
      const auto at = static_cast<std::size_t>(i * r.c.keys + j);
      double s = dot(r.q, q_at(b, h, i), r.k, k_at(b, h, j)) / std::sqrt(r.c.dim);
      s += r.c.mask == MaskKind::additive ? r.additive[at] : 0.0F;
      const bool hidden =
          (r.c.causal && j > i) || (r.c.mask == MaskKind::boolean && !r.visible[at]);
      total += p[static_cast<std::size_t>(j)] = hidden ? 0.0 : std::exp(s);
    }
    for (double& x : p) {
      x = total > 0 ? x / total : 0.0;
    }
    return p;
  }

  void row(std::int64_t b, std::int64_t h, std::int64_t i) {
    const auto p = probabilities(b, h, i);
    const std::size_t at = q_at(b, h, i);
    const auto dim = static_cast<std::size_t>(r.c.dim);
    double delta = 0;
    for (std::int64_t j = 0; j < r.c.keys; ++j) {
      delta += p[static_cast<std::size_t>(j)] * dot(r.dout, at, r.v, k_at(b, h, j));
    }
    for (std::int64_t j = 0; j < r.c.keys; ++j) {
      const std::size_t key = k_at(b, h, j);
      const double pj = p[static_cast<std::size_t>(j)];
      const double ds = pj * (dot(r.dout, at, r.v, key) - delta) / std::sqrt(r.c.dim);
      for (std::size_t d = 0; d < dim; ++d) {
        out[at + d] += pj * static_cast<float>(r.v[key + d]);
        dq[at + d] += ds * static_cast<float>(r.k[key + d]);
        dk[key + d] += ds * static_cast<float>(r.q[at + d]);
        dv[key + d] += pj * static_cast<float>(r.dout[at + d]);
      }
    }
  }

  const Problem<T>& r;
  std::vector<double> out, dq, dk, dv;
};

template <class T>
void expect_all_near(const std::vector<T>& got, const std::vector<double>& want, double tolerance,
                     const char* what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<float>(got[i]), want[i], tolerance * (1 + std::abs(want[i])))
        << what << " at " << i;
  }
}

template <class T>
void compare_with_double(const AttentionCase& c, double tolerance) {
  Problem<T> run(c);
  run.forward();
  run.backward();
  const Truth<T> truth(run);
  expect_all_near(run.out, truth.out, tolerance, "out");
  expect_all_near(run.dq, truth.dq, tolerance, "dq");
  expect_all_near(run.dk, truth.dk, tolerance, "dk");
  expect_all_near(run.dv, truth.dv, tolerance, "dv");
}

const AttentionCase kAttentionCases[] = {
    {2, 3, 3, 64, 64, 64, true},
    {1, 2, 2, 100, 100, 40, true},
    {1, 4, 2, 130, 130, 32, false},
    {1, 2, 1, 70, 150, 33, false},
    {1, 1, 1, 65, 65, 256, true},
    {1, 2, 2, 40, 70, 16, false, MaskKind::boolean},
    {1, 2, 2, 90, 90, 24, true, MaskKind::additive},
    {1, 1, 1, 1, 1, 8, true},
};

TEST(Attention, EqualsDouble) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const AttentionCase& c : kAttentionCases) {
      SCOPED_TRACE(c);
      compare_with_double<float>(c, 2e-5);
    }
  });
}

TEST(Attention, EqualsDoubleInHalfPrecision) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const AttentionCase& c : kAttentionCases) {
      SCOPED_TRACE(c);
      compare_with_double<BFloat16>(c, 3e-2);
    }
  });
}

/// With few heads and many threads backward takes tiles as tasks, elsewhere heads.
TEST(Attention, SameBitsForAnyNumberOfThreadsAndBatches) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    const DropoutDraw dropout(0.1, 7, 0);
    Problem<float> first({1, 2, 1, 200, 200, 32, true});
    first.dropout = dropout;
    first.forward();
    first.backward();
    test::with_every_thread_count([&](int) {
      Problem<float> now({3, 2, 1, 200, 200, 32, true});
      now.dropout = dropout;
      now.forward();
      now.backward();
      EXPECT_TRUE(std::equal(first.out.begin(), first.out.end(), now.out.begin()));
      EXPECT_TRUE(std::equal(first.dq.begin(), first.dq.end(), now.dq.begin()));
      EXPECT_TRUE(std::equal(first.dk.begin(), first.dk.end(), now.dk.begin()));
      EXPECT_TRUE(std::equal(first.dv.begin(), first.dv.end(), now.dv.begin()));
    });
  });
}

}  // namespace
}  // namespace tessera::cpu
