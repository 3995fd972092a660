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
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "takt/can/hubo.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/drives/bus_masters.hpp"
#include "takt/drives/hubo/hubo_kind.hpp"
#include "takt/drives/hubo/hubo_master.hpp"
#include "takt/drives/hubo/hubo_sensors.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// The options of the masters of all buses.
struct HuboBusOptions {
  HuboOptions boards{};
  std::span<const HuboSensorPlace> sensors{};  ///< they are asked in each cycle
};

/// The master of the Hubo boards and sensors on one bus, for BusMasters.
class HuboBusMaster {
 public:
  static constexpr std::string_view protocol = "hubo";
  using Options = HuboBusOptions;

  /// Errors: no_such_bus, bad_address, duplicate_address, all of a sensor.
  [[nodiscard]] static SetupResult<void> check(const robot::RobotDescription& description,
                                               const Options& options) {
    using robot::Errc;
    for (const HuboSensorPlace& place : options.sensors) {
      const std::string name = "sensor " + std::to_string(place.sensor);
      if (place.bus >= description.buses.size() || !robot::speaks(description.buses[place.bus], protocol))
        return fail(Errc::no_such_bus, name);
      if (!HuboSensor::exists(place.sensor)) return fail(Errc::bad_address, name);
      const auto is_same = [&](const HuboSensorPlace& other) {
        return other.bus == place.bus && other.sensor == place.sensor;
      };
      if (std::ranges::count_if(options.sensors, is_same) > 1) return fail(Errc::duplicate_address, name);
    }
    return {};
  }

  HuboBusMaster(const robot::RobotDescription& description, std::size_t bus, const Options& options)
      : options_(options.boards), silence_limit_(description.silence_limit()) {
    for (const HuboSensorPlace& place : options.sensors) {
      if (place.bus == bus) sensors_.emplace_back(place.sensor);
    }
  }

  /// Errors: bad_address (also of a neck other than board 22h, and of a board of two kinds),
  /// duplicate_address, bad_scale (also of a finger's rated effort).
  [[nodiscard]] Status add(const robot::RobotDescription& description, std::size_t number) {
    const robot::JointDescription& joint = description.joints[number];
    switch (hubo_board_kind(joint)) {
      case BoardKind::two_channel:
        return add_to<BoardKind::two_channel>(joint, number);
      case BoardKind::hybrid:
        return add_to<BoardKind::hybrid>(joint, number);
      case BoardKind::neck:
        return add_to<BoardKind::neck>(joint, number);
      case BoardKind::hand:
        return add_to<BoardKind::hand>(joint, number);
    }
    return takt::fail(robot::Errc::bad_address);
  }
  /// What its drives need of the bus.
  [[nodiscard]] BusDemand demand() const noexcept {
    if (numbers_.empty() && sensors_.empty()) return {};
    constexpr std::size_t replies_per_board = 5;  // or fewer: positions in two halves, status
    constexpr std::size_t orders_per_board = 2;
    return {replies_per_board * numbers_.size() + 1 + HuboSensor::max_requests * sensors_.size(),
            orders_per_board * numbers_.size() + 1};
  }
  /// Adds a slot for each of its frames.
  template <class Exchange>
  void open(Exchange& exchange) {
    for_each([&exchange](auto& board) {
      const JointSet joints = board.joint_set();
      board.slots.reference = exchange.add(joints);
      board.slots.encoders = exchange.add(joints);
      for (std::size_t half = 1; half < board.master.halves; ++half) (void)exchange.add(joints);
      board.slots.status = exchange.add(joints);
    });
    sensor_slots_ = exchange.size();
    for (const HuboSensor& sensor : sensors_)
      sensor.ask([&exchange](const auto& /*request*/) { (void)exchange.add(JointSet{}); });
  }

