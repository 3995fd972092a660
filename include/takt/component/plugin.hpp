// Component types by name, and plug-ins: shared objects that bring such types. A plug-in ends with one line
// outside all namespaces:
//
//     TAKT_PLUGIN(my::Motor, my::Controller)
//
// Each type derives from Component, has the constant `about`, and a constructor that takes the name. The
// program looks up the entry point takt_plugin_v1() and refuses a plug-in that was built against another
// version of takt or another C++ ABI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "takt/component/component.hpp"
#include "takt/component/port.hpp"
#include "takt/version.hpp"

#define TAKT_PLUGIN_TEXT_OF(number) #number
#define TAKT_PLUGIN_TEXT(number) TAKT_PLUGIN_TEXT_OF(number)

namespace takt::component {

/// A type of components, and how to make and delete one.
struct ComponentType {
  const ComponentMetadata* metadata = nullptr;
  Component* (*make)(const char* name, const void* data) = nullptr;  ///< may throw
  void (*destroy)(Component*) noexcept = nullptr;
  const void* data = nullptr;  ///< of the type, for make()
};

/// The ABI of a build, as text: version of takt, compiler ABI, C++ library, and sizes of shared classes. Two
/// builds with the same text can share components.
class PluginAbi {
 public:
  /// The text.
  [[nodiscard]] constexpr const char* c_str() const noexcept { return text_.data(); }

  constexpr PluginAbi& operator+=(std::string_view part) noexcept {
    for (const char c : part) text_[size_++] = c;
    return *this;
  }
  constexpr PluginAbi& operator+=(std::size_t number) noexcept {
    if (number > 9) *this += number / 10;
    text_[size_++] = static_cast<char>('0' + number % 10);
    return *this;
  }

 private:
  std::array<char, 128> text_{};
  std::size_t size_ = 0;
};

#ifdef _GLIBCXX_USE_CXX11_ABI
inline constexpr std::string_view library_abi = "libstdc++" TAKT_PLUGIN_TEXT(_GLIBCXX_USE_CXX11_ABI);
#else
inline constexpr std::string_view library_abi = "libc++";
#endif

/// The ABI of the build that calls it. Only at compile time: the dynamic linker would bind a function or
/// variable of the plug-in to the program's, so both would always be equal.
[[nodiscard]] consteval PluginAbi plugin_abi() {
  PluginAbi abi;
  abi += "takt " TAKT_VERSION ", C++ ABI " TAKT_PLUGIN_TEXT(__GXX_ABI_VERSION) ", ";
  abi += library_abi;
  abi += ", ";
  abi += 8 * sizeof(void*);
  abi += " bits, component ";
  abi += sizeof(Component);
  abi += ", ports ";
  abi += sizeof(InPortBase);
  abi += " ";
  abi += sizeof(OutPortBase);
  return abi;
}

/// The types that a shared object brings. The entry point returns it; C sees the same struct.
struct PluginTable {
  std::uint32_t bytes = sizeof(PluginTable);  ///< of this struct
  std::uint32_t count = 0;                    ///< of types
  const char* abi = nullptr;                  ///< plugin_abi() of its build
  const ComponentType* types = nullptr;
};

/// The name of the entry point, `extern "C" const PluginTable* takt_plugin_v1(void)`.
inline constexpr const char* plugin_symbol = "takt_plugin_v1";

/// The ComponentType of C.
template <class C>
[[nodiscard]] constexpr ComponentType component_type() {
  return {&C::about, [](const char* name, const void* /*data*/) -> Component* { return new C(name); },
          [](Component* component) noexcept { delete static_cast<C*>(component); }};
}

/// The table of these types, for TAKT_PLUGIN. `abi` has static storage.
template <class... C>
[[nodiscard]] const PluginTable* plugin_table(const PluginAbi& abi) {
  static const ComponentType types[] = {component_type<C>()...};
  static const PluginTable table{sizeof(PluginTable), sizeof...(C), abi.c_str(), types};
  return &table;
}

}  // namespace takt::component

/// Defines the entry point of a plug-in with these component types.
#define TAKT_PLUGIN(...)                                                                                     \
  extern "C" __attribute__((visibility("default"))) const ::takt::component::PluginTable* takt_plugin_v1() { \
    static constexpr ::takt::component::PluginAbi abi = ::takt::component::plugin_abi();                     \
    return ::takt::component::plugin_table<__VA_ARGS__>(abi);                                                \
  }
