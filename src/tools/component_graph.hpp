// The picture of a system: components as boxes, a column for each context, and connections as arrows.
#pragma once

#include <string>
#include <vector>

namespace takt::tools {

/// A system as the picture shows it.
struct SystemGraph {
  struct Component {
    std::string name;
    std::string type;
    std::string context;
    std::string state;  ///< empty: it does not run
  };
  struct Connection {
    std::string from;  ///< "component.port"
    std::string to;
    std::string label;  ///< "fifo 64"; empty for latest
    bool is_service = false;
  };

  std::string name;
  std::vector<std::string> contexts;
  std::vector<Component> components;
  std::vector<Connection> connections;
};

/// An SVG document.
[[nodiscard]] std::string to_svg(const SystemGraph& graph);

}  // namespace takt::tools