  /// Takes in a frame that ended on the bus at `time`.
  [[nodiscard]] Heard hear(const can::Frame& frame, Time time) noexcept {
    using namespace can::hubo;
    // A frame's number above its base; an identifier below the base wraps to a large one.
    const auto is_of = [&frame](std::uint32_t base) noexcept {
      return !frame.extended && frame.id - base <= max_board;
    };
    const auto number_above = [&frame](std::uint32_t base) noexcept {
      return static_cast<std::uint8_t>(frame.id - base);
    };
    Heard heard = Heard::unexpected;
    if (is_of(encoder_base)) {
      visit(number_above(encoder_base), [&](auto& board) noexcept {
        using Encoders = typename HuboKind<std::remove_reference_t<decltype(board)>::kind>::Encoders;
        heard = hear<Encoders>(board, frame, time);
      });
    } else if (is_of(status_base)) {
      visit(number_above(status_base),
            [&](auto& board) noexcept { heard = hear_status(board, frame, time); });
    } else if (is_of(current_base)) {
      return hear_parameters(number_above(current_base), frame);
    }
    return heard != Heard::unexpected ? heard : hear_sensor(frame, time);
  }
  /// Gives the joints what their drives said. Once per cycle, after the frames.
  void report(std::span<robot::JointFeedback> feedback) noexcept {
    for_each([&](auto& board) noexcept {
      board.master.check_silence(status_limit());
      for (std::size_t i = 0; i < board.joints.size(); ++i) {
        if (board.master.attached(i) && board.joints[i] < feedback.size())
          report(board.master, i, feedback[board.joints[i]]);
      }
    });
  }
  /// Puts the frames of a cycle into the exchange.
  template <class Exchange>
  void command(Exchange& exchange, Time now, std::span<const JointCommand> commands) noexcept {
    const bool may_order = exchange.takes_orders();
    for_each([&](auto& board) noexcept { command_power(exchange, now, board, commands, may_order); });
    for_each([&](auto& board) noexcept { command_motion(exchange, now, board, commands); });
    for_each([&](const auto& board) noexcept {
      for (std::uint8_t half = 0; half < board.master.halves; ++half) {
        exchange.put(board.slots.encoders + half, now,
                     can::hubo::encoder_request(board.master.board(), half));
      }
      if (board.master.searching()) ask_status(exchange, now, board);
    });
    ask_status_in_turn(exchange, now, may_order);
    std::size_t slot = sensor_slots_;
    for (const HuboSensor& sensor : sensors_) {
      sensor.ask([&](const auto& request) noexcept { exchange.put(slot++, now, request, options_.dialect); });
    }
  }
  /// References that were not sent.
  [[nodiscard]] std::uint64_t rejected() const noexcept { return rejected_; }
  /// As robot::Hardware::ask_identity().
  void ask_identity() noexcept {
    for_each([](auto& board) noexcept { board.master.ask_identity(); });
  }
  /// As robot::Hardware::identity().
  [[nodiscard]] std::string identity(std::size_t joint) const {
    std::string said;
    for_each([&](const auto& board) {
      if (board.joint_set().contains(joint) && board.master.board_type())
        said = "board type " + std::to_string(*board.master.board_type());
    });
    return said;
  }

