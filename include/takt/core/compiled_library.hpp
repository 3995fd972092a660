// Functions of the compiled library that headers call where it is linked, and do without where it is not.
//
// With the target takt::takt or the package `takt`, TAKT_HAS_LIBRARY is defined. A call then is an ordinary
// reference: the linker takes the function from the archive for programs that call it, and for no others.
// Without it the reference is weak: the function's address is null, unless something else brings it.
#pragma once

#ifdef TAKT_HAS_LIBRARY
#define TAKT_OF_LIBRARY
#else
#define TAKT_OF_LIBRARY [[gnu::weak]]
#endif

namespace takt {

/// Whether a function of the compiled library, declared with TAKT_OF_LIBRARY, is in this program. Real-time
/// safe.
template <class... Arguments, class Value>
[[nodiscard]] constexpr bool is_linked(Value (*function)(Arguments...) noexcept) noexcept {
  return function != nullptr;
}

}  // namespace takt
