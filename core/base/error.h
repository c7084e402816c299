// The exceptions that Tessera throws, and `check`, which throws the commonest of them.
//
// Callers decide by type, people by text. The text has the form
//   op: what is wrong; got X, expected Y, in module PATH
// where the last part stands for errors inside a module's forward,
// and library code never calls exit or abort.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace tessera {

/// Root of everything that Tessera throws.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller's mistake: a shape, dtype, device, option or name that cannot be meant.
struct InvalidArgument : Error {
  using Error::Error;
};

/// A tensor that is needed is undefined, or was not given.
struct MissingTensor : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// Legal, but nothing here can do it; the text lists what can.
struct Unsupported : Error {
  using Error::Error;
};

/// A value of a kind that cannot serve here: a dtype, a class.
struct TypeError : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// A name that must not be used, or one that is missing where names are looked up.
struct KeyError : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// A path that leads nowhere in a tree of modules, or to something of another kind.
struct AttributeError : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// The right kind of value, but not one that can be meant.
struct ValueError : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// Two trees of values differ in names, nesting, shapes or dtypes; the text lists all differences.
struct StructureError : ValueError {
  using ValueError::ValueError;
};

/// Part of an interface that this class does not have.
struct NotImplementedError : Unsupported {
  using Unsupported::Unsupported;
};

/// A request at a wrong moment, or an answer of a caller's function, with which nothing can go on.
struct RuntimeError : Error {
  using Error::Error;
};

/// What a module returned is not what the caller expected of it.
struct CheckFailure : Error {
  using Error::Error;
};

/// A collective failed; the text names rank, group, collective number and parameter.
struct CommError : Error {
  using Error::Error;
};

/// A collective did not finish, or a peer did not answer, before the deadline.
struct Timeout : CommError {
  using CommError::CommError;
};

/// A rank of the group is gone.
struct PeerLost : CommError {
  using CommError::CommError;
};

/// Ranks of one group disagree about what they are doing.
struct Desync : CommError {
  using CommError::CommError;
};

/// Ranks were started with options, data or models that differ; nothing has been computed.
struct Disagreement : Desync {
  using Desync::Desync;
};

/// A device or its vendor library failed; the text holds the vendor's own.
struct DeviceError : Error {
  using Error::Error;
};

/// A file failed or holds something unexpected.
struct IoError : Error {
  using Error::Error;
};

/// An invariant of Tessera broke: a bug to be reported.
struct InternalError : Error {
  using Error::Error;
};

namespace detail {

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// `text`, with the path of the module whose forward runs on this thread, if it has none yet.
std::string with_module(std::string text);

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void raise(const Parts&... parts) {
  throw E(with_module(concat(parts...)));
}

}  // namespace detail

/// Throws `E` with the concatenation of `parts` unless `holds`. The parts are formatted only on
/// failure, but they are evaluated always: pass cheap ones.
template <class E = InvalidArgument, class... Parts>
constexpr void check(bool holds, const Parts&... parts) {
  if (!holds) [[unlikely]] {
    detail::raise<E>(parts...);
  }
}

/// Throws `E` with the concatenation of `parts`.
template <class E, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  detail::raise<E>(parts...);
}

}  // namespace tessera
