// The motion client of the C API: motion::Client over TCP, with its messages as plain structures.
#include "takt/motion/client.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/tcp_stream.hpp"
#include "takt/trajectory/domain.hpp"

namespace motion = takt::motion;
using takt::Duration;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::check_size;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_status;
using takt::capi::write_struct;

static_assert(TAKT_GOAL_PENDING == static_cast<int>(motion::GoalState::pending));
static_assert(TAKT_GOAL_ACTIVE == static_cast<int>(motion::GoalState::active));
static_assert(TAKT_GOAL_PREEMPTING == static_cast<int>(motion::GoalState::preempting));
static_assert(TAKT_GOAL_SUCCEEDED == static_cast<int>(motion::GoalState::succeeded));
static_assert(TAKT_GOAL_ABORTED == static_cast<int>(motion::GoalState::aborted));
static_assert(TAKT_GOAL_REJECTED == static_cast<int>(motion::GoalState::rejected));
static_assert(TAKT_GOAL_PREEMPTED == static_cast<int>(motion::GoalState::preempted));
static_assert(TAKT_GOAL_RECALLED == static_cast<int>(motion::GoalState::recalled));
static_assert(TAKT_ROBOT_STARTING == static_cast<int>(motion::RobotState::starting));
static_assert(TAKT_ROBOT_READY == static_cast<int>(motion::RobotState::ready));
static_assert(TAKT_ROBOT_STOPPING == static_cast<int>(motion::RobotState::stopping));
static_assert(TAKT_ROBOT_STOPPED == static_cast<int>(motion::RobotState::stopped));
static_assert(TAKT_ROBOT_DOWN == static_cast<int>(motion::RobotState::down));

struct takt_motion_client {
  motion::Client<takt::platform::TcpStream, takt::platform::SteadyClock> connection;
  motion::GreetingReply robot;
  Duration timeout{};
};

namespace {

constexpr Duration default_timeout = std::chrono::seconds(5);
constexpr Duration default_hold = std::chrono::milliseconds(100);

/// Clamps the caller's timeout: not negative, and short enough to be added to any time.
Duration time_limit(std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t longest = 1'000'000'000'000'000'000;  // 31 years
  return Duration(std::clamp<std::int64_t>(nanoseconds, 0, longest));
}

/// Copies a text with a NUL. A long text is cut between UTF-8 characters. The rest of the array stays zero.
template <std::size_t Size>
void copy_text(std::string_view text, char (&to)[Size]) noexcept {
  std::size_t length = std::min(text.size(), Size - 1);
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u;
  };
  while (length < text.size() && length > 0 && continues(length)) --length;
  std::copy_n(text.data(), length, to);
}

takt_reply empty_reply() noexcept {
  takt_reply reply{};
  reply.duration_ns = -1;
  reply.time_ns = -1;
  reply.value = std::numeric_limits<double>::quiet_NaN();
  reply.limit = std::numeric_limits<double>::quiet_NaN();
  return reply;
}

takt_reply to_reply(const motion::Rejection& why, motion::GoalState state, motion::GoalId goal) noexcept {
  takt_reply reply = empty_reply();
  reply.state = static_cast<std::int32_t>(state);
  reply.reason = why.reason == motion::Errc{} ? TAKT_OK : to_status(why.reason);
  reply.goal = goal;
  if (why.time) reply.time_ns = takt::from_seconds(*why.time).count();
  if (why.value) reply.value = *why.value;
  if (why.limit) reply.limit = *why.limit;
  copy_text(why.joint, reply.joint);
  copy_text(why.message, reply.message);
  return reply;
}

takt_reply to_reply(const motion::AcceptedReply& accepted) noexcept {
  takt_reply reply = empty_reply();
  reply.state = static_cast<std::int32_t>(accepted.state);
  reply.goal = accepted.goal;
  if (accepted.duration) reply.duration_ns = takt::from_seconds(*accepted.duration).count();
  return reply;
}

/// Converts the error of a client that waited for an answer. Its message_too_slow means a timeout.
takt::Error error_of(const takt::SetupError& failure) noexcept {
  return failure.error == motion::Errc::message_too_slow ? takt::Error(Errc::timeout) : failure.error;
}

