// Fuzzes the data of a CAN socket with any bytes: a frame of any size and its control messages. A parsed
// frame is valid, is written as it was read, and if it is an error frame, can be decoded as a report.
#include <span>

#include "platform/kernel_frame.hpp"
#include "support/fuzz_frames.hpp"
#include "takt/can/bus_state.hpp"

using namespace takt;
using namespace takt::platform::detail;
using takt::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  const std::size_t frame_size = std::min<std::size_t>(data[0], bytes.size());
  const Ancillary told = read_ancillary(bytes.subspan(frame_size));
  if (told.software_stamp) require(*told.software_stamp > 0);
  if (told.hardware_stamp) require(*told.hardware_stamp > 0);

  const auto frame = from_kernel(bytes.first(frame_size));
  if (!frame) return 0;
  require(can::is_frame_length(frame->length, {.fd = frame->fd}));
  require(frame->id <= (frame->extended || frame->error ? can::max_extended_id : can::max_standard_id));
  KernelFrame written{};
  const std::size_t written_size = to_kernel(*frame, written);
  if (frame->error) {
    require(written_size == 0);
    const auto report = can::decode_bus_report(*frame);
    if (report) require(*can::decode_bus_report(can::make_error_frame(*report)) == *report);
  } else {
    require(written_size == frame_size);
    require(*from_kernel(std::span<const std::uint8_t>(written).first(written_size)) == *frame);
  }
  return 0;
}
