// Every registered op has all that an op owes.
#include <gtest/gtest.h>

#include <cstring>

#include <tessera/core/dispatch/op.h>

#include "support/op_case.h"

namespace tessera {
namespace {

/// Fails for each op that lacks `what`.
template <class Missing>
void expect_of_every_op(const char* what, const Missing& missing) {
  EXPECT_FALSE(registered_ops().empty());
  for (const OpDef* op : registered_ops()) {
    EXPECT_FALSE(missing(*op)) << op->info.name << " has no " << what;
  }
}

TEST(Completeness, every_op_has_a_case) {
  expect_of_every_op("op case in tests/ops",
                     [](const OpDef& op) { return test::find_op_case(op) == nullptr; });
}

TEST(Completeness, every_op_has_a_gradient_or_says_that_it_has_none) {
  expect_of_every_op("gradient",
                     [](const OpDef& op) { return op.info.differentiable != (op.vjp != nullptr); });
}

TEST(Completeness, every_op_has_a_shard_rule) {
  expect_of_every_op("shard rule", [](const OpDef& op) {
    return op.shard == nullptr && !op.info.sees_microbatches;
  });
}

TEST(Completeness, every_op_says_in_one_line_what_it_does) {
  expect_of_every_op("doc of one line", [](const OpDef& op) {
    return op.info.doc == nullptr || *op.info.doc == 0 || std::strchr(op.info.doc, '\n') != nullptr;
  });
}

TEST(Completeness, every_op_has_a_reference_kernel_or_is_a_view) {
  expect_of_every_op("reference kernel", [](const OpDef& op) {
    return (op.reference == nullptr) == (op.alias == nullptr) ||
           op.info.view != (op.alias != nullptr);
  });
}

}  // namespace
}  // namespace tessera