/// Sends a request and waits until the server accepts or rejects it.
template <class Body>
Status ask(takt_motion_client& client, Body&& body, takt_reply* reply) {
  const auto accepted = client.connection.request({"", std::forward<Body>(body)}, client.timeout);
  if (accepted) {
    write_struct(reply, to_reply(*accepted));
    return {};
  }
  const auto& rejection = accepted.error().rejection;
  if (!rejection) return fail(error_of(accepted.error()));
  write_struct(reply, to_reply(*rejection, motion::GoalState::rejected, 0));
  return fail(rejection->reason);
}

/// Copies the caller's numbers. Errors: null_pointer, and those of check_number().
Result<std::vector<double>> read_numbers(const double* numbers, std::size_t count) {
  if (numbers == nullptr) return fail(Errc::null_pointer);
  for (std::size_t i = 0; i < count; ++i) {
    if (Status status = takt::trajectory::check_number(numbers[i]); !status) return fail(status.error());
  }
  return std::vector<double>(numbers, numbers + count);
}

Status check_joints(std::size_t joints) noexcept {
  if (joints == 0 || joints > takt::max_joints) return fail(takt::trajectory::Errc::wrong_size);
  return {};
}

Result<motion::JointSelection> read_selection(const takt_motion_options& options, std::size_t joints) {
  if ((options.group == nullptr) == (options.joint_names == nullptr)) return fail(Errc::bad_argument);
  motion::JointSelection selection;
  if (options.group != nullptr) {
    selection.group = options.group;
    return selection;
  }
  for (std::size_t j = 0; j < joints; ++j) {
    if (options.joint_names[j] == nullptr) return fail(Errc::null_pointer);
    selection.names.emplace_back(options.joint_names[j]);
  }
  return selection;
}

Result<takt_motion_options> read_motion(const takt_motion_options* options) noexcept {
  const auto read = takt::capi::read_struct(options);
  if (read && read->reserved != 0) return fail(Errc::bad_argument);
  return read;
}

template <class Choice>
using Choices = std::initializer_list<std::pair<std::int32_t, Choice>>;

/// Finds the choice for a number of the C interface. Errors: bad_argument.
template <class Choice>
Result<Choice> choose(std::int32_t number, Choices<Choice> choices) noexcept {
  for (const auto& [candidate, choice] : choices) {
    if (candidate == number) return choice;
  }
  return fail(Errc::bad_argument);
}

Result<motion::OnDisconnect> read_on_disconnect(const takt_motion_options& options) noexcept {
  return choose<motion::OnDisconnect>(options.on_disconnect,
                                      {{TAKT_ON_DISCONNECT_STOP, motion::OnDisconnect::stop},
                                       {TAKT_ON_DISCONNECT_CONTINUE, motion::OnDisconnect::proceed}});
}

Result<motion::WhenBusy> read_when_busy(const takt_motion_options& options) noexcept {
  return choose<motion::WhenBusy>(options.when_busy, {{TAKT_WHEN_BUSY_SPLICE, motion::WhenBusy::splice},
                                                      {TAKT_WHEN_BUSY_QUEUE, motion::WhenBusy::queue},
                                                      {TAKT_WHEN_BUSY_REJECT, motion::WhenBusy::reject}});
}

Result<motion::AtEnd> read_at_end(const takt_motion_options& options) noexcept {
  return choose<motion::AtEnd>(
      options.at_end, {{TAKT_AT_END_REST, motion::AtEnd::rest}, {TAKT_AT_END_STOP, motion::AtEnd::stop}});
}

Result<bool> read_flag(std::int32_t flag) noexcept {
  if (flag != 0 && flag != 1) return fail(Errc::bad_argument);
  return flag == 1;
}

/// Reads the tolerances of columns with these names.
Result<std::vector<motion::ToleranceMessage>> read_tolerances(const takt_joint_tolerance* from,
                                                              const std::vector<std::string>& names) {
  std::vector<motion::ToleranceMessage> tolerances;
  if (from == nullptr) return tolerances;
  for (const std::string& name : names) {
    for (const double value : {from->position, from->velocity, from->acceleration}) {
      if (Status status = takt::trajectory::check_number(value); !status) return fail(status.error());
    }
    if (from->acceleration > 0) return fail(Errc::bad_argument);
    tolerances.push_back({name, from->position, from->velocity, from->acceleration});
    ++from;
  }
  return tolerances;
}

