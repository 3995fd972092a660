// The joints of a robot on Hubo boards of all kinds ("drive": {"board_kind"}), over any CAN bus, as a
// robot::Hardware: the master's side of can/hubo.hpp. Wrists, necks and the joints of other boards follow
// positions, fingers follow efforts (JointCommand::mode). A hybrid board moves fingers by current, a hand by
// duty. JointDescription::rated_effort is the effort at 0.1 A or at full duty.
//
// In each cycle it sends, on each bus, in this order:
//
// * power commands to boards in another state than wanted (drives/hubo/hubo_master.hpp has the sequence);
// * the references of all running boards;
// * an encoder request to every board (two to a hand);
// * a status request to one board in turn, and to those that search their home;
// * a request to each sensor.
//
// Frames without room on the bus go first in the next cycle, so a short queue delays all boards alike. The
// next read() takes in the replies. Velocity is the smoothed difference of positions over the time between
// two replies.
//
// Power commands switch whole boards: a board is on only while all of its joints want power. Hence a joint
// that must be without power (a fault, a release) also switches off the other joints of its board.
// JointFeedback::fault holds the bits of can::hubo::fault. Warnings alone do not cause DriveState::fault.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/can/hubo.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/drives/hubo/hubo_kind.hpp"
#include "takt/drives/hubo/hubo_master.hpp"
#include "takt/drives/hubo/hubo_sensors.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/robot/bus_exchange.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The master of all Hubo boards of a robot. It leaves the joints on buses of other protocols untouched, so
/// that several kinds of hardware can share one robot. One thread; real-time safe after create().
template <can::CanBus Bus>
class HuboHardware final : public robot::Hardware {
 public:
  /// Creates the hardware. `buses`: one for each entry of description.buses, in its order; those of another
  /// protocol may be null. The buses must outlive the hardware. It requests the `sensors` in each cycle.
  /// Allocates. Errors: no_such_bus, bad_address, duplicate_address, bad_scale (also of a finger's rated
  /// effort), too_many_joints. A neck other than board 22h, and a board of two kinds, are a bad_address.
  [[nodiscard]] static SetupResult<std::unique_ptr<HuboHardware>> create(
      const robot::RobotDescription& description, std::span<Bus* const> buses, HuboOptions options = {},
      std::span<const HuboSensorPlace> sensors = {}) {
    if (description.joints.size() > max_joints)
      return fail(robot::Errc::too_many_joints, "at most 64 joints");
    std::vector<BusPlan> plans(description.buses.size());
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const robot::JointDescription& joint = description.joints[i];
      if (joint.bus >= description.buses.size()) return fail(robot::Errc::no_such_bus, joint.name);
      if (!robot::speaks(description.buses[joint.bus], "hubo")) continue;
      if (joint.bus >= buses.size() || buses[joint.bus] == nullptr)
        return fail(robot::Errc::no_such_bus, joint.name);
      if (auto added = plans[joint.bus].add(joint, i, options); !added)
        return fail(added.error(), joint.name);
    }
    for (const HuboSensorPlace& place : sensors) {
      const std::string name = "sensor " + std::to_string(place.sensor);
      if (place.bus >= plans.size() || !robot::speaks(description.buses[place.bus], "hubo") ||
          place.bus >= buses.size() || buses[place.bus] == nullptr)
        return fail(robot::Errc::no_such_bus, name);
      if (auto added = plans[place.bus].add(place.sensor); !added) return fail(added.error(), name);
    }
    std::unique_ptr<HuboHardware> hardware(new HuboHardware(options.dialect));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].numbers.empty() && plans[i].sensors.empty()) continue;
      hardware->buses_.emplace_back(*buses[i], std::move(plans[i]), description);
    }
    return hardware;
  }

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (BusState& bus : buses_) {
      bus.exchange.receive(now, counters_,
                           [&](const can::Frame& frame, Time time) noexcept { take_in(bus, frame, time); });
      bus.plan.for_each([&](auto& board) noexcept {
        board.master.check_silence(bus.status_limit);
        for (std::size_t i = 0; i < board.joints.size(); ++i) {
          if (board.master.attached(i) && board.joints[i] < feedback.size()) {
            report(board.master, i, feedback[board.joints[i]]);
          }
        }
      });
    }
  }

  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    for (BusState& bus : buses_) {
      const bool may_order = bus.exchange.takes_orders();
      bus.plan.for_each([&](auto& board) noexcept { command_power(bus, board, commands, now, may_order); });
      bus.plan.for_each([&](auto& board) noexcept { command_motion(bus, board, commands, now); });
      bus.plan.for_each([&](const auto& board) noexcept {
        for (std::uint8_t half = 0; half < board.master.halves; ++half) {
          bus.exchange.put(board.slots.encoders + half, now,
                           can::hubo::encoder_request(board.master.board(), half));
        }
        if (board.master.searching()) ask_status(bus, board, now);
      });
      ask_status_in_turn(bus, now, may_order);
      std::size_t slot = bus.sensor_slots;
      for (const HuboSensor& sensor : bus.plan.sensors) {
        sensor.ask([&](const auto& request) noexcept { bus.exchange.put(slot++, now, request, dialect_); });
      }
      bus.exchange.flush(now, counters_);
    }
  }

  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return counters_; }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    std::uint64_t sum = 0;
    for (const BusState& bus : buses_) sum += bus.exchange.starved(joint);
    return sum;
  }
  void ask_identity() noexcept override {
    for (BusState& bus : buses_) bus.plan.for_each([](auto& board) noexcept { board.master.ask_identity(); });
  }
  [[nodiscard]] std::string identity(std::size_t joint) const override {
    std::string said;
    for (const BusState& bus : buses_) {
      bus.plan.for_each([&](const auto& board) {
        if (board.joint_set().contains(joint) && board.master.board_type())
          said = "board type " + std::to_string(*board.master.board_type());
      });
    }
    return said;
  }
  /// The last replies of a sensor; null if it is not among the requested ones.
  [[nodiscard]] const HuboSensor* sensor(std::uint8_t number) const noexcept {
    for (const BusState& bus : buses_) {
      for (const HuboSensor& sensor : bus.plan.sensors) {
        if (sensor.number() == number) return &sensor;
      }
    }
    return nullptr;
  }
  /// Number of rejected references: NaN, infinity, or another mode than the motor's. They are never sent.
  /// Instead the last good position holds, and an effort is 0.
  [[nodiscard]] std::uint64_t references_rejected() const noexcept { return references_rejected_; }

 private:
  static constexpr std::size_t orders_per_board = 2;
  static constexpr std::uint32_t after_all = 1;        // all other messages have priority 0
  static constexpr std::size_t replies_per_board = 5;  // or fewer: positions in two halves, status

  using BoardKind = can::hubo::BoardKind;
  template <BoardKind of_kind>
  struct Board {
    static constexpr BoardKind kind = of_kind;
    HuboBoardMaster<of_kind> master;
    std::array<std::size_t, HuboBoardMaster<of_kind>::channels> joints{};
    /// The slots of its messages. Each message concerns all joints of the board.
    struct Slots {
      std::size_t reference = 0;
      std::size_t encoders = 0;  ///< of the first half; the second follows
      std::size_t status = 0;
    } slots{};

    [[nodiscard]] JointSet joint_set() const noexcept {
      JointSet set;
      for (std::size_t i = 0; i < joints.size(); ++i) {
        if (master.attached(i)) set.insert(joints[i]);
      }
      return set;
    }
  };
  /// The boards of one bus, found by number.
  struct BusPlan {
    template <BoardKind kind>
    using Boards = std::vector<Board<kind>>;
    /// The place of a board in its list.
    struct Place {
      BoardKind kind = BoardKind::two_channel;
      std::uint8_t number = 0;  ///< in the list of its kind, from 1; 0 = no such board
    };

    std::tuple<Boards<BoardKind::two_channel>, Boards<BoardKind::hybrid>, Boards<BoardKind::neck>,
               Boards<BoardKind::hand>>
        boards;
    std::vector<std::uint8_t> numbers;  ///< of all boards
    std::vector<HuboSensor> sensors;
    std::array<Place, can::hubo::max_board + 1> index{};

    Status add(const robot::JointDescription& joint, std::size_t number, HuboOptions options) {
      switch (hubo_board_kind(joint)) {
        case BoardKind::two_channel:
          return add_to<BoardKind::two_channel>(joint, number, options);
        case BoardKind::hybrid:
          return add_to<BoardKind::hybrid>(joint, number, options);
        case BoardKind::neck:
          return add_to<BoardKind::neck>(joint, number, options);
        case BoardKind::hand:
          return add_to<BoardKind::hand>(joint, number, options);
      }
      return takt::fail(robot::Errc::bad_address);
    }
    template <BoardKind kind>
    Status add_to(const robot::JointDescription& joint, std::size_t number, HuboOptions options) {
      using Master = HuboBoardMaster<kind>;
      const bool exists = joint.board <= can::hubo::max_board && joint.channel < Master::channels &&
                          (kind != BoardKind::neck || joint.board == can::hubo::neck_board);
      if (!exists) return takt::fail(robot::Errc::bad_address);
      const bool by_effort = Master::mode_of(joint.channel) == CommandMode::effort;
      const bool effort_good = std::isfinite(joint.rated_effort) && joint.rated_effort > 0;
      if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0 ||
          (by_effort && !effort_good))
        return takt::fail(robot::Errc::bad_scale);
      auto& list = std::get<Boards<kind>>(boards);
      Place& place = index[joint.board];
      if (place.number == 0) {
        options.home_at_start = options.home_at_start || joint.drive.word("homing").has_value();
        list.push_back(Board<kind>{Master(joint.board, options), {}, {}});
        numbers.push_back(joint.board);
        place = {kind, static_cast<std::uint8_t>(list.size())};
      }
      if (place.kind != kind) return takt::fail(robot::Errc::bad_address);
      Board<kind>& board = list[place.number - 1U];
      if (board.master.attached(joint.channel)) return takt::fail(robot::Errc::duplicate_address);
      board.master.attach(joint.channel, joint.counts_per_radian, joint.rated_effort);
      board.joints[joint.channel] = number;
      return {};
    }
    Status add(std::uint8_t sensor) {
      if (!HuboSensor::exists(sensor)) return takt::fail(robot::Errc::bad_address);
      for (const HuboSensor& other : sensors) {
        if (other.number() == sensor) return takt::fail(robot::Errc::duplicate_address);
      }
      sensors.emplace_back(sensor);
      return {};
    }
    template <class Visitor>
    void for_each(Visitor visit) noexcept {
      std::apply([&](auto&... lists) noexcept { (std::for_each(lists.begin(), lists.end(), visit), ...); },
                 boards);
    }
    template <class Visitor>
    void for_each(Visitor visit) const {
      std::apply([&](const auto&... lists) { (std::for_each(lists.begin(), lists.end(), visit), ...); },
                 boards);
    }
    /// Calls visit(board) with the board of this number; false if there is none.
    template <class Visitor>
    bool visit(std::uint8_t number, Visitor visit) noexcept {
      const Place place = index[number];
      if (place.number == 0) return false;
      switch (place.kind) {
        case BoardKind::two_channel:
          visit(std::get<0>(boards)[place.number - 1U]);
          break;
        case BoardKind::hybrid:
          visit(std::get<1>(boards)[place.number - 1U]);
          break;
        case BoardKind::neck:
          visit(std::get<2>(boards)[place.number - 1U]);
          break;
        case BoardKind::hand:
          visit(std::get<3>(boards)[place.number - 1U]);
          break;
      }
      return true;
    }
  };
  struct BusState {
    BusState(Bus& bus, BusPlan boards, const robot::RobotDescription& description)
        : exchange(bus,
                   replies_per_board * boards.numbers.size() + 1 +
                       HuboSensor::max_requests * boards.sensors.size(),
                   orders_per_board * boards.numbers.size() + 1, description.period,
                   description.feedback_timeout),
          plan(std::move(boards)),
          // Each board gets a status request once in as many cycles as there are boards. One lost reply is
          // not silence yet.
          status_limit(description.silence_limit() + 2 * static_cast<std::uint32_t>(plan.numbers.size())) {
      plan.for_each([this](auto& board) { this->add_slots(board); });
      sensor_slots = exchange.size();
      for (const HuboSensor& sensor : plan.sensors)
        sensor.ask([this](const auto& /*request*/) { (void)exchange.add({}); });
    }
    template <class Board>
    void add_slots(Board& board) {
      const JointSet joints = board.joint_set();
      board.slots.reference = exchange.add(joints);
      board.slots.encoders = exchange.add(joints);
      for (std::size_t half = 1; half < board.master.halves; ++half) (void)exchange.add(joints);
      board.slots.status = exchange.add(joints);
    }

    robot::BusExchange<Bus> exchange;
    BusPlan plan;
    std::size_t sensor_slots = 0;  ///< the first slot of their requests
    std::size_t next_status = 0;
    std::uint32_t status_limit;  ///< cycles
  };

  explicit HuboHardware(can::hubo::Dialect dialect) noexcept : dialect_(dialect) {}

  void take_in(BusState& bus, const can::Frame& frame, Time time) noexcept {
    using namespace can::hubo;
    const bool is_encoder = frame.id >= encoder_base && frame.id <= encoder_base + max_board;
    const bool is_status = frame.id >= status_base && frame.id <= status_base + max_board;
    if (!frame.extended && frame.id >= current_base && frame.id <= current_base + max_board)
      return take_in_parameters(bus, frame);
    if (frame.extended || !(is_encoder || is_status)) return take_in_from_sensor(bus, frame, time);
    const auto number = static_cast<std::uint8_t>(frame.id - (is_encoder ? encoder_base : status_base));
    const bool is_known = bus.plan.visit(number, [&](auto& board) noexcept {
      if (is_encoder) {
        hear<typename HuboKind<std::remove_reference_t<decltype(board)>::kind>::Encoders>(board, frame, time);
      } else {
        hear_status(board, frame, time);
      }
    });
    if (!is_known) take_in_from_sensor(bus, frame, time);
  }
  /// Of use only as the answer to the question for a board's type.
  void take_in_parameters(BusState& bus, const can::Frame& frame) noexcept {
    bool is_answer = false;
    bus.plan.visit(static_cast<std::uint8_t>(frame.id - can::hubo::current_base), [&](auto& board) noexcept {
      is_answer = board.master.awaits_identity();
      can::hubo::BoardParameters page;
      if (!is_answer) return;
      if (decode_into(page, frame, can::hubo::ParameterPage::g)) {
        board.master.heard(page);
      } else {
        ++counters_.frames_malformed;
      }
    });
    if (!is_answer) ++counters_.frames_unexpected;
  }
  void hear_status(Board<BoardKind::two_channel>& board, const can::Frame& frame, Time time) noexcept {
    hear<can::hubo::StatusReply>(board, frame, time, board.master.dialect());
  }
  template <BoardKind kind>
  void hear_status(Board<kind>& board, const can::Frame& frame, Time time) noexcept {
    hear<can::hubo::ShortStatusReply>(board, frame, time, kind);
  }

  void take_in_from_sensor(BusState& bus, const can::Frame& frame, Time time) noexcept {
    for (HuboSensor& sensor : bus.plan.sensors) {
      if (frame.extended || !sensor.sends(frame.id)) continue;
      if (!sensor.hear(frame, time)) ++counters_.frames_malformed;
      return;
    }
    ++counters_.frames_unexpected;
  }

  template <class Reply, class Board, class... Options>
  void hear(Board& board, const can::Frame& frame, Time time, Options... options) noexcept {
    Reply reply;
    if (decode_into(reply, frame, options...)) {
      board.master.heard(reply, time);
    } else {
      ++counters_.frames_malformed;
    }
  }

  template <class Master>
  static void report(const Master& master, std::size_t channel, robot::JointFeedback& feedback) noexcept {
    feedback.drive = master.state(channel);
    feedback.fault = master.faults(channel);
    feedback.mode = Master::mode_of(channel);
    feedback.home = master.home_search();
    if (!master.encoders_heard()) return;
    feedback.position = master.position(channel);
    feedback.velocity = master.velocity(channel);
    feedback.stamp = master.encoder_time();
    feedback.heard = true;
  }

  template <class Board>
  void command_power(BusState& bus, Board& board, std::span<const JointCommand> commands, Time now,
                     bool may_order) noexcept {
    bool want_power = true;
    for (std::size_t i = 0; i < board.joints.size(); ++i) {
      if (!board.master.attached(i)) continue;
      want_power = want_power && board.joints[i] < commands.size() && commands[board.joints[i]].want_power;
    }
    bool clear_fault = false;
    for_each_joint(board, commands, [&](std::size_t, const JointCommand& command) noexcept {
      clear_fault = clear_fault || command.clear_fault;
    });
    const auto power = board.master.power(want_power, clear_fault, may_order);
    for (std::size_t i = 0; i < power.count; ++i) bus.exchange.order(now, 0, power.list[i]);
  }

  template <class Board>
  void command_motion(BusState& bus, Board& board, std::span<const JointCommand> commands,
                      Time now) noexcept {
    for_each_joint(board, commands, [&](std::size_t channel, const JointCommand& command) noexcept {
      if (!board.master.command(channel, command)) ++references_rejected_;
    });
    const auto reference = board.master.reference();
    if (!reference) {
      bus.exchange.withdraw(board.slots.reference);
    } else if constexpr (Board::kind == BoardKind::hand) {
      bus.exchange.put(board.slots.reference, now, *reference, Board::kind);
    } else {
      bus.exchange.put(board.slots.reference, now, *reference);
    }
  }

  template <class Board, class Visitor>
  static void for_each_joint(const Board& board, std::span<const JointCommand> commands,
                             Visitor visit) noexcept {
    for (std::size_t i = 0; i < board.joints.size(); ++i) {
      if (board.master.attached(i) && board.joints[i] < commands.size()) visit(i, commands[board.joints[i]]);
    }
  }

  /// Requests the status of the boards in turn; boards that search their home are asked in each cycle anyway.
  /// In its turn a board also gets the request for its identity, if any, after everything else.
  void ask_status_in_turn(BusState& bus, Time now, bool may_order) noexcept {
    if (bus.plan.numbers.empty()) return;
    bus.plan.visit(bus.plan.numbers[bus.next_status], [&](auto& next) noexcept {
      if (!next.master.searching()) ask_status(bus, next, now);
      if (!may_order) return;
      if (const auto question = next.master.identity_request()) bus.exchange.order(now, after_all, *question);
    });
    if (++bus.next_status == bus.plan.numbers.size()) bus.next_status = 0;
  }

  template <class Board>
  static void ask_status(BusState& bus, const Board& board, Time now) noexcept {
    bus.exchange.put_rare(board.slots.status, now, can::hubo::status_request(board.master.board()));
  }

  std::vector<BusState> buses_;
  can::hubo::Dialect dialect_;  // of sensor requests; each board has its own
  robot::HardwareCounters counters_;
  std::uint64_t references_rejected_ = 0;
};

}  // namespace takt::drives
