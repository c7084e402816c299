// Every registered op is complete: nobody keeps a list of ops, so none can be forgotten.
#include <gtest/gtest.h>

#include "support/op_case.h"

namespace tessera {
namespace {

template <class Missing>
void expect_nothing_missing(const char* what, const Missing& missing) {
  for (const OpDef* op : registered_ops()) {
    EXPECT_FALSE(missing(*op)) << op->info.name << " has no " << what;
  }
}

TEST(Completeness, every_op_has_a_case) {
  expect_nothing_missing("case in tests/ops",
                         [](const OpDef& op) { return !test::has_op_case(op); });
}

TEST(Completeness, every_op_has_a_gradient_or_says_why_not) {
  expect_nothing_missing(
      "gradient", [](const OpDef& op) { return op.info.differentiable != (op.vjp != nullptr); });
}

TEST(Completeness, every_op_can_be_cut_or_sees_cuts_itself) {
  expect_nothing_missing("shard rule",
                         [](const OpDef& op) { return op.shard == nullptr && !op.info.sees_cut; });
}

TEST(Completeness, every_op_has_one_line_of_documentation) {
  expect_nothing_missing("doc line", [](const OpDef& op) {
    const std::string_view doc = op.info.doc == nullptr ? "" : op.info.doc;
    return doc.empty() || doc.find('\n') != std::string_view::npos;
  });
}

TEST(Completeness, every_op_computes_or_aliases) {
  expect_nothing_missing("reference kernel", [](const OpDef& op) {
    return (op.reference == nullptr) != op.info.view || (op.alias != nullptr) != op.info.view;
  });
}

}  // namespace
}  // namespace tessera
