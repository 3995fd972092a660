// Fuzzes CANopen with any bytes as frames. Decoders reject them, or re-encode them to the same. An SDO client
// writes nothing beyond its room, and a server ends each sub-block. A master keeps finite feedback and sends
// only frames of the protocol. A simulated drive survives, and its answers are frames that a bus can carry.
#include <array>
#include <span>

#include "support/fuzz_frames.hpp"
#include "takt/can/canopen/emergency.hpp"
#include "takt/can/canopen/nmt.hpp"
#include "takt/can/canopen/sdo_client.hpp"
#include "takt/can/canopen/sdo_server.hpp"
#include "takt/can/canopen/sync.hpp"
#include "takt/can/cia402/process_data.hpp"
#include "takt/drives/cia402/cia402_drive.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using takt::test::require;
namespace canopen = takt::can::canopen;

namespace {

constexpr std::uint8_t node = 5;

void decode_everything(const can::Frame& frame) {
  if (const auto message = canopen::decode_nmt(frame))
    require(*canopen::decode_nmt(*encode(*message)) == *message);
  if (const auto sync = canopen::decode_sync(frame)) require(*canopen::decode_sync(*encode(*sync)) == *sync);
  if (const auto heartbeat = canopen::decode_heartbeat(frame)) {
    require(*canopen::decode_heartbeat(*encode(*heartbeat)) == *heartbeat);
  }
  if (const auto emergency = canopen::decode_emergency(frame)) {
    require(*canopen::decode_emergency(*encode(*emergency)) == *emergency);
    require(!canopen::describe_emergency(emergency->code).empty());
  }
  can::cia402::Feedback feedback;
  require(take_transmit_pdo_1(feedback, frame).has_value() ==
          (frame.is_data() && !frame.extended && !frame.fd && frame.length == can::cia402::pdo_1_length));
  (void)take_transmit_pdo_2(feedback, frame);
}

bool known(const can::Frame& frame) {
  if (!frame.is_data() || frame.fd || frame.extended || frame.length > 8) return false;
  return canopen::decode_nmt(frame) || canopen::decode_sync(frame) || canopen::decode_heartbeat(frame) ||
         (frame.id == canopen::sdo_request_base + node && frame.length == 8) ||
         (frame.id == canopen::pdo_id(canopen::PdoDirection::receive, 1, node) && frame.length == 7);
}

robot::RobotDescription one_drive() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("cia402");
  description.joints.resize(1);
  description.joints[0].board = node;
  description.joints[0].counts_per_radian = -10'000;
  return description;
}

/// Transfers into a small room, restarted after each end. Answers of other nodes are changed to this one, so
/// that a fuzzer need not find the identifier first.
void fuzz_client(std::span<const std::uint8_t> bytes) {
  canopen::SdoClient client(node, Duration(5'000'000));
  std::array<std::uint8_t, 24> memory{};
  const std::array<std::uint8_t, 20> source{};
  constexpr std::size_t room = 16;
  for (Time now{}; !bytes.empty(); now += Duration(1'000'000)) {
    if (client.state() != canopen::SdoState::busy) {
      const canopen::Address object{static_cast<std::uint16_t>(bytes[0] & 3U), 0};
      const bool in_blocks = (bytes[0] & 8U) != 0;
      if ((bytes[0] & 4U) != 0) {
        if (in_blocks)
          client.upload_block(object, std::span(memory).first(room));
        else
          client.upload(object, std::span(memory).first(room));
      } else {
        require((in_blocks ? client.download_block(object, source) : client.download(object, source))
                    .has_value());
      }
    }
    if (const auto frame = client.poll(now)) require(known(*frame));
    can::Frame frame = test::next_frame(bytes);
    if (frame.id >= canopen::sdo_reply_base) frame.id = canopen::sdo_reply_base + node;
    (void)client.receive(frame);
    require(client.received().size() <= room);
    for (std::size_t i = room; i < memory.size(); ++i) require(memory[i] == 0);
  }
}

/// A dictionary whose objects have as many bytes as their index tells.
struct AnySize {
  std::size_t written = 0;
  tl::expected<std::size_t, canopen::SdoAbort> read(canopen::Address object,
                                                    std::span<std::uint8_t> room) noexcept {
    return std::min<std::size_t>(object.index, room.size());
  }
  canopen::SdoAbort write(canopen::Address, std::span<const std::uint8_t> data) noexcept {
    written = data.size();
    return canopen::SdoAbort::none;
  }
};

void fuzz_server(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t capacity = 40;
  canopen::SdoServer<capacity> server(node, 4);
  AnySize dictionary;
  while (!bytes.empty()) {
    can::Frame frame = test::next_frame(bytes);
    if (frame.id >= canopen::sdo_request_base) frame.id = canopen::sdo_request_base + node;
    (void)server.receive(frame, dictionary);
    std::size_t segments = 0;
    while (server.poll()) require(++segments <= (capacity + 6) / 7);
    require(dictionary.written <= capacity);
  }
}

void fuzz_drive(const robot::JointDescription& joint, std::span<const std::uint8_t> bytes) {
  Time now{};
  drives::Cia402Drive drive(node, {.boot_time = Duration(1)}, now, joint);
  while (!bytes.empty()) {
    can::Frame frame = test::next_frame(bytes);
    now += Duration(500'000);
    frame.stamp = now;
    drive.receive(frame);
    (void)drive.accepts(frame);
    drive.advance(now);
    for (int i = 0; i < 32 && drive.next_send() <= now; ++i) {
      const can::Frame sent = drive.take_frame();
      require(can::is_frame_length(sent.length, {}) && sent.id <= can::max_standard_id && sent.is_data());
    }
    require(can::is_finite(drive.position()) && can::is_finite(drive.velocity()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const robot::RobotDescription description = one_drive();
  const std::span<const std::uint8_t> bytes(data, std::min<std::size_t>(size, 4096));
  test::fuzz_hardware<drives::Cia402Hardware<test::ScriptedBus>>(description, bytes, decode_everything,
                                                                 known);
  fuzz_client(bytes);
  fuzz_server(bytes);
  fuzz_drive(description.joints[0], bytes);
  return 0;
}
