#include "tools/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "takt/app/robot.hpp"

namespace takt::tools {
namespace {

std::string timing(const char* what, const rt::Histogram& histogram) {
  const auto us = [](Duration duration) { return to_seconds(duration) * 1e6; };
  return fmt::format("{:<9} p50 {:.1f}  p99 {:.1f}  p99.9 {:.1f}  max {:.1f} us\n", what,
                     us(histogram.percentile(50)), us(histogram.percentile(99)),
                     us(histogram.percentile(99.9)), us(histogram.max()));
}

}  // namespace

std::string summary(app::Robot& robot) {
  const rt::LoopStatistics& statistics = robot.statistics();
  std::string text = fmt::format("{} cycles, {} missed\n", statistics.cycles, statistics.overruns);
  text += timing("lateness", statistics.lateness);
  text += timing("busy", statistics.busy);
  const robot::RobotDescription& description = robot.description();
  const double passed = to_seconds(description.period) * static_cast<double>(std::max<std::uint64_t>(
                                                             statistics.cycles + statistics.overruns, 1));
  const app::Devices& devices = *robot.devices();
  for (std::size_t i = 0; i < description.buses.size(); ++i) {
    const robot::BusTraffic traffic = devices.traffic(i);
    text += fmt::format("bus {:<5} {:.1f} % busy, {} frames, {} refused\n", description.buses[i].name,
                        to_seconds(traffic.busy) / passed * 100, traffic.frames, traffic.refused);
  }
  for (std::size_t i = 0; i < description.joints.size(); ++i) {
    if (const std::uint64_t starved = devices.starved(i); starved > 0) {
      text +=
          fmt::format("{} starved: bus {} was full or down for {} frames of its drive\n",
                      description.joints[i].name, description.buses[description.joints[i].bus].name, starved);
    }
  }
  return text;
}

std::string text_of(const app::RunTotals& totals, const std::string& recording) {
  std::string text;
  if (totals.recorded)
    text += fmt::format("recorded {} records in {}, {} dropped\n", totals.recorded->records, recording,
                        totals.recorded->dropped);
  if (totals.traced)
    text += fmt::format("traced {} spans, {} dropped\n", totals.traced->spans, totals.traced->dropped);
  return text;
}

std::string complaints(const app::Robot& robot, const app::RunTotals& totals, const std::string& recording) {
  std::string text;
  if (robot.fault().reason != motion::Errc{})
    text += fmt::format("takt run: the robot ended in a fault: {}\n",
                        app::describe_cause(robot.fault(), robot.description()));
  if (totals.recorded && totals.recorded->dropped > 0) {
    const auto [written, dropped] = std::pair(totals.recorded->records, totals.recorded->dropped);
    text += fmt::format(
        "takt run: {} lacks {} of {} records: the disk was too slow or full. Use a faster one, or "
        "--around-stops\n",
        recording, dropped, written + dropped);
  }
  return text;
}

}  // namespace takt::tools
