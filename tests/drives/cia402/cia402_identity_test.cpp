// The identity of CiA 402 drives: of simulated ones, of ones that do not answer, and of ones that lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "drives/cia402/cia402_rig.hpp"
#include "takt/drives/cia402/cia402_identity.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::canopen::Address;
using can::canopen::SdoState;
using drives::Cia402IdentityReader;
namespace sdo = can::canopen::detail;

namespace {

constexpr std::uint8_t node = 3;
constexpr Duration timeout = 10ms;
constexpr std::uint32_t reply_id = can::canopen::sdo_reply_base + node;

using Answer = std::function<std::optional<can::Frame>(const can::Frame& request)>;

/// Reads from a drive that gives these answers, until the end. At most 100 frames.
drives::Cia402Identity read(const Answer& answer, SdoState end = SdoState::done) {
  Cia402IdentityReader reader(node, timeout);
  CHECK(reader.state() == SdoState::idle);
  reader.start();
  Time now{};
  for (int i = 0; i < 100 && reader.state() == SdoState::busy; ++i) {
    now += timeout;
    const auto request = reader.poll(now);
    if (!request || request->data[0] == sdo::abort_command) continue;
    if (const auto reply = answer(*request)) CHECK(reader.receive(*reply));
  }
  CHECK(reader.state() == end);
  return reader.identity();
}

/// An answer of four bytes to whatever number is asked for.
std::optional<can::Frame> number(const can::Frame& request, std::uint32_t value) {
  return sdo::sdo_frame(reply_id, sdo::upload_reply | sdo::expedited_bit | sdo::size_bit,
                        sdo::address_in(request), value);
}

bool asks_for_software(const can::Frame& request) { return sdo::address_in(request) == Address{0x100A, 0}; }

}  // namespace

TEST_CASE("a CiA 402 drive is asked for its identity before it is configured") {
  for (const bool asked : {false, true}) {
    CAPTURE(asked);
    test::Cia402Robot robot({1, 2});
    if (asked) robot.hardware->ask_identity();
    robot.start();
    const std::string identity = "vendor 0x0, product 0x192, revision 0x10000, software simulated 1.0";
    for (std::size_t joint = 0; joint < 2; ++joint)
      CHECK(robot.hardware->identity(joint) == (asked ? identity : ""));
    CHECK(robot.hardware->identity(2).empty());
    const auto uploads = [&robot] {
      return std::ranges::count_if(robot.world.seen, [](const can::Frame& frame) {
        const std::uint16_t index = sdo::address_in(frame).index;
        return (frame.id & ~127U) == can::canopen::sdo_request_base &&
               (frame.data[0] & sdo::command_mask) == sdo::upload_request &&
               (index == 0x1018 || index == 0x100A);
      });
    };
    const auto questions = uploads();
    CHECK(questions >= (asked ? 8 : 0));
    CHECK(questions <= (asked ? 10 : 0));  // the first two, which drives that still boot do not hear
    // Once it has answered, a drive that boots again is not asked again.
    robot.world.drives[0].inject(sim::JointFault::silent);
    robot.run(200ms);
    robot.world.drives[0].inject(sim::JointFault::none);
    robot.run(1s);
    CHECK(uploads() == questions);
    CHECK(robot.hardware->identity(0) == (asked ? identity : ""));
    CHECK(robot.hardware->counters().frames_malformed == 0);
  }
}

TEST_CASE("a drive that answers no question starts all the same, a bounded time later") {
  drives::Cia402Master master({.node = node});
  master.ask_identity();
  Time now{};
  std::optional<Time> configured;
  while (!configured && now < Time{} + 2s) {
    now += 1ms;
    const auto frame = master.service(now);
    if (frame && frame->id == can::canopen::sdo_request_base + node &&
        (frame->data[0] & sdo::command_mask) == sdo::download_request)
      configured = now;
  }
  REQUIRE(configured.has_value());
  CHECK(*configured - Time{} <= drives::Cia402Timing{}.identity + 10ms);
  CHECK(master.state() == DriveState::unknown);
  CHECK(master.faults() == 0);
  CHECK(to_string(master.identity()).empty());
}

