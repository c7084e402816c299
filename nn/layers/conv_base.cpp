#include <tessera/nn/layers/conv_base.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/init/fan.h>
#include <tessera/nn/init/kaiming.h>
#include <tessera/nn/init/uniform.h>

namespace tessera::nn {
namespace {

Shape weight_shape(const ConvSetup& s) {
  const std::int64_t in = s.in_channels;
  Shape shape = s.transposed ? Shape{in, s.out_channels / s.groups}
                             : Shape{s.out_channels, in == kInferred ? kInferred : in / s.groups};
  for (const std::int64_t size : s.kernel_size) {
    shape.push_back(size);
  }
  return shape;
}

/// How a bias begins; null for channels that are not known yet.
Initializer bias_default(const ConvSetup& s) {
  if (s.in_channels == kInferred && !s.transposed) {
    return nullptr;
  }
  const double bound = 1 / std::sqrt(static_cast<double>(init::fan_of(weight_shape(s)).in));
  return init::uniform(-bound, bound);
}

ConvSetup checked(ConvSetup s) {
  check<ValueError>(s.groups >= 1, s.layer, ": groups must be positive; got ", s.groups);
  const bool inferred = s.in_channels == kInferred;
  check<ValueError>(inferred || (s.in_channels >= 1 && s.in_channels % s.groups == 0), s.layer,
                    ": in_channels must be a multiple of groups; got ", s.in_channels, " in ",
                    s.groups);
  check<ValueError>(s.out_channels >= 1 && s.out_channels % s.groups == 0, s.layer,
                    ": out_channels must be a multiple of groups; got ", s.out_channels, " in ",
                    s.groups);
  return s;
}

/// ", name=numbers", or nothing when all of them are `usual`.
std::string unless_all(const char* name, const Dims& numbers, std::int64_t usual) {
  return numbers == Dims::filled(numbers.size(), usual)
             ? std::string()
             : tessera::detail::concat(", ", name, "=", numbers);
}

}  // namespace

ConvBase::ConvBase(ConvSetup setup)
    : weight(this, "weight", weight_shape(checked(setup)),
             setup.weight_init ? setup.weight_init : init::kaiming_uniform(std::sqrt(5.0))),
      setup_(std::move(setup)) {
  bias = parameter_if(setup_.bias, this, "bias", {setup_.out_channels},
                      setup_.bias_init ? setup_.bias_init : bias_default(setup_));
}

void ConvBase::infer_sizes(const Tensor& x) {
  const int dims = unstacked_ndim(x);
  const bool has_channels = dims == ndim() + 1 || dims == ndim() + 2;
  check<ValueError>(has_channels, setup_.layer, ": wrong number of dims; got ", x.shape());
  ConvSetup known = setup_;
  known.in_channels = x.size(-ndim() - 1);
  setup_ = checked(std::move(known));  // nothing has changed where it throws
  weight.materialize(weight_shape(setup_));
  if (bias.defined() && !bias.slot()->initializer) {
    bias.slot()->initializer = bias_default(setup_);
  }
}

/// Read from the weight: what is loaded may tell them too.
std::int64_t ConvBase::in_channels() const {
  const Shape& shape = weight.declared_shape();
  return std::max(setup_.transposed ? shape[0] : shape[1] * setup_.groups, std::int64_t{0});
}

std::string ConvBase::extra_repr() const {
  const ConvSetup& s = setup_;
  std::ostringstream text;
  text << in_channels() << ", " << s.out_channels << ", kernel_size=" << s.kernel_size
       << ", stride=" << s.stride;
  text << (s.padding_name.empty() ? unless_all("padding", s.padding, 0)
                                  : ", padding=" + s.padding_name);
  text << unless_all("dilation", s.dilation, 1)
       << unless_all("output_padding", s.output_padding, 0);
  if (s.groups != 1) {
    text << ", groups=" << s.groups;
  }
  if (!bias.defined()) {
    text << ", bias=False";
  }
  if (s.padding_mode != PaddingMode::zeros) {
    text << ", padding_mode=" << to_string(s.padding_mode);
  }
  return text.str();
}

}  // namespace tessera::nn
