// The joints of a robot on Hubo joint boards: the master's side of can/hubo.hpp behind the Hardware seam,
// over any CAN bus.
//
// Each cycle and bus, in this order: power commands where a board is not where it is wanted
// (robot/hubo_master.hpp has the sequence), the references of all boards that run, an encoder request to
// every board, a status request to one board in turn and to those that look for their home, a request to each
// sensor. The next read() takes in the replies. Velocity is the difference of positions over the time between two replies, smoothed.
//
// The power commands switch whole boards: a board is on only while all of its joints want power. A joint that
// has to be without power (a fault, a release) therefore takes the other joint of its board down with it,
// rather than staying powered itself.
// JointFeedback::fault holds the bits of can::hubo::fault, of which the warnings alone do not make
// DriveState::fault.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/can/hubo.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/hubo_master.hpp"
#include "takt/robot/hubo_sensors.hpp"

namespace takt::robot {

/// Joints on buses of another protocol are left untouched, so that several kinds of hardware can share one
/// robot.
template <can::CanBus Bus>
class HuboHardware final : public Hardware {
 public:
  /// One bus for each entry of description.buses, in its order; those of another protocol may be null. The
  /// buses must outlive the hardware. The `sensors` are asked in each cycle. Allocates. Errors: no_such_bus,
  /// bad_address, duplicate_address, bad_scale, too_many_joints.
  [[nodiscard]] static SetupResult<std::unique_ptr<HuboHardware>> create(
      const RobotDescription& description, std::span<Bus* const> buses, HuboOptions options = {},
      std::span<const HuboSensorPlace> sensors = {}) {
    if (description.joints.size() > max_joints) return fail(Errc::too_many_joints, "at most 64 joints");
    std::vector<BusPlan> plans(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(Errc::no_such_bus, joint.name);
      if (description.buses[joint.bus].protocol != Protocol::hubo) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(Errc::no_such_bus, joint.name);
      if (auto added = plans[joint.bus].add(joint, i, options); !added)
        return fail(added.error(), joint.name);
    }
    for (const HuboSensorPlace& place : sensors) {
      const std::string name = "sensor " + std::to_string(place.sensor);
      if (place.bus >= plans.size() || description.buses[place.bus].protocol != Protocol::hubo ||
          place.bus >= buses.size() || buses[place.bus] == nullptr)
        return fail(Errc::no_such_bus, name);
      if (auto added = plans[place.bus].add(place.sensor); !added) return fail(added.error(), name);
    }
    std::unique_ptr<HuboHardware> hardware(new HuboHardware(options.dialect));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].boards.empty() && plans[i].sensors.empty()) continue;
      hardware->buses_.emplace_back(*buses[i], std::move(plans[i]), description);
    }
    return hardware;
  }

  void read(Time now, std::span<JointFeedback> feedback) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.receive(now, counters_,
                           [&](const can::Frame& frame, Time time) noexcept { take_in(bus, frame, time); });
      for (Board& board : bus.plan.boards) {
        board.master.check_silence(now, bus.status_timeout);
        for (std::size_t i = 0; i < HuboMaster::channels; ++i) {
          if (board.master.attached(i) && board.joints[i] < feedback.size()) {
            report(board.master, i, feedback[board.joints[i]]);
          }
        }
      }
    }
  }

  void write(Time /*now*/, std::span<const JointCommand> commands) noexcept override {
    for (BusState& bus : buses_) {
      for (Board& board : bus.plan.boards) command_power(bus, board, commands);
      for (Board& board : bus.plan.boards) command_motion(bus, board, commands);
      for (const Board& board : bus.plan.boards) {
        push(bus, can::hubo::encoder_request(board.master.board()));
        if (board.master.searching()) push(bus, can::hubo::status_request(board.master.board()));
      }
      ask_status_in_turn(bus);
      for (const HuboSensor& sensor : bus.plan.sensors) {
        sensor.ask([&](const auto& request) noexcept { bus.exchange.push(request, counters_, dialect_); });
      }
      bus.exchange.flush(counters_);
    }
  }

  [[nodiscard]] HardwareCounters counters() const noexcept override { return counters_; }
  /// What a sensor last said; null if it is not one of those that are asked.
  [[nodiscard]] const HuboSensor* sensor(std::uint8_t number) const noexcept {
    for (const BusState& bus : buses_) {
      for (const HuboSensor& sensor : bus.plan.sensors) {
        if (sensor.number() == number) return &sensor;
      }
    }
    return nullptr;
  }
  /// References that were no numbers, or of another mode than position: never sent, the last good one held in their place.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }

 private:
  // Two power commands, reference or status request while homing, encoder request.
  static constexpr std::size_t frames_per_board = 4;

  struct Board {
    HuboMaster master;
    std::array<std::size_t, HuboMaster::channels> joints{};
  };
  /// The boards of one bus, found by number.
  struct BusPlan {
    std::vector<Board> boards;
    std::vector<HuboSensor> sensors;
    std::array<std::uint8_t, can::hubo::max_board + 1>
        index{};  ///< position in `boards` + 1; 0 = no such board

    Status add(const JointDescription& joint, std::size_t number, HuboOptions options) {
      if (joint.board > can::hubo::max_board || joint.channel >= HuboMaster::channels)
        return takt::fail(Errc::bad_address);
      if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0)
        return takt::fail(Errc::bad_scale);
      if (index[joint.board] == 0) {
        boards.push_back(Board{HuboMaster(joint.board, options), {}});
        index[joint.board] = static_cast<std::uint8_t>(boards.size());
      }
      Board& board = boards[index[joint.board] - 1U];
      if (board.master.attached(joint.channel)) return takt::fail(Errc::duplicate_address);
      board.master.attach(joint.channel, joint.counts_per_radian);
      board.joints[joint.channel] = number;
      return {};
    }
    Status add(std::uint8_t sensor) {
      if (!HuboSensor::exists(sensor)) return takt::fail(Errc::bad_address);
      for (const HuboSensor& other : sensors) {
        if (other.number() == sensor) return takt::fail(Errc::duplicate_address);
      }
      sensors.emplace_back(sensor);
      return {};
    }
    [[nodiscard]] Board* find(std::uint8_t number) noexcept {
      return index[number] == 0 ? nullptr : &boards[index[number] - 1U];
    }
  };
  struct BusState {
    BusState(Bus& bus, BusPlan boards, const RobotDescription& description)
        : exchange(
              bus,
              frames_per_board * boards.boards.size() + 1 + HuboSensor::max_requests * boards.sensors.size(),
              description.period),
          plan(std::move(boards)),
          // A status comes round once in as many cycles as there are boards; one lost reply is not yet
          // silence.
          status_timeout(description.feedback_timeout +
                         2 * static_cast<Duration::rep>(plan.boards.size()) * description.period) {}

    BusExchange<Bus> exchange;
    BusPlan plan;
    std::size_t next_status = 0;
    Duration status_timeout;
  };

  explicit HuboHardware(can::hubo::Dialect dialect) noexcept : dialect_(dialect) {}

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    using namespace can::hubo;
    const bool is_encoder = frame.id >= encoder_base && frame.id <= encoder_base + max_board;
    const bool is_status = frame.id >= status_base && frame.id <= status_base + max_board;
    Board* const board = is_encoder  ? bus.plan.find(static_cast<std::uint8_t>(frame.id - encoder_base))
                         : is_status ? bus.plan.find(static_cast<std::uint8_t>(frame.id - status_base))
                                     : nullptr;
    if (board == nullptr || frame.extended) return take_in_from_sensor(bus, frame, time);
    if (is_encoder) {
      hear<EncoderReply>(*board, frame, time);
    } else {
      hear<StatusReply>(*board, frame, time, board->master.dialect());
    }
  }

  void take_in_from_sensor(BusState& bus, const can::Frame& frame, Time time) noexcept {
    for (HuboSensor& sensor : bus.plan.sensors) {
      if (frame.extended || !sensor.sends(frame.id)) continue;
      if (!sensor.hear(frame, time)) ++counters_.frames_malformed;
      return;
    }
    ++counters_.frames_unexpected;
  }

  template <class Reply, class... Options>
  void hear(Board& board, const can::Frame& frame, Time time, Options... options) noexcept {
    Reply reply;
    if (decode_into(reply, frame, options...)) {
      board.master.heard(reply, time);
    } else {
      ++counters_.frames_malformed;
    }
  }

  static void report(const HuboMaster& master, std::size_t channel, JointFeedback& feedback) noexcept {
    feedback.drive = master.state(channel);
    feedback.fault = master.faults(channel);
    if (!master.encoders_heard()) return;
    feedback.position = master.position(channel);
    feedback.velocity = master.velocity(channel);
    feedback.stamp = master.encoder_time();
    feedback.heard = true;
  }

  void command_power(BusState& bus, Board& board, std::span<const JointCommand> commands) noexcept {
    bool want_power = true;
    for (std::size_t i = 0; i < HuboMaster::channels; ++i) {
      if (!board.master.attached(i)) continue;
      want_power = want_power && board.joints[i] < commands.size() && commands[board.joints[i]].want_power;
    }
    bool clear_fault = false;
    for_each_joint(board, commands, [&](std::size_t, const JointCommand& command) noexcept {
      clear_fault = clear_fault || command.clear_fault;
    });
    const HuboMaster::PowerCommands power = board.master.power(want_power, clear_fault);
    for (std::size_t i = 0; i < power.count; ++i) push(bus, power.list[i]);
  }

  void command_motion(BusState& bus, Board& board, std::span<const JointCommand> commands) noexcept {
    for_each_joint(board, commands, [&](std::size_t channel, const JointCommand& command) noexcept {
      const bool good =
          command.mode == CommandMode::position && board.master.command(channel, command.position);
      if (!good) ++references_rejected_;
    });
    if (const auto reference = board.master.reference()) push(bus, *reference);
  }

  template <class Visitor>
  static void for_each_joint(const Board& board, std::span<const JointCommand> commands,
                             Visitor visit) noexcept {
    for (std::size_t i = 0; i < HuboMaster::channels; ++i) {
      if (board.master.attached(i) && board.joints[i] < commands.size()) visit(i, commands[board.joints[i]]);
    }
  }

  /// Of each board as often as of the others; those that look for their home are asked anyway.
  void ask_status_in_turn(BusState& bus) noexcept {
    if (bus.plan.boards.empty()) return;
    const HuboMaster& next = bus.plan.boards[bus.next_status].master;
    if (!next.searching()) push(bus, can::hubo::status_request(next.board()));
    if (++bus.next_status == bus.plan.boards.size()) bus.next_status = 0;
  }

  template <class Message>
  void push(BusState& bus, const Message& message) noexcept {
    bus.exchange.push(message, counters_);  // board numbers were checked at construction
  }

  std::vector<BusState> buses_;
  can::hubo::Dialect dialect_;  // of requests to sensors; each board knows its own
  HardwareCounters counters_;
  std::uint64_t references_rejected_ = 0;
};

}  // namespace takt::robot
