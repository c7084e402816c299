#include <tessera/core/base/loop.h>

#include <utility>

namespace tessera {
namespace {

bool is_inside(const Loop* inner, const Loop& loop) {
  while (inner != nullptr && inner != &loop) {
    inner = inner->outer.get();
  }
  return inner != nullptr;
}

}  // namespace

bool is_begun_by_another(const Loop& loop, const Pass& pass) {
  const Context& context = Context::current();
  const Loop* other = context.loop.get();
  if (other == nullptr || other == &loop || other->over || other->step != context.step) {
    return false;
  }
  const Pass& begun = other->pass;
  return begun.training && pass.training && begun.grain == pass.grain &&
         begun.first == pass.first && begun.count == pass.count;
}

std::shared_ptr<Loop> begin_loop(std::uint64_t source, bool trains) {
  const Context& context = Context::current();
  auto loop = std::make_shared<Loop>();
  loop->source = source;
  loop->outer = context.loop;
  loop->began_in = context.pass_mark;
  loop->before = loop->outer == nullptr ? context.pass : Pass{};
  loop->step_before = context.step;
  loop->evaluation = trains ? 0 : next_evaluation();
  loop->draws_before = context.draws;
  return loop;
}

void enter_pass(const std::shared_ptr<Loop>& loop, const Pass& pass,
                std::shared_ptr<const BatchSource> batches) {
  Context& context = Context::current();
  const bool goes_on =
      loop->mark != nullptr && loop->step == context.step && pass.first > loop->pass.first;
  loop->first = goes_on ? loop->first : pass.first;
  loop->pass = pass;
  loop->mark = std::make_shared<char>();
  loop->batches = std::move(batches);
  loop->step = context.step;
  context.loop = loop;
  context.pass = pass;
  context.pass_mark = loop->mark;
  context.source = loop->batches;
}

void leave_loop(Loop& loop) {
  loop.over = true;
  loop.mark = nullptr;
  Context& context = Context::current();
  if (!is_inside(context.loop.get(), loop)) {
    return;
  }
  std::shared_ptr<const Loop> around = loop.outer;
  while (around != nullptr && around->over) {
    around = around->outer;
  }
  context.loop = around;
  context.pass = around != nullptr ? around->pass : loop.before;
  context.pass_mark = around != nullptr ? around->mark : nullptr;
  context.source = around != nullptr ? around->batches : nullptr;
  context.step = around != nullptr ? around->step : context.step;
  if (context.step == loop.step_before && context.pass_mark == loop.began_in.lock()) {
    context.draws = std::move(loop.draws_before);
  } else if (around == nullptr) {
    begin_draws_behind_loop();
  }
}

}  // namespace tessera
