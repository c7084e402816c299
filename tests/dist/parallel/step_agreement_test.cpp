// Whether the ranks train the same: what a step's exchange finds, without a reducer.
#include <tessera/dist/parallel/step_agreement.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <tessera/core/base/pass_scope.h>
#include <tessera/dist/comm/loopback.h>

#include "dist/parallel/six_parameters.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::error_of;

constexpr int kAgreeing = 3;

struct Agreeing {
  explicit Agreeing(Communicator& comm) : agreement(comm, watched, waits) { watched.accept(); }
  /// As a step that finds the model as it is now.
  bool step() {
    watched.look();
    agreement.begin();
    return agreement.require();
  }
  nn::Ptr<SixParameters> model = nn::make<SixParameters>();
  WatchedModel watched{*model};
  TimedWaits waits;
  StepAgreement agreement;
};

/// Runs `body` on ranks with one seed, each with a model of its own.
void run_agreeing(const std::function<void(Agreeing&, int rank)>& body) {
  run_ranks(kAgreeing, [&](Communicator& comm) {
    set_seed(5);
    Agreeing own(comm);
    body(own, comm.rank());
  });
}

TEST(StepAgreement, holds_while_nothing_changes_and_where_all_change_the_same) {
  run_agreeing([](Agreeing& own, int) {
    EXPECT_FALSE(own.step());
    own.model->c.requires_grad_(false);
    EXPECT_TRUE(own.step());
    EXPECT_FALSE(own.step());  // that is agreed on
    EXPECT_TRUE(own.agreement.holds());
  });
}

TEST(StepAgreement, names_on_every_rank_who_froze_what) {
  run_agreeing([](Agreeing& own, int rank) {
    own.model->c.requires_grad_(rank != 1);
    own.watched.look();
    own.agreement.begin();
    EXPECT_FALSE(own.agreement.holds());
    EXPECT_THAT(error_of<Disagreement>([&] { own.agreement.require(); }),
                AllOf(HasSubstr("data_parallel: ranks differ; rank 0 has "),
                      HasSubstr(", rank 1 has "), HasSubstr("c")));
  });
}

TEST(StepAgreement, names_on_every_rank_whose_draws_differ) {
  run_agreeing([](Agreeing& own, int rank) {
    set_seed(rank == 2 ? 6 : 5);
    EXPECT_THAT(error_of<Disagreement>([&] { own.step(); }),
                AllOf(HasSubstr("seed of random numbers = 5"), HasSubstr(", rank 2 has ")));
  });
}

TEST(StepAgreement, is_one_exchange_a_step) {
  run_agreeing([](Agreeing& own, int rank) {
    own.watched.look();
    own.agreement.begin();
    set_seed(5U + static_cast<unsigned>(rank));  // too late for this step
    own.agreement.begin();
    EXPECT_TRUE(own.agreement.holds());
    EXPECT_FALSE(own.agreement.require());
  });
}

TEST(StepAgreement, is_of_the_same_parameters_in_each_pass) {
  run_ranks(1, [](Communicator& comm) {
    Agreeing own(comm);
    SixReduced six;
    own.agreement.check_trained_alike(six.parameters);
    own.agreement.check_trained_alike(six.parameters);
    six.parameters[1].trained = false;
    const auto check = [&] { own.agreement.check_trained_alike(six.parameters); };
    EXPECT_THAT(error_of<InvalidArgument>(check), HasSubstr("between two passes of a step"));
    own.agreement.forget_step();
    EXPECT_EQ(error_of(check), "no error");
  });
}

TEST(StepAgreement, lets_nothing_be_laid_out_anew_within_a_step) {
  run_agreeing([](Agreeing& own, int) {
    SixReduced six;
    const auto check = [&] { own.agreement.check_between_steps(six.parameters); };
    const auto refused = HasSubstr("between two passes of a step");
    EXPECT_EQ(error_of(check), "no error");
    own.watched.look();
    own.agreement.begin();
    EXPECT_THAT(error_of<InvalidArgument>(check), refused);
    EXPECT_FALSE(own.agreement.require());
    EXPECT_EQ(error_of(check), "no error");
    const PassScope pass({.samples = 1});
    six.parameters[0].sums.add(ones({20}));
    EXPECT_THAT(error_of<InvalidArgument>(check), refused);
  });
}

}  // namespace
}  // namespace tessera::dist
