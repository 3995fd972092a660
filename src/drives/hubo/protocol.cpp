// Hubo joint boards on classic CAN: can/hubo.hpp has the frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "drives/register.hpp"
#include "takt/drives/hubo/hubo_board.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/hubo/hubo_plan.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/sim/drive_bus.hpp"

namespace takt::drives {
namespace {

namespace hubo = can::hubo;
using hubo::BoardKind;

constexpr std::array<std::string_view, 1> homings{"at_start"};
constexpr std::array<robot::SettingRule, 2> hubo_rules{
    {{.key = "board_kind", .words = hubo_board_kind_names}, {.key = "homing", .words = homings}}};

namespace h = hubo::fault;
constexpr std::array<robot::FaultBit, 16> hubo_fault_bits{{{h::jam, "jam"},
                                                           {h::pwm_saturated, "PWM saturated"},
                                                           {h::big_error, "position error too big"},
                                                           {h::encoder, "encoder"},
                                                           {h::driver, "power stage"},
                                                           {h::motor_fail_0, "motor fail 0"},
                                                           {h::motor_fail_1, "motor fail 1"},
                                                           {h::position_low, "at the lower position limit"},
                                                           {h::position_high, "at the upper position limit"},
                                                           {h::velocity, "velocity"},
                                                           {h::acceleration, "acceleration"},
                                                           {h::temperature, "temperature"},
                                                           {h::big_input, "the reference jumped"},
                                                           {h::current, "current"},
                                                           {h::homing_failed, "did not find its home"},
                                                           {h::power_lost, robot::lost_power}}};

/// Simulated boards, each with as many joints as it has channels.
class HuboBoards final : public sim::DrivesOnBus<HuboBoard> {
 public:
  HuboBoards(const robot::RobotDescription& robot, std::size_t bus, Time start)
      : DrivesOnBus(robot.buses[bus], start), period_(robot.period) {}

  SetupResult<void> add(std::size_t joint, const robot::JointDescription& description) override {
    const std::string place = sim::place_of(description);
    if (description.board > hubo::max_board)
      return fail(sim::Errc::bad_place, place + ": no joint board has this number");
    const HuboBoardOptions options{.kind = hubo_board_kind(description), .reference_period = period_};
    HuboBoard* const board = drive_of(description.board, description.board, options, start());
    if (board == nullptr) return fail(sim::Errc::too_many_nodes, place + ": the bus is full");
    if (!board->fit(description.channel, description)) {
      return fail(
          sim::Errc::bad_place,
          place + ": the channel does not exist, has a joint already, or is of another kind of board");
    }
    if (of_joint_.size() <= joint) of_joint_.resize(joint + 1);
    of_joint_[joint] = {board, description.channel};
    return {};
  }
  [[nodiscard]] double position(std::size_t joint) const noexcept override {
    return of_joint_[joint].board->position(of_joint_[joint].channel);
  }
  [[nodiscard]] double velocity(std::size_t joint) const noexcept override {
    return of_joint_[joint].board->velocity(of_joint_[joint].channel);
  }
  void inject(std::size_t joint, sim::JointFault fault) noexcept override {
    of_joint_[joint].board->inject(of_joint_[joint].channel, fault);
  }
  void attach(std::size_t joint, sim::PhysicsJoint& physics) noexcept override {
    of_joint_[joint].board->attach(of_joint_[joint].channel, physics);
  }
  void set_load(std::size_t joint, double torque) noexcept override {
    of_joint_[joint].board->set_load(of_joint_[joint].channel, torque);
  }