/// Returns the names of the columns; none for an unknown group, which the server rejects.
std::vector<std::string> names_of(const motion::JointSelection& selection,
                                  const motion::GreetingReply& robot) {
  for (const auto& [group, names] : robot.groups) {
    if (group == selection.group) return names;
  }
  return selection.names;
}

Result<motion::TolerancesMessage> read_tolerances(const takt_motion_options& options, std::size_t joints,
                                                  const std::vector<std::string>& names) {
  motion::TolerancesMessage tolerances;
  tolerances.goal_time = takt::capi::seconds(options.goal_time_ns);
  if (names.size() != joints) return tolerances;  // the server rejects the motion
  auto path = read_tolerances(options.path_tolerance, names);
  if (!path) return fail(path.error());
  auto goal = read_tolerances(options.goal_tolerance, names);
  if (!goal) return fail(goal.error());
  tolerances.path = *std::move(path);
  tolerances.goal = *std::move(goal);
  return tolerances;
}

/// Writes the options that trajectories and moves share into the message.
template <class Message>
Status read_options(const takt_motion_options& options, std::size_t joints,
                    const motion::GreetingReply& robot, Message& message) {
  auto selection = read_selection(options, joints);
  if (!selection) return fail(selection.error());
  const auto fit = read_flag(options.fit);
  if (!fit) return fail(fit.error());
  const auto on_disconnect = read_on_disconnect(options);
  if (!on_disconnect) return fail(on_disconnect.error());
  const auto when_busy = read_when_busy(options);
  if (!when_busy) return fail(when_busy.error());
  auto tolerances = read_tolerances(options, joints, names_of(*selection, robot));
  if (!tolerances) return fail(tolerances.error());
  message.joints = *std::move(selection);
  message.tolerances = *std::move(tolerances);
  message.fit = *fit;
  message.on_disconnect = *on_disconnect;
  message.when_busy = *when_busy;
  return {};
}

Result<std::vector<motion::PointMessage>> read_points(const takt_waypoints& from) {
  std::vector<motion::PointMessage> points(from.count);
  for (std::size_t k = 0; k < from.count; ++k) {
    points[k].time = takt::capi::seconds(from.times_ns[k]);
    const auto read_row = [&](const double* matrix, std::vector<double>& row) -> Status {
      if (matrix == nullptr) return {};
      auto numbers = read_numbers(matrix + k * from.joints, from.joints);
      if (!numbers) return fail(numbers.error());
      row = *std::move(numbers);
      return {};
    };
    if (Status status = read_row(from.positions, points[k].positions); !status) return fail(status.error());
    if (Status status = read_row(from.velocities, points[k].velocities); !status) return fail(status.error());
    if (Status status = read_row(from.accelerations, points[k].accelerations); !status) {
      return fail(status.error());
    }
  }
  return points;
}

Result<motion::TrajectoryMessage> read_trajectory(const takt_motion_options& options,
                                                  const takt_waypoints& from,
                                                  const motion::GreetingReply& robot) {
  if (from.times_ns == nullptr) return fail(Errc::null_pointer);
  if (Status status = takt::capi::check_shape(from); !status) return fail(status.error());
  motion::TrajectoryMessage message;
  if (Status status = read_options(options, from.joints, robot, message); !status)
    return fail(status.error());
  const auto through = takt::capi::read_through(from.through);
  if (!through) return fail(through.error());
  const auto at_end = read_at_end(options);
  if (!at_end) return fail(at_end.error());
  auto points = read_points(from);
  if (!points) return fail(points.error());
  message.through = *through;
  message.at_end = *at_end;
  if (options.start_ns != 0) message.start = takt::capi::seconds(options.start_ns);
  message.points = *std::move(points);
  return message;
}