  /// The last replies of a sensor; null if it is not among the requested ones.
  [[nodiscard]] const HuboSensor* sensor(std::uint8_t number) const noexcept {
    for (const HuboSensor& sensor : sensors_) {
      if (sensor.number() == number) return &sensor;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint32_t after_all = 1;  // all other messages have priority 0

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
  template <BoardKind kind>
  using Boards = std::vector<Board<kind>>;
  /// The place of a board in its list.
  struct Place {
    BoardKind kind = BoardKind::two_channel;
    std::uint8_t number = 0;  ///< in the list of its kind, from 1; 0 = no such board
  };

  template <BoardKind kind>
  [[nodiscard]] Status add_to(const robot::JointDescription& joint, std::size_t number) {
    using Master = HuboBoardMaster<kind>;
    const bool exists = joint.board <= can::hubo::max_board && joint.channel < Master::channels &&
                        (kind != BoardKind::neck || joint.board == can::hubo::neck_board);
    if (!exists) return takt::fail(robot::Errc::bad_address);
    const bool by_effort = Master::mode_of(joint.channel) == CommandMode::effort;
    const bool effort_good = std::isfinite(joint.rated_effort) && joint.rated_effort > 0;
    if (!std::isfinite(joint.counts_per_radian) || joint.counts_per_radian == 0 ||
        (by_effort && !effort_good))
      return takt::fail(robot::Errc::bad_scale);
    auto& list = std::get<Boards<kind>>(boards_);
    Place& place = index_[joint.board];
    if (place.number == 0) {
      HuboOptions options = options_;
      options.home_at_start = options.home_at_start || joint.drive.word("homing").has_value();
      list.push_back(Board<kind>{Master(joint.board, options), {}, {}});
      numbers_.push_back(joint.board);
      place = {kind, static_cast<std::uint8_t>(list.size())};
    }
    if (place.kind != kind) return takt::fail(robot::Errc::bad_address);
    Board<kind>& board = list[place.number - 1U];
    if (board.master.attached(joint.channel)) return takt::fail(robot::Errc::duplicate_address);
    board.master.attach(joint.channel, joint.counts_per_radian, joint.rated_effort);
    board.joints[joint.channel] = number;
    return {};
  }
  template <class Visitor>
  void for_each(Visitor visit) noexcept {
    std::apply([&](auto&... lists) noexcept { (std::for_each(lists.begin(), lists.end(), visit), ...); },
               boards_);
  }
  template <class Visitor>
  void for_each(Visitor visit) const {
    std::apply([&](const auto&... lists) { (std::for_each(lists.begin(), lists.end(), visit), ...); },
               boards_);
  }
  /// Calls visit(board) with the board of this number, if there is one.
  template <class Visitor>
  void visit(std::uint8_t number, Visitor visit) noexcept {
    const Place place = index_[number];
    if (place.number == 0) return;
    const std::size_t i = place.number - 1U;
    switch (place.kind) {
      case BoardKind::two_channel:
        return visit(std::get<0>(boards_)[i]);
      case BoardKind::hybrid:
        return visit(std::get<1>(boards_)[i]);
      case BoardKind::neck:
        return visit(std::get<2>(boards_)[i]);
      case BoardKind::hand:
        return visit(std::get<3>(boards_)[i]);
    }
  }

  /// Each board gets a status request once in as many cycles as there are boards. One lost reply is not
  /// silence yet.
  [[nodiscard]] std::uint32_t status_limit() const noexcept {
    return silence_limit_ + 2 * static_cast<std::uint32_t>(numbers_.size());
  }

  /// Of use only as the answer to the question for a board's type.
  [[nodiscard]] Heard hear_parameters(std::uint8_t number, const can::Frame& frame) noexcept {
    Heard heard = Heard::unexpected;
    visit(number, [&](auto& board) noexcept {
      if (!board.master.awaits_identity()) return;
      can::hubo::BoardParameters page;
      heard = decode_into(page, frame, can::hubo::ParameterPage::g) ? Heard::understood : Heard::malformed;
      if (heard == Heard::understood) board.master.heard(page);
    });
    return heard;
  }
  [[nodiscard]] static Heard hear_status(Board<BoardKind::two_channel>& board, const can::Frame& frame,
                                         Time time) noexcept {
    return hear<can::hubo::StatusReply>(board, frame, time, board.master.dialect());
  }
  template <BoardKind kind>
  [[nodiscard]] static Heard hear_status(Board<kind>& board, const can::Frame& frame, Time time) noexcept {
    return hear<can::hubo::ShortStatusReply>(board, frame, time, kind);
  }
  [[nodiscard]] Heard hear_sensor(const can::Frame& frame, Time time) noexcept {
    for (HuboSensor& sensor : sensors_) {
      if (!frame.extended && sensor.sends(frame.id))
        return sensor.hear(frame, time) ? Heard::understood : Heard::malformed;
    }
    return Heard::unexpected;
  }
  template <class Reply, class Board, class... Options>
  [[nodiscard]] static Heard hear(Board& board, const can::Frame& frame, Time time,
                                  Options... options) noexcept {
    Reply reply;
    if (!decode_into(reply, frame, options...)) return Heard::malformed;
    board.master.heard(reply, time);
    return Heard::understood;
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

  template <class Exchange, class Board>
  static void command_power(Exchange& exchange, Time now, Board& board,
                            std::span<const JointCommand> commands, bool may_order) noexcept {
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
    for (std::size_t i = 0; i < power.count; ++i) exchange.order(now, 0, power.list[i]);
  }

  template <class Exchange, class Board>
  void command_motion(Exchange& exchange, Time now, Board& board,
                      std::span<const JointCommand> commands) noexcept {
    for_each_joint(board, commands, [&](std::size_t channel, const JointCommand& command) noexcept {
      if (!board.master.command(channel, command)) ++rejected_;
    });
    const auto reference = board.master.reference();
    if (!reference) {
      exchange.withdraw(board.slots.reference);
    } else if constexpr (Board::kind == BoardKind::hand) {
      exchange.put(board.slots.reference, now, *reference, Board::kind);
    } else {
      exchange.put(board.slots.reference, now, *reference);
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
  template <class Exchange>
  void ask_status_in_turn(Exchange& exchange, Time now, bool may_order) noexcept {
    if (numbers_.empty()) return;
    visit(numbers_[next_status_], [&](auto& next) noexcept {
      if (!next.master.searching()) ask_status(exchange, now, next);
      if (!may_order) return;
      if (const auto question = next.master.identity_request()) exchange.order(now, after_all, *question);
    });
    if (++next_status_ == numbers_.size()) next_status_ = 0;
  }

  template <class Exchange, class Board>
  static void ask_status(Exchange& exchange, Time now, const Board& board) noexcept {
    exchange.put_rare(board.slots.status, now, can::hubo::status_request(board.master.board()));
  }

  HuboOptions options_;
  std::uint32_t silence_limit_;
  std::tuple<Boards<BoardKind::two_channel>, Boards<BoardKind::hybrid>, Boards<BoardKind::neck>,
             Boards<BoardKind::hand>>
      boards_;
  std::vector<std::uint8_t> numbers_;  ///< of all boards
  std::array<Place, can::hubo::max_board + 1> index_{};
  std::vector<HuboSensor> sensors_;
  std::size_t sensor_slots_ = 0;  ///< the first slot of their requests
  std::size_t next_status_ = 0;
  std::uint64_t rejected_ = 0;
};

/// The Hubo boards of a robot.
template <can::CanBus Bus>
using HuboHardware = BusMasters<Bus, HuboBusMaster>;

}  // namespace takt::drives
