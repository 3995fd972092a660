#include "tools/component_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace takt::tools {
namespace {

constexpr int box_width = 180;
constexpr int row_height = 20;
constexpr int column_gap = 150;
constexpr int margin = 30;

struct Point {
  double x = 0, y = 0;
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

/// The name of the component and of the port in "component.port".
std::pair<std::string, std::string> split(const std::string& full_name) {
  const std::size_t point = full_name.rfind('.');
  if (point == std::string::npos) return {full_name, ""};
  return {full_name.substr(0, point), full_name.substr(point + 1)};
}

std::string_view color_of(const std::string& state) {
  if (state == "active") return "#d9f2d9";
  if (state == "error") return "#f7d4d4";
  return "#f2f2f2";
}

/// The box of a component: its place, and the ports in the order of their first connection.
struct Box {
  Point corner;
  std::vector<std::string> in, out;

  [[nodiscard]] int height() const {
    return 2 * row_height + row_height * static_cast<int>(std::max<std::size_t>({in.size(), out.size(), 1}));
  }
  [[nodiscard]] static double row_of(const std::vector<std::string>& ports, const std::string& port) {
    const auto index = std::find(ports.begin(), ports.end(), port) - ports.begin();
    return row_height * (2.4 + static_cast<double>(index));
  }
};

void note(std::vector<std::string>& ports, const std::string& port) {
  if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
}

}  // namespace

std::string to_svg(const SystemGraph& graph) {
  std::map<std::string, Box> boxes;
  for (const auto& component : graph.components) boxes[component.name];
  for (const auto& connection : graph.connections) {
    const auto [from, out] = split(connection.from);
    const auto [to, in] = split(connection.to);
    if (boxes.contains(from)) note(boxes[from].out, out);
    if (boxes.contains(to)) note(boxes[to].in, in);
  }
  std::string body;
  double x = margin;
  double bottom = 0;
  for (const std::string& context : graph.contexts) {
    double y = margin + 2 * row_height;
    body += fmt::format("<text class=\"context\" x=\"{}\" y=\"{}\">{}</text>\n", x, margin + row_height,
                        escaped(context));
    for (const auto& component : graph.components) {
      if (component.context != context) continue;
      Box& box = boxes[component.name];
      box.corner = {x, y};
      y += box.height() + row_height;
    }
    bottom = std::max(bottom, y);
    x += box_width + column_gap;
  }
  for (const auto& component : graph.components) {
    const Box& box = boxes[component.name];
    const auto [left, top] = box.corner;
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"#555\"/>\n"
        "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
        left, top, box_width, box.height(), color_of(component.state), left + 8, top + 16,
        escaped(component.name), left + 8, top + 32,
        escaped(component.type + (component.state.empty() ? "" : ", " + component.state)));
    for (const std::string& port : box.in)
      body += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + 8,
                          top + Box::row_of(box.in, port) + 4, escaped(port));
    for (const std::string& port : box.out)
      body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left + box_width - 8,
                          top + Box::row_of(box.out, port) + 4, escaped(port));
  }
  for (const auto& connection : graph.connections) {
    const auto [from, out] = split(connection.from);
    const auto [to, in] = split(connection.to);
    if (!boxes.contains(from) || !boxes.contains(to)) continue;
    const Box &writer = boxes[from], &reader = boxes[to];
    const Point begin{writer.corner.x + box_width, writer.corner.y + Box::row_of(writer.out, out)};
    const Point end{reader.corner.x, reader.corner.y + Box::row_of(reader.in, in)};
    // One that goes back stays within the margins.
    const double bend = std::max(40.0, (end.x - begin.x) / 2);
    body += fmt::format("<path d=\"M{} {} C{} {} {} {} {} {}\"{} marker-end=\"url(#arrow)\"/>\n", begin.x,
                        begin.y, begin.x + bend, begin.y, end.x - bend, end.y, end.x, end.y,
                        connection.is_service ? " stroke-dasharray=\"5 4\"" : "");
    if (!connection.label.empty())
      body += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (begin.x + end.x) / 2,
                          (begin.y + end.y) / 2 - 4, escaped(connection.label));
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<title>{2}</title>\n<style>text{{font:12px "
      "sans-serif}}.name{{font-weight:bold}}.context{{font-size:14px}}"
      "path{{fill:none;stroke:#336}}</style>\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" style=\"fill:#336\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{3}</svg>\n",
      x - column_gap + margin + (graph.contexts.empty() ? column_gap : 0), bottom + margin,
      escaped(graph.name), body);
}

}  // namespace takt::tools
