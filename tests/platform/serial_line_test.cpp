// A serial line on a pseudo terminal. Bytes arrive unchanged, a full line accepts nothing instead of waiting,
// and a lost other end is reported.
#include "takt/platform/serial_line.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <string>

#include "takt/can/slcan_bus.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::platform;

namespace {

void wait_for_bytes(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  REQUIRE(::poll(&entry, 1, 10'000) == 1);
}

/// The other end of the line.
class PseudoTerminal {
 public:
  PseudoTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(master_ >= 0);
    REQUIRE(::grantpt(master_) == 0);
    REQUIRE(::unlockpt(master_) == 0);
    path = ::ptsname(master_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() { close(); }

  void close() {
    if (master_ >= 0) ::close(master_);
    master_ = -1;
  }
  void write(const std::string& text) const {
    REQUIRE(::write(master_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string read(std::size_t size) const {
    std::string text(size, '\0');
    for (std::size_t got = 0; got < size;) {
      wait_for_bytes(master_);
      const ssize_t more = ::read(master_, text.data() + got, size - got);
      REQUIRE(more > 0);
      got += static_cast<std::size_t>(more);
    }
    return text;
  }

  std::string path;

 private:
  int master_;
};

}  // namespace

TEST_CASE("every byte crosses a serial line unchanged, both ways") {
  const PseudoTerminal far;
  auto line = SerialLine::open(far.path, 921600);
  REQUIRE(line.has_value());
  std::array<std::uint8_t, 256> all{};
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  CHECK(line->write(all) == all.size());
  CHECK(far.read(all.size()) == std::string(all.begin(), all.end()));

  far.write(std::string(all.begin(), all.end()));
  std::array<std::uint8_t, 256> got{};
  for (std::size_t count = 0; count < got.size();) {
    wait_for_bytes(line->descriptor());
    count += line->read(std::span(got).subspan(count));
  }
  CHECK(got == all);
  CHECK(line->read(got) == 0);
  CHECK(line->status().has_value());
}

TEST_CASE("a line that is full takes no more and does not wait") {
  const PseudoTerminal far;
  auto line = SerialLine::open(far.path, 115200);
  REQUIRE(line.has_value());
  const std::array<std::uint8_t, 1000> some{};
  std::size_t taken = 0;
  while (const std::size_t more = line->write(some)) taken += more;
  CHECK(taken > 0);
  CHECK(line->status().has_value());
  CHECK(far.read(taken).size() == taken);
}

TEST_CASE("a line that lost its other end says so, and goes on saying it") {
  PseudoTerminal far;
  auto line = SerialLine::open(far.path, 115200);
  REQUIRE(line.has_value());
  far.close();
  std::array<std::uint8_t, 8> bytes{};
  CHECK(line->read(bytes) == 0);
  CHECK(line->status().error() == Errc::connection_closed);
  CHECK(line->write(bytes) == 0);
  CHECK(line->status().error() == Errc::connection_closed);
}

TEST_CASE("files that are no serial lines, and impossible settings, are refused with the reason") {
  const PseudoTerminal far;
  const auto nowhere = SerialLine::open("/dev/no_such_line", 115200);
  REQUIRE(!nowhere.has_value());
  CHECK(nowhere.error().error == Errc::no_such_serial_line);
  CHECK(nowhere.error().message.find("No such file") != std::string::npos);
  CHECK(SerialLine::open("/dev/null", 115200).error().message.find("not a serial line") != std::string::npos);
  CHECK(SerialLine::open(far.path, 12345).error().message.find("12345") != std::string::npos);
}

TEST_CASE("an open line is busy, even for root, until it is closed") {
  const PseudoTerminal far;
  {
    const auto line = SerialLine::open(far.path, 115200);
    REQUIRE(line.has_value());
    const auto second = SerialLine::open(far.path, 115200);
    REQUIRE(!second.has_value());
    CHECK(second.error().error == Errc::serial_line_busy);
    CHECK(second.error().message.find("fuser -v " + far.path) != std::string::npos);
  }
  CHECK(SerialLine::open(far.path, 115200).has_value());
}

TEST_CASE("a CAN bus runs over a serial line") {
  const PseudoTerminal far;
  auto line = SerialLine::open(far.path, 1000000);
  REQUIRE(line.has_value());
  SteadyClock clock;
  can::SlcanBus bus(*line, clock);
  REQUIRE(bus.open(1'000'000).has_value());
  const can::Frame frame = *can::make_frame(0x123, std::array<std::uint8_t, 2>{0xDE, 0xAD});
  CHECK(bus.send({&frame, 1}) == 1);
  CHECK(far.read(19) == "C\rC\rS8\rO\rt1232DEAD\r");
  far.write("\r\r\r\rz\rt3212AABB\r");
  std::array<can::Frame, 4> frames;
  std::size_t count = 0;
  while (count == 0) {
    wait_for_bytes(line->descriptor());
    count = bus.receive(frames);
  }
  CHECK(frames[0].id == 0x321);
}