/// Returns the server's line for a message, without its end.
std::string line_of(const motion::ServerMessage& message) {
  std::string line = to_line(message);
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

std::uint32_t saturated(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

void takt_motion_client_options_init(takt_motion_client_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

void takt_motion_options_init(takt_motion_options* options, std::size_t size) {
  takt::capi::init_struct(options, size);
}

void takt_reply_init(takt_reply* reply, std::size_t size) {
  takt::capi::init_struct(reply, size, empty_reply());
}

void takt_robot_state_init(takt_robot_state* state, std::size_t size) {
  takt::capi::init_struct(state, size);
}

std::int32_t takt_motion_client_connect(const takt_motion_client_options* options,
                                        takt_motion_client** client) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    const auto wanted = takt::capi::read_optional(options);
    if (!wanted) return fail(wanted.error());
    if (wanted->port > std::numeric_limits<std::uint16_t>::max()) return fail(Errc::bad_argument);
    const auto port = wanted->port == 0 ? motion::default_port : static_cast<std::uint16_t>(wanted->port);
    const Duration timeout = wanted->timeout_ns == 0 ? default_timeout : time_limit(wanted->timeout_ns);

    auto stream = takt::platform::TcpStream::connect(wanted->host == nullptr ? "127.0.0.1" : wanted->host,
                                                     port, timeout);
    if (!stream) return fail(stream.error().error);
    auto made =
        std::make_unique<takt_motion_client>(takt_motion_client{{*std::move(stream), {}}, {}, timeout});
    auto greeting = made->connection.greeting(timeout);
    if (!greeting) return fail(error_of(greeting.error()));
    made->robot = *std::move(greeting);
    *client = made.release();
    return {};
  });
}

void takt_motion_client_close(takt_motion_client* client) { delete client; }

std::size_t takt_motion_client_joints(const takt_motion_client* client) {
  return client == nullptr ? 0 : client->robot.joint_names.size();
}

const char* takt_motion_client_joint_name(const takt_motion_client* client, std::size_t joint) {
  return joint < takt_motion_client_joints(client) ? client->robot.joint_names[joint].c_str() : nullptr;
}

std::int64_t takt_motion_client_period_ns(const takt_motion_client* client) {
  return client == nullptr ? 0 : takt::from_seconds(client->robot.period).count();
}

std::int32_t takt_motion_client_trajectory(takt_motion_client* client, const takt_motion_options* options,
                                           const takt_waypoints* waypoints, takt_reply* reply) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(reply); !status) return status;
    const auto wanted = read_motion(options);
    if (!wanted) return fail(wanted.error());
    const auto from = takt::capi::read_struct(waypoints);
    if (!from) return fail(from.error());
    auto message = read_trajectory(*wanted, *from, client->robot);
    if (!message) return fail(message.error());
    return ask(*client, *std::move(message), reply);
  });
}

std::int32_t takt_motion_client_move(takt_motion_client* client, const takt_motion_options* options,
                                     const double* positions, std::size_t joints, std::int64_t duration_ns,
                                     takt_reply* reply) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(reply); !status) return status;
    if (Status status = check_joints(joints); !status) return status;
    const auto wanted = read_motion(options);
    if (!wanted) return fail(wanted.error());
    if (wanted->start_ns != 0) return fail(Errc::bad_argument);
    auto targets = read_numbers(positions, joints);
    if (!targets) return fail(targets.error());
    motion::MoveMessage message;
    if (Status status = read_options(*wanted, joints, client->robot, message); !status) return status;
    message.positions = *std::move(targets);
    if (duration_ns != 0) message.duration = takt::capi::seconds(duration_ns);
    return ask(*client, std::move(message), reply);
  });
}

std::int32_t takt_motion_client_setpoint(takt_motion_client* client, const takt_motion_options* options,
                                         const double* positions, const double* velocities,
                                         std::size_t joints, std::int64_t hold_ns, takt_reply* reply) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(reply); !status) return status;
    if (Status status = check_joints(joints); !status) return status;
    const auto wanted = read_motion(options);
    if (!wanted) return fail(wanted.error());
    auto selection = read_selection(*wanted, joints);
    if (!selection) return fail(selection.error());
    auto targets = read_numbers(positions, joints);
    if (!targets) return fail(targets.error());
    motion::SetpointMessage message;
    message.joints = *std::move(selection);
    message.positions = *std::move(targets);
    message.timeout = takt::to_seconds(hold_ns == 0 ? default_hold : Duration(hold_ns));
    if (velocities != nullptr) {
      auto rates = read_numbers(velocities, joints);
      if (!rates) return fail(rates.error());
      message.velocities = *std::move(rates);
    }
    return ask(*client, std::move(message), reply);
  });
}

