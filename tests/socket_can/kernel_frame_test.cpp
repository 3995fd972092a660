// Tests kernel frames and control messages byte by byte. Among them are hardware stamps, which no emulated
// controller has.
#include <doctest/doctest.h>

#include <vector>

#include "platform/kernel_frame.hpp"

using namespace takt;
using namespace takt::platform::detail;

namespace {

template <class T>
void append_message(std::vector<std::uint8_t>& control, int type, const T& value) {
  const std::size_t start = control.size();
  control.resize(start + CMSG_SPACE(sizeof value));
  cmsghdr header{};
  header.cmsg_len = CMSG_LEN(sizeof value);
  header.cmsg_level = SOL_SOCKET;
  header.cmsg_type = type;
  std::memcpy(&control[start], &header, sizeof header);
  std::memcpy(&control[start + CMSG_LEN(0)], &value, sizeof value);
}

}  // namespace

TEST_CASE("a frame's bytes are those of the kernel's structs") {
  const std::array<std::uint8_t, 2> data = {0xAB, 0xCD};
  KernelFrame bytes{};
  REQUIRE(to_kernel(can::make_frame(0x12345678, data, true).value(), bytes) == 16);
  can_frame classic{};
  std::memcpy(&classic, bytes.data(), sizeof classic);
  CHECK(classic.can_id == (0x12345678 | CAN_EFF_FLAG));
  CHECK(classic.len == 2);
  CHECK(classic.data[1] == 0xCD);
  REQUIRE(to_kernel(can::make_fd_frame(0x123, data).value(), bytes) == 72);
  canfd_frame fd{};
  std::memcpy(&fd, bytes.data(), sizeof fd);
  CHECK(fd.flags == CANFD_BRS);
  CHECK(fd.can_id == 0x123);
}

TEST_CASE("bytes that are no frame are refused by name") {
  KernelFrame bytes{};
  const std::span<const std::uint8_t> all(bytes);
  const auto error_with = [&](std::uint32_t id, std::uint8_t length, std::size_t size) {
    std::memcpy(bytes.data(), &id, sizeof id);
    bytes[4] = length;
    const auto frame = from_kernel(all.first(size));
    REQUIRE_FALSE(frame.has_value());
    return frame.error();
  };
  for (const std::size_t size : {0U, 15U, 17U, 71U}) CHECK(error_with(1, 0, size) == can::Errc::wrong_length);
  CHECK(error_with(1, 9, 16) == can::Errc::wrong_length);
  CHECK(error_with(1, 63, 72) == can::Errc::wrong_length);
  CHECK(error_with(1, 255, 72) == can::Errc::wrong_length);
  CHECK(error_with(0x800, 0, 16) == can::Errc::id_too_large);
  CHECK(error_with(1 | CAN_RTR_FLAG, 0, 72) == can::Errc::wrong_format);
  CHECK(error_with(1 | CAN_ERR_FLAG, 8, 72) == can::Errc::wrong_format);
}

TEST_CASE("stamps and drops stand beside a frame, each if it is there") {
  std::vector<std::uint8_t> control;
  CHECK_FALSE(read_ancillary(control).software_stamp);
  scm_timestamping stamps{};
  stamps.ts[0] = {1'795'208'238, 156'435'000};
  stamps.ts[2] = {77, 5};
  append_message(control, SO_RXQ_OVFL, std::uint32_t{12});
  append_message(control, SCM_TIMESTAMPING, stamps);
  const Ancillary told = read_ancillary(control);
  CHECK(told.dropped == 12U);
  CHECK(told.software_stamp == 1'795'208'238'156'435'000);
  CHECK(told.hardware_stamp == 77'000'000'005);

  // Truncated at any point, nothing is read beyond the end.
  for (std::size_t size = 0; size < control.size(); ++size) {
    const std::vector<std::uint8_t> part(control.begin(),
                                         control.begin() + static_cast<std::ptrdiff_t>(size));
    const Ancillary less = read_ancillary(part);
    CHECK(less.dropped.has_value() == (size >= CMSG_LEN(sizeof(std::uint32_t))));
    CHECK_FALSE(less.hardware_stamp.has_value());
  }
  stamps.ts[0] = {5, 2'000'000'000};  // an invalid stamp
  stamps.ts[2] = {};
  control.clear();
  append_message(control, SCM_TIMESTAMPING, stamps);
  CHECK_FALSE(read_ancillary(control).software_stamp);
  CHECK_FALSE(read_ancillary(control).hardware_stamp);
}
