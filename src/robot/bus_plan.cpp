#include "takt/robot/bus_plan.hpp"

#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

double load_of(const can::PlannedFrame& frame, can::BitRates rates) {
  const auto load = can::bus_load({&frame, 1}, rates, frame.period);
  return load ? load->worst.utilisation : 0;
}
double load_of(std::span<const can::PlannedFrame> frames, can::BitRates rates) {
  double sum = 0;
  for (const can::PlannedFrame& frame : frames) sum += load_of(frame, rates);
  return sum;
}

}  // namespace

double BusPlan::load() const { return load_of(commands, rates) + load_of(replies, rates); }

double BusPlan::fitting_rate() const {
  double of_cycle = 0;
  double of_others = 0;
  for (const auto& frames : {commands, replies}) {
    for (const can::PlannedFrame& frame : frames)
      (frame.period == period ? of_cycle : of_others) += load_of(frame, rates);
  }
  if (of_others >= largest_bus_load || of_cycle <= 0) return 0;
  return (largest_bus_load - of_others) / of_cycle / to_seconds(period);
}

std::size_t BusPlan::frames_per_cycle() const {
  std::size_t sum = 0;
  for (const can::PlannedFrame& frame : commands) sum += frame.count;
  return sum;
}

void BusPlan::command(std::size_t length, can::FrameFormat format) {
  commands.push_back({format, static_cast<std::uint8_t>(length), period});
}

void BusPlan::reply(std::size_t length, can::FrameFormat format) {
  replies.push_back({format, static_cast<std::uint8_t>(length), period});
}

BusPlan plan_bus(const RobotDescription& description, std::size_t bus) {
  if (bus >= description.buses.size()) return {};
  BusPlan plan;
  plan.rates = {description.buses[bus].bit_rate, description.buses[bus].data_bit_rate};
  plan.period = description.period;
  if (const DriveProtocol* protocol = description.buses[bus].protocol) protocol->plan(description, bus, plan);
  return plan;
}

}  // namespace takt::robot