TEST_CASE("a drive that answers slowly is configured when the time for its identity is over") {
  drives::Cia402Master master({.node = node});
  master.ask_identity();
  Time now{};
  Time due = Time::max();
  can::Frame pending;
  bool is_configured = false;
  while (!is_configured && now < Time{} + 5s) {
    now += 1ms;
    if (now >= due) {
      CHECK(master.heard_sdo(*number(pending, 7)));
      due = Time::max();
    }
    const auto frame = master.service(now);
    if (!frame || frame->id == can::canopen::nmt_id) continue;
    pending = *frame;
    due = now + 190ms;
    is_configured = (frame->data[0] & sdo::command_mask) == sdo::download_request;
  }
  CHECK(is_configured);
  CHECK(now - Time{} <= drives::Cia402Timing{}.identity + 10ms);
  CHECK(to_string(master.identity()) == "vendor 0x7, product 0x7");
}

TEST_CASE("an answer that is missing ends the questions, one that is refused does not") {
  CHECK(to_string(read([](const can::Frame&) { return std::nullopt; }, SdoState::aborted)).empty());
  const auto refused = read([](const can::Frame& request) -> std::optional<can::Frame> {
    if (sdo::address_in(request) == Address{0x1018, 2}) return number(request, 0x10);
    return sdo::sdo_frame(reply_id, sdo::abort_command, sdo::address_in(request),
                          static_cast<std::uint32_t>(can::canopen::SdoAbort::no_such_object));
  });
  CHECK(to_string(refused) == "product 0x10");
}

TEST_CASE("answers against the rules leave their object unknown") {
  SUBCASE("a number that is too short") {
    const auto said = read([](const can::Frame& request) -> std::optional<can::Frame> {
      const std::uint8_t byte = 9;
      return sdo::expedited_frame(reply_id, sdo::upload_reply, sdo::address_in(request), {&byte, 1});
    });
    CHECK(!said.vendor);
    CHECK(!said.product);
    CHECK(!said.revision);
    CHECK(to_string(said) == "software ?");
  }
  SUBCASE("more bytes than there can be") {
    const auto said = read([](const can::Frame& request) -> std::optional<can::Frame> {
      return sdo::sdo_frame(reply_id, sdo::upload_reply | sdo::size_bit, sdo::address_in(request),
                            0xFFFF'FFFF);
    });
    CHECK(to_string(said).empty());
  }
  SUBCASE("a text without an end") {
    const auto said = read([toggle = false](const can::Frame& request) mutable -> std::optional<can::Frame> {
      if ((request.data[0] & sdo::command_mask) == sdo::upload_segment_request) {
        can::Frame frame = sdo::sdo_frame(reply_id, toggle ? sdo::toggle_bit : 0U, {});
        toggle = !toggle;
        return frame;
      }
      if (!asks_for_software(request)) return number(request, 1);
      return sdo::sdo_frame(reply_id, sdo::upload_reply, sdo::address_in(request));
    });
    CHECK(to_string(said) == "vendor 0x1, product 0x1, revision 0x1");
  }
  SUBCASE("an answer to another object, and to another command") {
    CHECK(to_string(
              read(
                  [](const can::Frame&) {
                    return sdo::sdo_frame(reply_id, sdo::upload_reply | sdo::expedited_bit, {0x6041, 0}, 1);
                  },
                  SdoState::aborted))
              .empty());
    CHECK(to_string(read([](const can::Frame& request) {
            return sdo::sdo_frame(reply_id, sdo::download_reply, sdo::address_in(request), 1);
          })).empty());
  }
}

TEST_CASE("a text is shown without what would do harm to a terminal") {
  drives::Cia402Identity identity;
  const std::string bytes("\x1B[2J 1.0\xFF  \0secret", 18);
  std::copy(bytes.begin(), bytes.end(), identity.software.begin());
  identity.software_length = bytes.size();
  CHECK(to_string(identity) == "software ?[2J 1.0?");
  identity.software_length = 0;
  CHECK(to_string(identity).empty());
}
