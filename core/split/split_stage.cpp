// The stage of calls whose inputs hold several microbatches, or know their samples.
#include <vector>

#include <tessera/core/dispatch/pipeline.h>
#include <tessera/core/split/over_pass.h>
#include <tessera/core/split/split_loop.h>

namespace tessera {
namespace {

void split(Call& call) {
  CallContext context = CallContext::current();
  context.batch_sum = call.sums.value_or(context.batch_sum);
  const SplitPlan plan = plan_split(call.op, call.inputs, call.attrs, context);
  if (!plan.unmarked.empty()) {
    const std::vector<Tensor> marked = marked_inputs(call.inputs, plan, context);
    tessera::call(call.op, std::vector<TensorRef>(marked.begin(), marked.end()), call.attrs,
                  call.outputs, call.sums);
    return;
  }
  const Origins from(call.inputs);
  const Outputs destinations = call.outputs;
  if (plan.loop) {
    call_by_microbatch(call, plan, context);
  } else {
    call.split = &plan;
    proceed(call);
  }
  mark_over_pass(call.op, from, call.outputs);
  for (const Tensor& written : destinations) {
    if (written.defined() && written.microbatches().per_microbatch) {
      mark_base(written.get());
    }
  }
}

const RegisterStage register_split(Stage::split, split);

}  // namespace
}  // namespace tessera
