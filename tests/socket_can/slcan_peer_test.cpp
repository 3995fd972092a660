// Tests our slcan end against the kernel's slcan driver.
#include <fcntl.h>
#include <linux/tty.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <termios.h>

#include "socket_can/rig.hpp"
#include "takt/can/slcan_bus.hpp"

using namespace takt;
using namespace takt::test;
using namespace std::chrono_literals;

namespace {

/// A pseudo terminal whose other end is a CAN interface of the kernel.
class KernelAdapter {
 public:
  KernelAdapter() {
    ::mkdir("/dev/pts", 0755);
    ::mount("devpts", "/dev/pts", "devpts", 0, "ptmxmode=0666");  // fails if it is mounted already
    master_ = ::open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    REQUIRE(master_ >= 0);
    REQUIRE(::unlockpt(master_) == 0);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(slave_ >= 0);
    termios settings{};
    REQUIRE(::tcgetattr(slave_, &settings) == 0);
    ::cfmakeraw(&settings);
    REQUIRE(::tcsetattr(slave_, TCSANOW, &settings) == 0);
    const int discipline = N_SLCAN;
    REQUIRE(::ioctl(slave_, TIOCSETD, &discipline) == 0);
    ifreq request{};
    REQUIRE(::ioctl(slave_, SIOCGIFNAME, &request) == 0);
    interface = request.ifr_name;
    run("ip.full link set " + interface + " up");
  }
  KernelAdapter(const KernelAdapter&) = delete;
  KernelAdapter& operator=(const KernelAdapter&) = delete;
  ~KernelAdapter() {
    ::close(slave_);
    ::close(master_);
  }

  std::size_t write(std::span<const std::uint8_t> bytes) noexcept {
    const ssize_t taken = ::write(master_, bytes.data(), bytes.size());
    return taken > 0 ? static_cast<std::size_t>(taken) : 0;
  }
  std::size_t read(std::span<std::uint8_t> bytes) noexcept {
    const ssize_t got = ::read(master_, bytes.data(), bytes.size());
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

  std::string interface;

 private:
  int master_ = -1;
  int slave_ = -1;
};
static_assert(BytePort<KernelAdapter>);

can::Frame frame_of(std::uint32_t number) {
  const std::array<std::uint8_t, 8> data = {1, 2, 3, 4, 5, 6, 7, static_cast<std::uint8_t>(number)};
  const bool extended = number % 2 == 0;
  can::Frame frame =
      *can::make_frame(extended ? number * 0x10001 : number, std::span(data).first(number % 9), extended);
  if (number % 5 == 0) {
    frame.remote = true;
    frame.data = {};
  }
  return frame;
}

}  // namespace

TEST_CASE("frames cross a serial line to the kernel's slcan and back" NEEDS_CAN) {
  KernelAdapter adapter;
  platform::SteadyClock clock;
  can::SlcanBus ours(adapter, clock);
  platform::SocketCanBus theirs = open_can(adapter.interface);
  for (std::uint32_t number = 1; number <= 100; ++number) {
    const can::Frame frame = frame_of(number);
    REQUIRE(ours.send({&frame, 1}) == 1);
    const auto got = receive_frames(theirs, 1);
    REQUIRE(got.size() == 1);
    CHECK(without_stamp(got[0]) == frame);

    REQUIRE(theirs.send({&frame, 1}) == 1);
    std::array<can::Frame, 1> back;
    REQUIRE(eventually([&] { return ours.receive(back) > 0; }));
    CHECK(without_stamp(back[0]) == frame);
  }
  CHECK(ours.counters() == can::SlcanCounters{.sent = 100, .received = 100});
}
