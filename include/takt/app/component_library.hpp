// The component types that a program can make by name: its own, and those of plug-ins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/plugin.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::app {

/// A component made by name. It keeps the plug-in that its code is in.
using ComponentPointer = std::shared_ptr<component::Component>;

/// Types by name. Set-up: not real-time safe, one thread at a time.
class ComponentLibrary {
 public:
  /// Contains the types of takt: Composite.
  ComponentLibrary();

  /// Adds a type of the program itself. Errors: bad_plugin (the name is in use, or the type is incomplete).
  SetupResult<void> add(const component::ComponentType& type);
  /// Loads a plug-in and adds its types. A name without '/' is searched in `folders`, in their order, and
  /// nowhere else. The file is copied first, so it may be replaced while it is in use. Loading it again
  /// gives the new one, whose types replace those of the former.
  ///
  /// Errors: bad_plugin. The message has the file and the reason: it is missing, no shared object, or built
  /// for another ABI. Or it has no entry point, a type without a name, or a type that another one brings.
  SetupResult<void> load(const std::string& file, std::span<const std::string> folders = {});

  /// Makes a component. Errors: no_such_type (the message lists the types); threw.
  [[nodiscard]] SetupResult<ComponentPointer> make(std::string_view type, const std::string& name) const;
  /// The metadata of all types, by name.
  [[nodiscard]] std::vector<component::ComponentMetadata> types() const;

 private:
  struct Entry {
    component::ComponentType type;
    std::string file;              ///< of its plug-in; empty: the program's own
    std::shared_ptr<void> handle;  ///< keeps the plug-in loaded
  };
  [[nodiscard]] SetupResult<void> add(const component::ComponentType& type, const std::string& file,
                                      std::shared_ptr<void> handle);

  std::vector<Entry> entries_;
};

}  // namespace takt::app
