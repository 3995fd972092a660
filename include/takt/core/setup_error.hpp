// Errors of set-up: the four-byte Error plus a sentence that states the mistake, its place, and the allowed
// values. For loading files and preparing threads, never for the cycle: the message lies on the heap.
#pragma once

#include <string>
#include <utility>

#include "takt/core/error.hpp"

namespace takt {

/// An Error with its explanation, for example {Errc::bad_description, "/joints/3/limits/velocity: -1 is not
/// positive"}.
struct SetupError {
  Error error;
  /// The explanation for people.
  std::string message;
};

/// A value, or an Error with its explanation. Not real-time safe.
template <class T>
using SetupResult = tl::expected<T, SetupError>;

/// The failing return value with its explanation.
[[nodiscard]] inline tl::unexpected<SetupError> fail(Error error, std::string message) {
  return tl::unexpected<SetupError>(SetupError{error, std::move(message)});
}

}  // namespace takt
