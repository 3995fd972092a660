// Random sequences of all events that a client can meet: any bytes, times and commands, in any order.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "support/random.hpp"
#include "takt/vehicle/client.hpp"
#include "vehicle/client_watch.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using test::ClientWatch;
using test::encoded;
using test::status_frame;

namespace {

using Client = VehicleClient<secure::PlainChannel>;
using Random = std::mt19937_64;

ClientConfiguration configuration() {
  ClientConfiguration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  c.drive.limits = {.steering = 0.4, .throttle = 0.8, .reverse = 0.3};
  c.drive.stop.settling = 50ms;
  return c;
}

/// Mistakes of a client's user or author. The watch must notice each of them.
enum class Mistake {
  none,
  clock_stands_still,  ///< the client gets no new time
  recovers_by_itself,  ///< a new client replaces a stopped one
  repeats_for_ever,    ///< the first frame with throttle is repeated
  both_pedals,         ///< the brake is pressed with the throttle
  believes_anybody,    ///< a halted vehicle counts as running
  never_brakes,        ///< a stop only releases the throttle
  forgets_to_stop,     ///< after the last command it continues as if a new one came
};

/// A client, the watch over it, and the random world around both.
class World {
 public:
  World(Random& random, Mistake mistake) : random_(random), mistake_(mistake) {
    watch_.time(now_);
    poll();
  }

  void run(int events) {
    for (int i = 0; i < events && watch_.violated().empty(); ++i) happen();
  }

  [[nodiscard]] std::string_view violated() const { return watch_.violated(); }
  [[nodiscard]] const Client& client() const { return client_; }
  [[nodiscard]] std::size_t frames() const { return watch_.frames(); }
  [[nodiscard]] Duration passed() const { return latest_ - begun; }  ///< by the latest time of the clock
  [[nodiscard]] Duration lasted() const { return lasted_; }  ///< including the times when the clock went back
  [[nodiscard]] bool drove() const { return drove_; }
  [[nodiscard]] int recoveries() const { return recoveries_; }

