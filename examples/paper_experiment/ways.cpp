// Extracts the waist joint's three motions from the report's table, for a picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <string_view>

#include "experiment.hpp"
#include "table.hpp"

namespace paper {
namespace {

using Json = nlohmann::ordered_json;

/// The relevant columns of a row of joints.csv.
struct Sample {
  double time = 0;
  bool moving = false;  ///< a goal owns the joint
  std::array<double, 3> angles{};
};

class JointTable {
 public:
  explicit JointTable(const std::string& path) : file_(path) {
    std::string head;
    if (!std::getline(file_, head)) give_up(path + " cannot be read");
    const std::vector<std::string_view> names = cells_of(head);
    const auto column = [&](std::string_view name) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) give_up(fmt::format("{} has no column {}", path, name));
      return static_cast<std::size_t>(found - names.begin());
    };
    goal_ = column("WST.goal");
    angles_ = {column("WST.command_rad"), column("WST.reference_rad"), column("WST.measured_rad")};
    count_ = names.size();
  }

  bool next(Sample& sample) {
    std::string line;
    if (!std::getline(file_, line)) return false;
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != count_) return false;
    const auto number = [&](std::size_t column) { return std::strtod(cells[column].data(), nullptr); };
    sample.time = number(0);
    sample.moving = number(goal_) != 0;
    for (std::size_t i = 0; i < angles_.size(); ++i)
      sample.angles[i] = number(angles_[i]) * 180 / std::numbers::pi;
    return true;
  }

 private:
  static std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      cells.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return cells;
  }

  std::ifstream file_;
  std::size_t goal_ = 0;
  std::array<std::size_t, 3> angles_{};
  std::size_t count_ = 0;
};

Json read_json(const std::string& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object()) give_up(path + " is not JSON");
  return json;
}

/// Null if there is none.
const Json* section(const Json& root, std::string_view name) {
  for (const Json& one : root.at("sections")) {
    if (one.at("name") == name) return &one;
  }
  return nullptr;
}

}  // namespace

void write_ways(const std::string& directory, const std::string& path) {
  const Json experiment = read_json(directory + "/mhubo.json");
  const Json report = read_json(directory + "/mhubo/summary.json");
  JointTable table(directory + "/mhubo/joints.csv");
  std::ofstream out(path);
  Sample sample;
  bool more = table.next(sample);
  for (const std::string_view way : ways) {
    out << fmt::format("# {}: s, degrees: command, reference, measured\n", way);
    const Json* measured = section(experiment, way);
    const Json* marked = measured ? section(report, measured->at("mark").get<std::string>()) : nullptr;
    if (marked == nullptr) out << "-1 0 0 0\n";
    const double begin = marked ? marked->at("begin_s").get<double>() : 0;
    const double end = marked ? marked->at("end_s").get<double>() : 0;
    double moved = -1;  // start of the motion
    for (; more && sample.time < end; more = table.next(sample)) {
      if (sample.time < begin || !sample.moving) continue;
      if (moved < 0) moved = sample.time;
      out << fmt::format("{:.4f} {:.5f} {:.5f} {:.5f}\n", sample.time - moved, sample.angles[0],
                         sample.angles[1], sample.angles[2]);
    }
    out << "\n\n";
  }
  if (!out.flush()) give_up(path + " cannot be written");
}

}  // namespace paper
