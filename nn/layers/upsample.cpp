#include <tessera/nn/layers/upsample.h>

#include <array>
#include <string_view>

#include <tessera/core/ops/microbatches.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

/// What a mode is, and the spatial dims that it is for; 0 stands for any number.
struct Mode {
  std::string_view name;
  Interpolation interpolation;
  int ndim;
};

constexpr std::array<Mode, 6> kModes{{{"nearest", Interpolation::nearest, 0},
                                      {"nearest-exact", Interpolation::nearest_exact, 0},
                                      {"linear", Interpolation::linear, 1},
                                      {"bilinear", Interpolation::linear, 2},
                                      {"trilinear", Interpolation::linear, 3},
                                      {"bicubic", Interpolation::cubic, 2}}};

const Mode& mode_of(const std::string& name) {
  for (const Mode& mode : kModes) {
    if (mode.name == name) {
      return mode;
    }
  }
  fail<ValueError>("Upsample: unknown mode; got \"", name,
                   "\", expected nearest, nearest-exact, linear, bilinear, trilinear or bicubic");
}

/// Throws ValueError for options that cannot be meant.
const Mode& checked_mode(const UpsampleOptions& options) {
  const Mode& mode = mode_of(options.mode);
  check<ValueError>(options.size.has_value() != options.scale_factor.has_value(),
                    "Upsample: needs one of size and scale_factor; got ",
                    options.size ? "both" : "none");
  check<ValueError>(mode.ndim > 0 || !options.align_corners,
                    "Upsample: align_corners cannot be set for mode ", options.mode);
  return mode;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ScaleFactor& s) {
  if (s.single_) {
    return out << python_text(s.factors_[0]);
  }
  out << '(';
  const char* separator = "";
  for (const double factor : s.factors_) {
    out << separator << python_text(factor);
    separator = ", ";
  }
  return out << (s.factors_.size() == 1 ? ",)" : ")");
}

Tensor interpolate(const Tensor& x, const UpsampleOptions& options) {
  const Mode& mode = checked_mode(options);
  check(mode.ndim == 0 || unstacked_ndim(x) == mode.ndim + 2, "Upsample: wrong number of dims for ",
        options.mode, "; got shape ", unstacked_shape(x), ", expected ", mode.ndim + 2);
  Upsampling upsampling{.mode = mode.interpolation,
                        .align_corners = options.align_corners.value_or(false)};
  if (options.size) {
    upsampling.size = options.size->numbers();
  } else {
    upsampling.scale = options.scale_factor->factors();
  }
  return upsample(x, upsampling);
}

Upsample::Upsample(const UpsampleOptions& options) : options_(options) {
  static_cast<void>(checked_mode(options));
}

Tensor Upsample::forward(const Tensor& x) const {
  return interpolate(x, options_);
}

std::string Upsample::extra_repr() const {
  const std::string how = options_.size
                              ? tessera::detail::concat("size=", *options_.size)
                              : tessera::detail::concat("scale_factor=", *options_.scale_factor);
  return how + ", mode='" + options_.mode + "'";
}

}  // namespace tessera::nn