 private:
  static constexpr Time begun = time_from_nanoseconds(1'000'000'000);

  [[nodiscard]] std::int64_t any(std::int64_t low, std::int64_t high) {
    return test::uniform_int(random_, low, high);
  }

  [[nodiscard]] Time told() const {
    return mistake_ == Mistake::clock_stands_still && drove_ ? frozen_ : now_;
  }

  void happen() {
    pass_time();
    const auto kind = any(0, 99);
    if (kind < 40) {
      hear();
    } else if (kind < 60) {
      drive();
    } else if (kind < 61) {
      const auto category = static_cast<StopCategory>(any(0, 2));
      watch_.stopped(category);
      client_.stop(category, told());
    } else if (kind < 64) {
      if (client_.category() && client_.recover(told())) {
        watch_.recovered();
        ++recoveries_;
      }
    }
    poll();
  }

  void pass_time() {
    const auto kind = any(0, 999);
    const Time before = now_;
    if (kind < 900) {
      now_ += Duration(any(0, 8'000'000));
    } else if (kind < 990) {
      // A clock that goes back, mostly by less than the command timeout.
      const auto back = Duration(any(0, kind < 985 ? 200'000'000 : 1'000'000'000));
      now_ = latest_ - back;
    } else {
      now_ += Duration(any(0, 400'000'000));
    }
    latest_ = std::max(latest_, now_);
    lasted_ += std::max(now_ - before, Duration(0));
    watch_.time(now_);
    if (mistake_ == Mistake::forgets_to_stop && client_.state() == SupervisorState::driving)
      (void)client_.drive({0, 0, 0.1}, now_);
  }

  /// Mostly frames of a vehicle that stands or brakes. Sometimes it is faulty or moves, or the frame is late,
  /// corrupted or random.
  void hear() {
    const auto kind = any(0, 99);
    auto stamp = static_cast<std::uint32_t>((latest_ - begun) / 1ms);
    if (kind < 5) stamp -= static_cast<std::uint32_t>(any(0, 200));
    if (kind == 5) stamp = static_cast<std::uint32_t>(random_());
    auto frame = status_frame(stamp);
    const bool moves = any(0, 3) == 0;
    (void)frame.set(System::traction, "speed", moves ? any(-300, 300) : 0);
    if (any(0, 19) == 0) (void)frame.set(System::traction, "right_speed", any(-100, 100));
    if (any(0, 299) == 0)
      (void)frame.set(static_cast<System>(any(0, 11)), static_cast<SystemState>(any(0, 4)));
    auto bytes = encoded(frame);
    if (kind >= 6 && kind < 12)
      bytes[static_cast<std::size_t>(any(0, 131))] ^= static_cast<std::uint8_t>(1 << any(0, 7));
    if (kind >= 12 && kind < 15) bytes.resize(static_cast<std::size_t>(any(0, 131)));
    if (kind == 15) {
      bytes.resize(static_cast<std::size_t>(any(0, 300)));
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    }
    const auto read = decode_status(bytes);
    if (mistake_ == Mistake::believes_anybody && read) bytes = encoded(believed(*read));
    if (client_.receive(bytes, told())) watch_.heard(*read);
  }

  [[nodiscard]] static StatusFrame believed(StatusFrame frame) {
    for (const auto& layout : frame.layouts().systems()) (void)frame.set(layout.system, SystemState::running);
    return frame;
  }

  void drive() {
    if (mistake_ == Mistake::forgets_to_stop && drove_) return;
    const auto number = [&](double low, double high) {
      return any(0, 199) == 0 ? std::bit_cast<double>(random_()) : test::uniform(random_, low, high);
    };
    DriveCommand command{number(-0.6, 0.6), 0, 0};
    const auto kind = any(0, 9);
    if (kind < 6) command.throttle = number(-1, 1);
    if (kind > 5 && kind < 9) command.brake = number(0, 1);
    if (any(0, 99) == 0) command.brake = number(-2, 2);
    if (!client_.drive(command, told())) return;
    watch_.commanded(command);
    drove_ = true;
    frozen_ = now_;
  }

  void poll() {
    std::array<std::uint8_t, Client::max_datagram> out;
    while (const std::size_t size = client_.poll(told(), out).value()) {
      note_stop();
      watch_.sent(tampered(std::span(out).first(size)));
    }
    note_stop();
  }

  /// The client may stop for a reason of its own.
  void note_stop() {
    if (!client_.category()) return;
    watch_.stopped(*client_.category());
    if (mistake_ == Mistake::recovers_by_itself && drove_) {
      client_ = Client::make(configuration(), secure::PlainChannel{}).value();
    }
  }

  [[nodiscard]] std::span<const std::uint8_t> tampered(std::span<std::uint8_t> datagram) {
    auto frame = decode_control(datagram, ByteOrder::big).value();
    if (mistake_ == Mistake::both_pedals && frame.throttle != 0) frame.brake = 10;
    if (mistake_ == Mistake::repeats_for_ever) {
      if (frame.throttle != 0) repeated_ = frame;
      if (repeated_) frame = *repeated_;
    }
    if (mistake_ == Mistake::never_brakes && client_.category() && !brakes_) frame.brake = 0;
    brakes_ = frame.brake > 0;
    (void)encode_control(frame, datagram, ByteOrder::big);
    return datagram;
  }

  Random& random_;
  Mistake mistake_;
  Time now_ = begun;
  Time latest_ = begun;
  Time frozen_{};
  bool drove_ = false;
  int recoveries_ = 0;
  std::optional<ControlFrame> repeated_;
  bool brakes_ = true;
  Client client_ = Client::make(configuration(), secure::PlainChannel{}).value();
  ClientWatch watch_{configuration()};
  Duration lasted_{};
};

}  // namespace

TEST_CASE(
    "only a fresh command to a running vehicle applies the throttle or releases the brake, and never in a "
    "stop") {
  // One case is a whole sequence. The long run has 10000 of them: --count=10000000.
  auto random = test::generator(704);
  std::map<SupervisorState, int> ended;
  int drove = 0, recovered = 0;
  for (std::size_t i = 0; i < test::count(300, 1000); ++i) {
    CAPTURE(i);
    World world(random, Mistake::none);
    world.run(3000);
    CHECK(world.violated() == "");
    // The keep-alive: one frame per period while poll() is called, plus one for a stop that begins or becomes
    // more urgent.
    const auto& counters = world.client().counters();
    CHECK(counters.sent + counters.missed >= static_cast<std::size_t>(world.passed() / 10ms));
    CHECK(counters.sent <=
          static_cast<std::size_t>(world.lasted() / 10ms) + 1 + 3 * world.client().drive_counters().stops);
    CHECK(world.frames() == counters.sent);
    ++ended[world.client().state()];
    drove += world.drove() ? 1 : 0;
    recovered += world.recoveries();
  }
  // The sequences reach all states.
  CHECK(ended.size() >= 3);
  CHECK(drove > 0);
  CHECK(recovered > 0);
}

TEST_CASE("mistakes that could be made are noticed") {
  struct Case {
    Mistake mistake;
    std::string_view noticed;
  };
  for (const Case& one : {Case{Mistake::clock_stands_still, ""},  // shows in several invariants
                          Case{Mistake::recovers_by_itself, "while the vehicle was stopped"},
                          Case{Mistake::repeats_for_ever, "in a stop"}, Case{Mistake::both_pedals, "at once"},
                          Case{Mistake::believes_anybody, "while something was wrong"},
                          Case{Mistake::never_brakes, "not pressed"},
                          Case{Mistake::forgets_to_stop, "for want of a command"}}) {
    CAPTURE(static_cast<int>(one.mistake));
    auto random = test::generator(705);
    bool is_noticed = false;
    for (int i = 0; i < 1000 && !is_noticed; ++i) {  // in most worlds another invariant fails first
      World world(random, one.mistake);
      world.run(3000);
      const std::string_view violated = world.violated();
      is_noticed = !violated.empty() && violated.find(one.noticed) != std::string_view::npos;
    }
    CHECK(is_noticed);
  }
}
