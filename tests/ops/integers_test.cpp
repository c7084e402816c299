// Integers of 64 bits, which doubles do not hold, through everything that takes some: results are
// compared as integers.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include <tessera/core/tensor/factories.h>
#include <tessera/ops.h>

namespace tessera {
namespace {

constexpr std::int64_t kBeyond = (std::int64_t{1} << 53) + 1;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kValues[] = {kBeyond,   -kBeyond, kBeyond + 1, kMost,
                                    kMost - 1, kLeast,   kLeast + 1};

std::int64_t first_of(const Tensor& x) {
  return x.to_vector<std::int64_t>().at(0);
}

std::string text_of(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

struct Identity {
  const char* name;
  Tensor (*f)(const Tensor& x, std::int64_t v);  ///< gives x, which is (v)
};

Tensor zero() {
  return zeros({1}, {.dtype = DType::i64});
}

const Identity kIdentities[] = {
    {"full", [](const Tensor&, std::int64_t v) { return full({1}, v, {.dtype = DType::i64}); }},
    {"full_like", [](const Tensor& x, std::int64_t v) { return full_like(x, v); }},
    {"fill_",
     [](const Tensor&, std::int64_t v) {
       const Tensor y = zero();
       fill_(y, v);
       return y;
     }},
    {"threshold with it",
     [](const Tensor&, std::int64_t v) { return threshold(zero() + kLeast, kLeast, v); }},
    {"threshold at its neighbour",
     [](const Tensor& x, std::int64_t v) {
       return v == kLeast ? x : threshold(x, v - 1, std::int64_t{0});
     }},
    {"scalar", [](const Tensor&, std::int64_t v) { return scalar(v, {.dtype = DType::i64}); }},
    {"number", [](const Tensor&, std::int64_t v) { return Number(v).tensor(); }},
    {"arange",
     [](const Tensor&, std::int64_t v) {
       const std::int64_t end = v > 0 ? v - 1 : v + 1;
       return arange(v, end, end - v, {.dtype = DType::i64});
     }},
    {"add", [](const Tensor& x, std::int64_t) { return x + 0; }},
    {"add to 0", [](const Tensor&, std::int64_t v) { return zero() + v; }},
    {"sub", [](const Tensor& x, std::int64_t) { return x - 0; }},
    {"mul", [](const Tensor& x, std::int64_t) { return x * 1; }},
    {"pow", [](const Tensor& x, std::int64_t) { return pow(x, 1); }},
    {"maximum",
     [](const Tensor& x, std::int64_t v) { return maximum(x, v == kLeast ? v : v - 1); }},
    {"minimum", [](const Tensor& x, std::int64_t v) { return minimum(x, v == kMost ? v : v + 1); }},
    {"clamp", [](const Tensor& x, std::int64_t v) { return clamp(x, v, v); }},
    {"clamp from below",
     [](const Tensor&, std::int64_t v) { return clamp(zero() + kLeast, v, kMost); }},
    {"clamp from above",
     [](const Tensor&, std::int64_t v) { return clamp(zero() + kMost, kLeast, v); }},
    {"where", [](const Tensor& x, std::int64_t v) { return where(eq(x, v), v, zero()); }},
    {"where not", [](const Tensor& x, std::int64_t v) { return where(ne(x, v), zero(), v); }},
    {"sum", [](const Tensor& x, std::int64_t) { return sum(x); }},
    {"sum_to", [](const Tensor& x, std::int64_t) { return sum_to(x, {}); }},
    {"prod", [](const Tensor& x, std::int64_t) { return prod(x); }},
    {"cumsum", [](const Tensor& x, std::int64_t) { return cumsum(x, 0); }},
    {"max", [](const Tensor& x, std::int64_t) { return max(x); }},
    {"min", [](const Tensor& x, std::int64_t) { return min(x); }},
    {"topk", [](const Tensor& x, std::int64_t) { return topk(x, 1, 0).values; }},
    {"cast", [](const Tensor& x, std::int64_t) { return cast(x, DType::i64); }},
    {"concat",
     [](const Tensor& x, std::int64_t) {
       return concat({x, zero()});
     }},
    {"stack",
     [](const Tensor& x, std::int64_t) {
       return stack({x, zero()});
     }},
    {"expand",
     [](const Tensor& x, std::int64_t) {
       return expand(x, {2, 1});
     }},
    {"flip",
     [](const Tensor& x, std::int64_t) {
       return flip(concat({zero(), x}), {0});
     }},
    {"slice",
     [](const Tensor& x, std::int64_t) {
       return slice(concat({zero(), x}), 0, 1);
     }},
    {"gather", [](const Tensor& x, std::int64_t) { return gather(x, 0, zero()); }},
    {"index_select", [](const Tensor& x, std::int64_t) { return index_select(x, 0, zero()); }},
    {"scatter_add",
     [](const Tensor& x, std::int64_t) { return scatter_add(zero(), 0, zero(), x); }},
    {"tril",
     [](const Tensor& x, std::int64_t) {
       return tril(reshape(x, {1, 1}));
     }},
    {"matmul", [](const Tensor& x, std::int64_t) { return matmul(x, zero() + 1); }},
    {"pad", [](const Tensor& x, std::int64_t) { return pad(x, {.before = {0}, .after = {1}}); }},
    {"pad with it",
     [](const Tensor&, std::int64_t v) {
       return pad(zero(), {.before = {1}, .after = {0}, .value = v});
     }},
    {"max_pool",
     [](const Tensor& x, std::int64_t) {
       return max_pool(reshape(x, {1, 1, 1}), {.kernel = {1}});
     }},
    {"copy_",
     [](const Tensor& x, std::int64_t) {
       const Tensor y = zero();
       y.copy_(x);
       return y;
     }},
};

TEST(LongIntegers, pass_unchanged_through_every_op) {
  for (const Identity& identity : kIdentities) {
    for (const std::int64_t v : kValues) {
      EXPECT_EQ(first_of(identity.f(tensor({v}), v)), v) << identity.name;
    }
  }
}

TEST(LongIntegers, are_read_and_printed_exactly) {
  for (const std::int64_t v : kValues) {
    EXPECT_EQ(tensor({v}).item<std::int64_t>(), v);
    EXPECT_EQ(text_of(tensor({v})), "tensor([" + std::to_string(v) + "])");
  }
  EXPECT_EQ(text_of(tensor({kLeast, std::int64_t{7}})),
            "tensor([-9223372036854775808,                    7])");
  EXPECT_EQ(tensor({kBeyond}).item(), 0x1p53);
  EXPECT_EQ(tensor({2.5}).item<std::int64_t>(), 2);
  EXPECT_TRUE(tensor({0.5}).item<bool>());
}

TEST(LongIntegers, are_told_from_their_neighbours) {
  for (const std::int64_t v : kValues) {
    if (v == kMost) {
      continue;
    }
    const Tensor pair = tensor({v, v + 1});
    using Bools = std::vector<bool>;
    EXPECT_EQ(eq(pair, v).to_vector<bool>(), (Bools{true, false}));
    EXPECT_EQ(ne(pair, v).to_vector<bool>(), (Bools{false, true}));
    EXPECT_EQ((pair > v).to_vector<bool>(), (Bools{false, true}));
    EXPECT_EQ((pair <= v).to_vector<bool>(), (Bools{true, false}));
    EXPECT_EQ((pair < v + 1).to_vector<bool>(), (Bools{true, false}));
    EXPECT_EQ((pair >= v + 1).to_vector<bool>(), (Bools{false, true}));
    EXPECT_EQ(first_of(argmax(pair)), 1);
    EXPECT_EQ(first_of(argmin(flip(pair, {0}))), 1);
    EXPECT_EQ(first_of(max(pair)), v + 1);
    EXPECT_EQ(first_of(min(flip(pair, {0}))), v);
    EXPECT_EQ(first_of(topk(pair, 1, 0).values), v + 1);
    EXPECT_EQ(first_of(clamp(pair, v + 1, v + 1)), v + 1);
    EXPECT_THROW(static_cast<void>(clamp(pair, v + 1, v)), InvalidArgument);
  }
}

TEST(LongIntegers, are_counted_exactly) {
  const TensorOptions options{.dtype = DType::i64};
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(arange(kBeyond, kBeyond + 3, 1, options).to_vector<std::int64_t>(),
            (Integers{kBeyond, kBeyond + 1, kBeyond + 2}));
  EXPECT_EQ(arange(kLeast, kMost, kMost, options).to_vector<std::int64_t>(),
            (Integers{kLeast, -1, kMost - 1}));
  EXPECT_EQ(arange(5, -2, -3, options).to_vector<std::int64_t>(), (Integers{5, 2, -1}));
  EXPECT_EQ(arange(2, 2, 1, options).numel(), 0);
  EXPECT_THROW(static_cast<void>(arange(2, 1, 1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(arange(1, 2, 0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(full({1}, std::uint64_t{1} << 63)), InvalidArgument);
}

}  // namespace
}  // namespace tessera