 private:
  struct Place {
    HuboBoard* board = nullptr;
    std::uint8_t channel = 0;
  };
  Duration period_;
  std::vector<Place> of_joint_;
};

class HuboProtocol final : public robot::DriveProtocol {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "hubo"; }
  [[nodiscard]] std::span<const robot::SettingRule> settings() const noexcept override { return hubo_rules; }
  [[nodiscard]] robot::AddressRule addresses(const robot::JointDescription& joint) const override {
    const BoardKind kind = hubo_board_kind(joint);
    if (kind == BoardKind::neck) return {hubo::neck_board, hubo::neck_board, 2};
    return {0, hubo::max_board, static_cast<std::uint8_t>(hubo::channels_of(kind) - 1)};
  }
  [[nodiscard]] double reach(const robot::JointDescription& joint) const override {
    constexpr double half_word = 32'767.0;  // in which boards with more than two encoders answer
    const BoardKind kind = hubo_board_kind(joint);
    if (kind == BoardKind::neck) return std::numbers::pi;
    return (kind == BoardKind::two_channel ? hubo::max_reference : half_word) /
           std::abs(joint.counts_per_radian);
  }
  void check(const robot::RobotDescription& robot, const robot::JointDescription& joint,
             const robot::Complain& complain) const override {
    check_effort(joint, complain);
    if (joint.drive.word("homing") && hubo_board_kind(joint) != BoardKind::two_channel)
      complain("drive/homing", "only the status of a two_channel board says that a motor is at home");
    // A board is of one kind and is switched as a whole, so it cannot release one joint and hold another.
    const auto other = std::find_if(robot.joints.begin(), robot.joints.end(),
                                    [&joint](const robot::JointDescription& known) {
                                      return known.bus == joint.bus && known.board == joint.board;
                                    });
    if (other == robot.joints.end()) return;
    const std::string board = "board " + std::to_string(joint.board);
    if (other->safe != joint.safe || other->keep_commanding != joint.keep_commanding)
      complain("safe", board + " is switched as a whole, and " + other->name + " on it has another value");
    if (other->drive.word("homing") != joint.drive.word("homing"))
      complain("drive/homing",
               board + " searches its homes as a whole, and " + other->name + " on it differs");
    if (hubo_board_kind(*other) != hubo_board_kind(joint))
      complain("drive/board_kind", board + " is of one kind, and " + other->name + " on it has another");
  }
  void plan(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan) const override {
    plan_hubo_boards(robot, bus, plan);
  }
  [[nodiscard]] std::string describe_fault(std::uint32_t fault) const override {
    return robot::describe_bits(fault, hubo_fault_bits);
  }
  [[nodiscard]] std::vector<can::Frame> questions(bool /*is_quiet*/) const override {
    std::vector<can::Frame> asked;
    for (std::uint8_t board = 0; board <= hubo::max_board; ++board) {
      if (const auto frame = can::encode(hubo::encoder_request(board))) asked.push_back(*frame);
    }
    return asked;
  }
  [[nodiscard]] std::optional<robot::DriveSighting> sight(const can::Frame& frame) const override {
    hubo::EncoderReply two;
    if (decode_into(two, frame))
      return robot::DriveSighting{.board = two.board, .channels = 2, .text = "two motors"};
    hubo::HandEncoders more;
    if (!decode_into(more, frame)) return std::nullopt;
    return robot::DriveSighting{.board = more.board, .text = "another board_kind than two_channel"};
  }
  [[nodiscard]] SetupResult<std::unique_ptr<robot::Hardware>> connect(
      const robot::RobotDescription& robot, std::span<robot::CanPort* const> ports) const override {
    return HuboHardware<robot::CanPort>::create(robot, ports);
  }
  [[nodiscard]] std::unique_ptr<sim::DriveBus> simulate(const robot::RobotDescription& robot, std::size_t bus,
                                                        Time start) const override {
    return std::make_unique<HuboBoards>(robot, bus, start);
  }

 private:
  /// Fingers need a rated effort; other joints must not have one.
  static void check_effort(const robot::JointDescription& joint, const robot::Complain& complain) {
    const BoardKind kind = hubo_board_kind(joint);
    const bool is_finger = kind == BoardKind::hand || (kind == BoardKind::hybrid && joint.channel > 0);
    if (is_finger && joint.rated_effort == 0) {
      complain("rated_effort", "is missing: a finger is driven by effort");
    } else if (!is_finger && joint.rated_effort > 0) {
      complain("rated_effort", "this drive is told positions only");
    }
  }
};

}  // namespace

TAKT_DRIVE_PROTOCOL(hubo, HuboProtocol);

}  // namespace takt::drives
