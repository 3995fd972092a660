// Both ends of a secure channel restart repeatedly, at any moment of a handshake, each with a new clock. The
// network loses, repeats, changes and reorders datagrams, and an attacker replays all that it heard. The ends
// always establish a session again. No end accepts a frame from before its own start.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "secure/secure_pair.hpp"
#include "support/adversary.hpp"
#include "support/faulty_path.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::secure;
using namespace std::chrono_literals;
using test::Bytes;
using test::SecurePair;

namespace {

const test::PathFaults bad_network{
    .loss = 0.2, .duplicate = 0.1, .corrupt = 0.05, .reorder = 0.1, .delay = 20ms, .jitter = 15ms};
/// Four datagrams have to arrive, and in time, so about one handshake in three succeeds. This many failures
/// happen once in a billion runs.
constexpr std::size_t most_hellos = 50;

/// An end that seals numbered payloads, and the record of these payloads.
struct Said {
  struct One {
    Time at;
    int believed = 0;
  };
  std::vector<One> all;

  Bytes next(Time now) {
    Bytes payload(4);
    ByteWriter(payload).big(static_cast<std::uint32_t>(all.size()));
    all.push_back({now});
    return payload;
  }
};

class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed), there_(bad_network, seed + 1), back_(bad_network, seed + 2) {}

  /// Restarts one end or both.
  void restart() {
    const auto which = test::uniform_int(random_, 0, 3);
    if (which != 0) restart_commander();
    if (which != 1) restart_vehicle();
  }
  void restart_both() {
    restart_commander();
    restart_vehicle();
  }

  void run(Duration duration) {
    for (const Time end = now_ + duration; now_ < end;) tick();
  }

  /// Runs until frames sealed after the last restart have passed both ways. Returns the number of hellos.
  std::size_t come_together() {
    hellos_ = 0;
    while (hellos_ <= most_hellos && !(commanded_ && reported_)) tick();
    return hellos_;
  }

  [[nodiscard]] std::size_t played() const { return played_; }

 private:
  static constexpr Time begin = time_from_nanoseconds(1'000'000'000'000);

  void restart_commander() {
    pair_.commander = SecurePair::new_commander(++boots_);
    heard_from_ = now_;
    commander_clock_ = Duration(test::uniform_int(random_, -1'000'000'000'000, 1'000'000'000'000));
    commanded_ = reported_ = false;
  }
  void restart_vehicle() {
    pair_.vehicle = SecurePair::new_vehicle(++boots_);
    obeyed_from_ = now_;
    vehicle_clock_ = Duration(test::uniform_int(random_, -1'000'000'000'000, 1'000'000'000'000));
    commanded_ = reported_ = false;
  }

  void tick() {
    now_ += 1ms;
    pair_.now = now_ + commander_clock_;
    pair_.vehicle_clock = vehicle_clock_ - commander_clock_;
    if (pair_.commander.next_handshake() <= pair_.now) {
      const Bytes datagram = pair_.commander_handshake();
      hellos_ += !datagram.empty() && datagram[3] == static_cast<std::uint8_t>(EnvelopeKind::hello);
      send(there_, datagram);
    }
    if (ticks_ % 10 == 0 && pair_.commander.established(pair_.now))
      send(there_, pair_.command(commands_.next(now_), any_urgency()));
    if (ticks_ % 10 == 5 && pair_.vehicle.established(pair_.vehicle_now()))
      send(back_, pair_.telemetry(reports_.next(now_)));
    ++ticks_;
    while (const auto datagram = there_.give(now_)) obey(*datagram);
    while (const auto datagram = back_.give(now_)) hear(*datagram);
    if (ticks_ % 7 == 0 && !recorded_.empty()) play(recorded_[random_() % recorded_.size()]);
  }

  [[nodiscard]] Urgency any_urgency() { return random_() % 4 == 0 ? Urgency::stop : Urgency::ordinary; }

  void send(test::FaultyPath& way, const Bytes& datagram) {
    if (datagram.empty()) return;
    way.take(datagram, now_);
    recorded_.push_back(datagram);
  }

  /// Takes a copy, because the recording may grow meanwhile.
  void play(Bytes datagram) {
    ++played_;
    obey(datagram);
    hear(datagram);
  }

  void obey(const Bytes& datagram) {
    const auto opened = pair_.to_vehicle(datagram);
    if (opened && believe(*opened, commands_, obeyed_from_)) commanded_ = true;
    if (pair_.vehicle.next_handshake() <= pair_.vehicle_now()) send(back_, pair_.vehicle_handshake());
  }
  void hear(const Bytes& datagram) {
    const auto opened = pair_.to_commander(datagram);
    if (opened && believe(*opened, reports_, heard_from_)) reported_ = true;
  }

  /// False if the payload is empty.
  bool believe(const Opened& opened, Said& said, Time from) {
    if (opened.payload.empty()) return false;
    REQUIRE(opened.payload.size() == 4);
    const auto number = ByteReader(opened.payload).big<std::uint32_t>();
    REQUIRE(number < said.all.size());
    Said::One& one = said.all[number];
    EXPECT(++one.believed == 1);
    EXPECT(one.at >= from);
    EXPECT((opened.urgency == Urgency::stop || now_ - one.at <= SecurePair::limits.age));
    return one.at >= std::max(heard_from_, obeyed_from_);
  }

  std::mt19937_64 random_;
  test::FaultyPath there_, back_;
  SecurePair pair_;
  Time now_ = begin;
  Duration commander_clock_{}, vehicle_clock_{};
  Time heard_from_ = begin, obeyed_from_ = begin;  ///< start times of commander and vehicle
  Said commands_, reports_;
  bool commanded_ = false, reported_ = false;  ///< since the last restart
  std::vector<Bytes> recorded_;
  std::uint8_t boots_ = 1;
  std::uint64_t ticks_ = 0;
  std::size_t hellos_ = 0, played_ = 0;
};

}  // namespace

TEST_CASE("attack: have both ends restart at once, whenever, and play what was said before") {
  std::map<std::size_t, int> took;
  for (std::size_t run = 0; run < test::count(10); ++run) {
    CAPTURE(run);
    World world(1000 * test::seed() + 10 * run);
    for (int i = 0; i < 60; ++i) {  // mostly during a handshake
      world.restart();
      world.run(Duration(1ms) * (17 * i % 200));
    }
    for (int i = 0; i < 20; ++i) {
      world.restart_both();
      const std::size_t hellos = world.come_together();
      CHECK(hellos <= most_hellos);
      ++took[hellos];
    }
    CHECK(world.played() > 100);
  }
  CHECK(took.size() > 3);  // some hellos were lost that often, and some succeeded at once
}
