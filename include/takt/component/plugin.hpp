// Component types by name, and plug-ins: shared objects that bring such types. A plug-in ends with one line
// outside all namespaces:
//
//     TAKT_PLUGIN(my::Motor, my::Controller)
//
// Each type derives from Component, has the constant `about`, and a constructor that takes the name. The
// program looks up the entry point takt_plugin_v1() and refuses a plug-in that was built against another
// version of takt or another C++ ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "takt/component/component.hpp"
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

/// The ABI of this build, as text: version of takt, compiler ABI, C++ library, and sizes of shared classes.
/// Two builds with the same text can share components.
#ifdef _GLIBCXX_USE_CXX11_ABI
inline constexpr std::string_view library_abi = "libstdc++" TAKT_PLUGIN_TEXT(_GLIBCXX_USE_CXX11_ABI);
#else
inline constexpr std::string_view library_abi = "libc++";
#endif
/// That text.
[[nodiscard]] inline std::string plugin_abi() {
  return "takt " TAKT_VERSION ", C++ ABI " TAKT_PLUGIN_TEXT(__GXX_ABI_VERSION) ", " +
         std::string(library_abi) + ", " + std::to_string(8 * sizeof(void*)) + " bits, component " +
         std::to_string(sizeof(Component));
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

/// The table of these types, for TAKT_PLUGIN.
template <class... C>
[[nodiscard]] const PluginTable* plugin_table() {
  static const ComponentType types[] = {component_type<C>()...};
  static const std::string abi = plugin_abi();
  static const PluginTable table{sizeof(PluginTable), sizeof...(C), abi.c_str(), types};
  return &table;
}

}  // namespace takt::component

/// Defines the entry point of a plug-in with these component types.
#define TAKT_PLUGIN(...)                                                                                     \
  extern "C" __attribute__((visibility("default"))) const ::takt::component::PluginTable* takt_plugin_v1() { \
    return ::takt::component::plugin_table<__VA_ARGS__>();                                                   \
  }
