// Fuzzes the secure channel with an attacker between commander and vehicle. The fuzzer chooses each action.
// The attacker receives all datagrams, delivers any of them to either end at any time, changed or not, and
// makes others. In all cases an end accepts only what the other end sealed, once. Setpoints stay in order.
// After the age limit only a stop is accepted, even if a clock is set meanwhile.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "support/require.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/siphash.hpp"
#include "takt/secure/client_channel.hpp"
#include "takt/secure/server_channel.hpp"

using namespace takt;
using namespace takt::secure;
using takt::test::require;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Commander = ClientChannel<SipHash128>;
using Vehicle = ServerChannel<SipHash128>;

constexpr SecurityLimits limits{};
constexpr std::array<std::uint8_t, 16> secret{1, 2, 3, 4};

/// The messages that one end sealed.
struct Sent {
  Time at;
  Urgency urgency;
  bool believed = false;
};

class Wire {
 public:
  explicit Wire(std::span<const std::uint8_t> script) : script_(script) {}

  void run() {
    while (script_.ok() && script_.remaining() > 0) {
      const auto act = script_.little<std::uint8_t>();
      const auto argument = script_.little<std::uint8_t>();
      switch (act % 12) {
        case 0:
          now_ += std::chrono::milliseconds(argument);
          break;
        case 1:
          pass(std::chrono::milliseconds(50) * argument);
          break;
        case 2:
          handshake(commander_);
          break;
        case 3:
          handshake(vehicle_);
          break;
        case 4:
          seal(commander_, commands_, Urgency::ordinary);
          break;
        case 5:
          seal(commander_, commands_, Urgency::stop);
          break;
        case 6:
          seal(vehicle_, reports_, Urgency::ordinary);
          break;
        case 7:
          deliver(heard(argument));
          break;
        case 8:
          changed(argument);
          break;
        case 9:
          made_up(argument);
          break;
        case 10:
          connect();
          break;
        default:
          restart(argument);
      }
    }
  }

 private:
  static Commander new_commander(std::uint8_t boot) {
    return *Commander::make({1, secret}, {7, boot}, limits);
  }
  static Vehicle new_vehicle(std::uint8_t boot) {
    const SharedKey<SipHash128> key{1, secret};
    return *Vehicle::make(std::span(&key, 1), {8, boot}, limits);
  }

  [[nodiscard]] Bytes heard(std::uint8_t back) const {
    if (heard_.empty()) return {};
    return heard_[heard_.size() - 1 - back % heard_.size()];
  }

  [[nodiscard]] Time time_of(const Commander&) const { return now_ + commander_clock_; }
  [[nodiscard]] Time time_of(const Vehicle&) const { return now_ + vehicle_clock_; }

  void tell_time() {
    require(!commander_.open({}, time_of(commander_)));
    require(!vehicle_.open({}, time_of(vehicle_)));
  }
  void pass(Duration duration) {
    for (const Time end = now_ + duration; now_ < end; tell_time()) {
      now_ = std::min(now_ + limits.silence, end);
    }
  }

  template <class Channel>
  void handshake(Channel& channel) {
    Bytes out(Channel::max_handshake);
    const auto size = channel.poll_handshake(time_of(channel), out);
    require(size.has_value());
    out.resize(*size);
    if (*size > 0) heard_.push_back(out);
  }

  template <class Channel>
  void seal(Channel& channel, std::vector<Sent>& sent, Urgency urgency) {
    Bytes payload(4);
    ByteWriter(payload).big(static_cast<std::uint32_t>(sent.size()));
    Bytes out(payload.size() + Channel::overhead);
    const auto size = channel.seal(payload, urgency, time_of(channel), out);
    require(size.has_value() || !channel.established(time_of(channel)));
    require(!size || urgency == Urgency::stop || channel.established(time_of(channel)));
    if (!size) return;
    sent.push_back({now_, urgency});
    heard_.push_back(out);
  }