std::int32_t takt_motion_client_cancel(takt_motion_client* client, std::uint64_t goal) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    return ask(*client, motion::CancelMessage{goal}, nullptr);
  });
}

std::int32_t takt_motion_client_cancel_on_path(takt_motion_client* client, std::uint64_t goal) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    return ask(*client, motion::CancelMessage{goal, motion::StopAt::path}, nullptr);
  });
}

std::int32_t takt_motion_client_speed(takt_motion_client* client, std::uint64_t goal, double scale) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (!std::isfinite(scale)) return fail(motion::Errc::not_finite);
    return ask(*client, motion::SpeedMessage{goal, scale}, nullptr);
  });
}

std::int32_t takt_motion_client_wait(takt_motion_client* client, std::uint64_t goal, std::int64_t timeout_ns,
                                     takt_reply* reply) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(reply); !status) return status;
    const auto result = client->connection.result(goal, time_limit(timeout_ns));
    if (!result) return fail(error_of(result.error()));
    write_struct(reply, to_reply(result->why, result->state, goal));
    return {};
  });
}

std::int32_t takt_motion_client_estop(takt_motion_client* client, std::int32_t category) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (category < 0 || category > 2) return fail(Errc::bad_argument);
    return ask(*client, motion::EmergencyStopMessage{static_cast<takt::StopCategory>(category)}, nullptr);
  });
}

std::int32_t takt_motion_client_reset(takt_motion_client* client) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    return ask(*client, motion::ResetMessage{}, nullptr);
  });
}

std::int32_t takt_motion_client_state(takt_motion_client* client, takt_robot_state* state, std::size_t joints,
                                      double* references, double* measured) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    if (Status status = check_size(state); !status) return status;
    if (joints != takt_motion_client_joints(client)) return fail(takt::trajectory::Errc::wrong_size);
    const auto now = client->connection.state(client->timeout);
    if (!now) return fail(error_of(now.error()));
    if (now->reference.size() != joints || now->measured.size() != joints)
      return fail(motion::Errc::malformed);
    write_struct(state, {0, static_cast<std::int32_t>(now->robot),
                         now->reason == motion::Errc{} ? TAKT_OK : to_status(now->reason),
                         saturated(now->active_goals), takt::from_seconds(now->time).count(), now->cycles,
                         now->overruns});
    if (references != nullptr) std::copy_n(now->reference.data(), joints, references);
    if (measured != nullptr) std::copy_n(now->measured.data(), joints, measured);
    return {};
  });
}

std::int32_t takt_motion_client_send(takt_motion_client* client, const char* request) {
  return guarded([&]() -> Status {
    if (client == nullptr || request == nullptr) return fail(Errc::null_pointer);
    const auto message = motion::parse_client_message(request);
    if (!message) return fail(message.error().why.reason);
    const auto sent = client->connection.send(*message, client->timeout);
    return sent ? Status() : fail(sent.error().error);
  });
}

std::int32_t takt_motion_client_receive(takt_motion_client* client, std::int64_t timeout_ns, char* message,
                                        std::size_t size, std::size_t* length) {
  return guarded([&]() -> Status {
    if (client == nullptr || (message == nullptr && size != 0)) return fail(Errc::null_pointer);
    auto next = client->connection.next(time_limit(timeout_ns));
    if (!next) return fail(next.error().error);
    if (!*next) return fail(Errc::timeout);
    const std::string line = line_of(**next);
    if (length != nullptr) *length = line.size();
    if (line.size() >= size) {
      client->connection.put_back(**std::move(next));
      return fail(Errc::buffer_too_small);
    }
    std::memcpy(message, line.c_str(), line.size() + 1);
    return {};
  });
}
