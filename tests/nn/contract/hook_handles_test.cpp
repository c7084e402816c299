// Row H12: handles, and lists of hooks that change while they are walked.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "models.h"

namespace tessera::nn::contract {
namespace {

using Note = std::function<void(std::string&)>;

std::string walked(const HookList<Note>& list) {
  std::string order;
  list.walk([&](const auto& entry) { entry.hook(order); });
  return order;
}

TEST(H12, ids_come_from_one_counter_that_rises) {
  const auto a = make<Leaf>();
  const auto b = make<Leaf>();
  const auto hook = [](const Module&, const Args&, const Value&) {};
  const RemovableHandle first = a->register_forward_hook(hook);
  const RemovableHandle second = b->register_forward_pre_hook([](const Module&, const Args&) {});
  const RemovableHandle third = a->register_forward_hook(hook);
  EXPECT_LT(first.id(), second.id());
  EXPECT_LT(second.id(), third.id());
}

TEST(H12, dropping_a_handle_leaves_the_hook_and_a_scope_takes_it_out) {
  const auto model = make<Leaf>();
  int calls = 0;
  const auto count = [&](const Module&, const Args&) { ++calls; };
  { const RemovableHandle dropped = model->register_forward_pre_hook(count); }
  model(ones({1}));
  EXPECT_EQ(calls, 1);
  { const ScopedHandle scoped = model->register_forward_pre_hook(count); }
  model(ones({1}));
  EXPECT_EQ(calls, 2);
}

TEST(H12, a_removed_hook_is_let_go) {
  const auto list = std::make_shared<HookList<Note>>();
  const auto held = std::make_shared<int>(1);
  const RemovableHandle handle = list->add([held](std::string&) {});
  EXPECT_EQ(held.use_count(), 2);
  handle.remove();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(list->empty());
}

TEST(H12, hooks_may_remove_and_add_others_while_they_run) {
  const auto list = std::make_shared<HookList<Note>>();
  RemovableHandle last;
  list->add([&](std::string& order) {
    order += "a";
    last.remove();
    list->add([](std::string& more) { more += "d"; });
  });
  list->add([](std::string& order) { order += "b"; });
  last = list->add([](std::string& order) { order += "c"; });
  EXPECT_EQ(walked(*list), "ab");
  EXPECT_EQ(walked(*list), "abd");
}

TEST(H12, a_hook_may_let_go_of_its_list) {
  auto list = std::make_shared<HookList<Note>>();
  list->add([&](std::string& order) {
    order += "a";
    list.reset();
  });
  list->add([](std::string& order) { order += "b"; });
  EXPECT_EQ(walked(*list), "ab");
}

TEST(H12, lists_may_be_walked_and_changed_by_several_threads) {
  const auto list = std::make_shared<HookList<Note>>();
  std::atomic<bool> done = false;
  std::thread walker([&] {
    while (!done) {
      static_cast<void>(walked(*list));
    }
  });
  for (int i = 0; i < 500; ++i) {
    const ScopedHandle handle = list->add([](std::string& order) { order += "x"; });
  }
  done = true;
  walker.join();
  EXPECT_EQ(walked(*list), "");
}

}  // namespace
}  // namespace tessera::nn::contract