  void deliver(const Bytes& datagram) {
    if (const auto opened = vehicle_.open(datagram, time_of(vehicle_))) believe_command(*opened);
    if (const auto opened = commander_.open(datagram, time_of(commander_))) believe(*opened, reports_);
  }

  void believe_command(const Opened& opened) {
    const std::size_t index = believe(opened, commands_);
    if (index == commands_.size()) return;
    require(commands_[index].urgency == opened.urgency);
    if (opened.urgency == Urgency::stop) return;
    require(index >= next_setpoint_);
    next_setpoint_ = index + 1;
  }

  /// The index of the payload; that beyond the last for an empty payload.
  std::size_t believe(const Opened& opened, std::vector<Sent>& sent) {
    if (opened.payload.empty()) return sent.size();
    require(opened.payload.size() == 4);
    const std::size_t index = ByteReader(opened.payload).big<std::uint32_t>();
    require(index < sent.size() && !sent[index].believed);
    sent[index].believed = true;
    const Duration drift = limits.lifetime() / SecurityLimits::drift_divisor;
    const Duration oldest = limits.age + 2 * (drift + limits.disorder());
    require(sent[index].urgency == Urgency::stop || now_ - sent[index].at <= oldest);
    return index;
  }

  void changed(std::uint8_t back) {
    Bytes datagram = heard(back);
    const auto at = script_.little<std::uint16_t>();
    if (datagram.empty()) return;
    if (at % 8 == 0) {
      datagram.resize(at / 8 % datagram.size());
    } else {
      const std::size_t place = at / 8 % datagram.size();
      datagram[place] = static_cast<std::uint8_t>(datagram[place] ^ 1U << at % 8);
    }
    require(!vehicle_.open(datagram, time_of(vehicle_)) && !commander_.open(datagram, time_of(commander_)));
  }

  /// Bytes of the script, alone or after the header of a recorded datagram.
  void made_up(std::uint8_t size) {
    const auto bytes = script_.bytes(std::min<std::size_t>(size, script_.remaining()));
    Bytes datagram = heard(static_cast<std::uint8_t>(size / 4));
    datagram.resize(size % 2 == 0 ? 0 : std::min(datagram.size(), envelope_header));
    datagram.insert(datagram.end(), bytes.begin(), bytes.end());
    if (std::find(heard_.begin(), heard_.end(), datagram) != heard_.end()) return;
    require(!vehicle_.open(datagram, time_of(vehicle_)) && !commander_.open(datagram, time_of(commander_)));
  }

  /// All steps of opening a session without interference.
  void connect() {
    for (int turn = 0; turn < 2; ++turn) {
      handshake(commander_);
      deliver(heard(0));
      handshake(vehicle_);
      deliver(heard(0));
      now_ += std::chrono::milliseconds(1);
    }
  }

  void restart(std::uint8_t which) {
    if (which % 4 >= 2) return set_clock(which);
    ++boots_;
    if (which % 2 == 0) {
      commander_ = new_commander(boots_);
    } else {
      vehicle_ = new_vehicle(boots_);
    }
  }

  /// By more than the largest time that counts as an unordered call or as a pause.
  void set_clock(std::uint8_t how) {
    const Duration step = how % 8 >= 4 ? limits.silence + std::chrono::milliseconds(how)
                                       : -limits.disorder() - std::chrono::milliseconds(how);
    tell_time();
    (how % 2 == 0 ? commander_clock_ : vehicle_clock_) += how >= 128 ? 60 * step : step;
    tell_time();
  }

  ByteReader script_;
  Duration commander_clock_{};
  Duration vehicle_clock_{};
  Time now_ = time_from_nanoseconds(1'000'000'000);
  std::uint8_t boots_ = 1;
  Commander commander_ = new_commander(1);
  Vehicle vehicle_ = new_vehicle(1);
  std::vector<Bytes> heard_;
  std::vector<Sent> commands_;
  std::vector<Sent> reports_;
  std::size_t next_setpoint_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Wire(std::span(data, std::min<std::size_t>(size, 512))).run();
  return 0;
}
