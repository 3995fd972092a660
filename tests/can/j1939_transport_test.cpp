// Tests long J1939 messages: the frames of one transfer as the standard defines them, and every failure. Also
// tests random messages of several devices on a bus that loses frames. Each message arrives completely or is
// reported as lost.
#include "takt/can/j1939_transport.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/j1939_sender.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::j1939;
using namespace std::chrono_literals;

namespace {

constexpr std::uint8_t us = 0x10;
constexpr std::uint8_t them = 0x20;
constexpr std::uint32_t group = 0xFECA;  // active diagnostic trouble codes

using Bytes = std::vector<std::uint8_t>;
using Sender = TransportSender;
using Receiver = TransportReceiver<4>;

Bytes counted(std::size_t length) {
  Bytes bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 1);
  return bytes;
}
Frame management(std::uint8_t source, std::uint8_t destination, std::array<std::uint8_t, 8> data) {
  return *j1939::make_frame({7, pgn_transport_management, source, destination}, data);
}
Frame packet(std::uint8_t source, std::uint8_t destination, std::uint8_t sequence, std::uint8_t fill = 0xAA) {
  std::array<std::uint8_t, 8> data;
  data.fill(fill);
  data[0] = sequence;
  return *j1939::make_frame({7, pgn_transport_data, source, destination}, data);
}
Frame rts(std::uint8_t source, std::uint16_t length, std::uint8_t packets, std::uint8_t most = 0xFF,
          std::uint8_t pgn_low = 0xCA) {
  return management(source, us,
                    {16, static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8), packets,
                     most, pgn_low, 0xFE, 0});
}
Frame bam(std::uint8_t source, std::uint16_t length, std::uint8_t packets) {
  return management(source, 0xFF,
                    {32, static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(length >> 8), packets,
                     0xFF, 0xCA, 0xFE, 0});
}
/// Returns the next answer, which must exist.
Frame answer_of(Receiver& receiver) {
  const auto frame = receiver.next_frame();
  REQUIRE(frame.has_value());
  return *frame;
}

/// Carries frames between one sender and one receiver, without loss, until both are idle.
struct Pair {
  Sender sender{them};
  Receiver receiver{us};
  Time now{};
  std::vector<Frame> seen{};
  std::vector<Bytes> messages{};

  void settle() {
    for (bool busy = true; busy;) {
      busy = false;
      while (const auto frame = sender.next_frame(now)) {
        busy = true;
        seen.push_back(*frame);
        if (const auto event = receiver.receive(*frame, now); event && !event->aborted)
          messages.emplace_back(event->message.begin(), event->message.end());
      }
      while (const auto frame = receiver.next_frame()) {
        busy = true;
        seen.push_back(*frame);
        sender.receive(*frame, now);
      }
    }
  }
};

}  // namespace

TEST_CASE("a message to one device is the frames of the standard") {
  Pair pair;
  const Bytes data = counted(23);
  REQUIRE(pair.sender.start(group, us, data, pair.now).has_value());
  pair.settle();
  const std::vector<Frame> expected = {
      management(them, us, {16, 23, 0, 4, 0xFF, 0xCA, 0xFE, 0}),
      management(us, them, {17, 4, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}),
      *j1939::make_frame({7, pgn_transport_data, them, us},
                         std::array<std::uint8_t, 8>{1, 1, 8, 15, 22, 29, 36, 43}),
      *j1939::make_frame({7, pgn_transport_data, them, us},
                         std::array<std::uint8_t, 8>{2, 50, 57, 64, 71, 78, 85, 92}),
      *j1939::make_frame({7, pgn_transport_data, them, us},
                         std::array<std::uint8_t, 8>{3, 99, 106, 113, 120, 127, 134, 141}),
      *j1939::make_frame({7, pgn_transport_data, them, us},
                         std::array<std::uint8_t, 8>{4, 148, 155, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}),
      management(us, them, {19, 23, 0, 4, 0xFF, 0xCA, 0xFE, 0})};
  CHECK(pair.seen == expected);
  CHECK(pair.messages == std::vector<Bytes>{data});
  CHECK(pair.sender.state() == Sender::State::done);
  CHECK(pair.receiver.open_sessions() == 0);
}

TEST_CASE("a broadcast goes out at one packet in 50 ms and is never answered") {
  Pair pair;
  const Bytes data = counted(1785);
  REQUIRE(pair.sender.start(group, broadcast_address, data, pair.now).has_value());
  for (int i = 0; i <= 255; ++i, pair.now += 50ms) {
    pair.settle();
    CHECK(pair.seen.size() == static_cast<std::size_t>(i + 1));
  }
  CHECK(pair.sender.state() == Sender::State::done);
  CHECK(pair.messages == std::vector<Bytes>{data});
  CHECK(pair.seen[0] == management(them, 0xFF, {32, 0xF9, 6, 255, 0xFF, 0xCA, 0xFE, 0}));
}

TEST_CASE("messages of every length arrive whole") {
  for (std::size_t length = min_transport_length; length <= max_message_length;
       length += length < 40 ? 1 : 97) {
    Pair pair;
    const Bytes data = counted(length);
    REQUIRE(pair.sender.start(group, us, data, pair.now).has_value());
    pair.settle();
    CHECK(pair.messages == std::vector<Bytes>{data});
  }
}

TEST_CASE("a message that cannot be sent is refused") {
  Sender sender(them);
  CHECK(sender.start(group, us, counted(8), {}).error() == Errc::wrong_length);
  CHECK(sender.start(group, us, counted(1786), {}).error() == Errc::payload_too_long);
  CHECK(sender.start(0x40000, us, counted(9), {}).error() == Errc::out_of_range);
  CHECK(sender.start(0xEE01, us, counted(9), {}).error() == Errc::bad_value);
  CHECK(sender.start(group, them, counted(9), {}).error() == Errc::bad_value);
  CHECK(sender.start(group, us, counted(9), {}).has_value());
  CHECK(sender.start(group, us, counted(9), {}).error() == Errc::no_room);
}

TEST_CASE("packets that were lost are asked for again, and not for ever") {
  Receiver receiver(us);
  const auto feed = [&](std::uint8_t sequence) {
    return receiver.receive(packet(them, us, sequence, sequence), {});
  };
  receiver.receive(rts(them, 35, 5), {});
  CHECK(answer_of(receiver) == management(us, them, {17, 5, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}));
  feed(1);
  feed(3);
  feed(4);
  CHECK(!receiver.next_frame());
  feed(5);
  CHECK(answer_of(receiver) == management(us, them, {17, 4, 2, 0xFF, 0xFF, 0xCA, 0xFE, 0}));
  for (const std::uint8_t sequence : Bytes{2, 3, 4}) CHECK(!feed(sequence));
  CHECK(!feed(3));
  CHECK(receiver.counters().duplicates == 1);
  const auto event = feed(5);
  REQUIRE(event.has_value());
  REQUIRE(event->message.size() == 35);
  for (std::size_t i = 0; i < 35; ++i) CHECK(event->message[i] == i / 7 + 1);
  CHECK(answer_of(receiver).data[0] == 19);

  receiver.receive(rts(them, 14, 2), {});
  for (int i = 0; i < 3; ++i) {
    CHECK(answer_of(receiver) == management(us, them, {17, 2, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}));
    CHECK(feed(2).has_value() == (i == 2));
  }
  CHECK(receiver.open_sessions() == 0);
  CHECK(answer_of(receiver) == management(us, them, {255, 5, 0xFF, 0xFF, 0xFF, 0xCA, 0xFE, 0}));
}

TEST_CASE("a receiver asks for no more packets at once than the sender and itself can bear") {
  TransportReceiver<1> receiver(us, {.packets_at_once = 3});
  receiver.receive(rts(them, 70, 10), {});
  CHECK(receiver.next_frame()->data[1] == 3);
  for (std::uint8_t i = 1; i <= 3; ++i) receiver.receive(packet(them, us, i), {});
  const auto next = receiver.next_frame();
  CHECK((next->data[1] == 3 && next->data[2] == 4));
  receiver.receive(packet(them, us, 7), {});  // not requested
  CHECK(receiver.counters().bad == 1);
  receiver.receive(rts(them, 70, 10, 1), {});
  CHECK(receiver.next_frame()->data[1] == 1);
}

TEST_CASE("sizes that lie and packets of nothing are refused and counted") {
  Receiver receiver(us);
  for (const Frame& lie : {rts(them, 8, 2), rts(them, 1786, 255), rts(them, 35, 4), rts(them, 35, 6),
                           rts(them, 0, 0), rts(them, 65535, 255)}) {
    CHECK(!receiver.receive(lie, {}));
    CHECK(answer_of(receiver).data[0] == 255);
  }
  CHECK(!receiver.receive(bam(them, 35, 4), {}));
  CHECK(!receiver.next_frame());
  CHECK(!receiver.receive(packet(them, us, 1), {}));
  CHECK(!receiver.receive(packet(them, 0xFF, 0), {}));
  CHECK(
      !receiver.receive(management(them, us, {32, 35, 0, 5, 0xFF, 0xCA, 0xFE, 0}), {}));  // BAM to one device
  CHECK(!receiver.receive(management(them, 0xFF, {16, 35, 0, 5, 0xFF, 0xCA, 0xFE, 0}), {}));  // an RTS to all
  CHECK(!receiver.receive(management(0xFE, us, {16, 35, 0, 5, 0xFF, 0xCA, 0xFE, 0}), {}));    // null address
  CHECK(!receiver.receive(management(them, us, {99, 0, 0, 0, 0, 0, 0, 0}), {}));
  CHECK(receiver.counters().bad == 13);
  CHECK(receiver.open_sessions() == 0);
  CHECK(!receiver.receive(management(them, 0x33, {16, 35, 0, 5, 0xFF, 0xCA, 0xFE, 0}),
                          {}));  // for another device
  CHECK(receiver.counters().bad == 13);
}

TEST_CASE("two sources, and the two messages of one source, do not mix") {
  Receiver receiver(us);
  for (const std::uint8_t source : Bytes{0x20, 0x30}) {
    receiver.receive(rts(source, 14, 2), {});
    receiver.receive(bam(source, 14, 2), {});
  }
  CHECK(receiver.open_sessions() == 4);
  std::uint8_t fill = 1;
  std::vector<std::uint8_t> first_bytes;
  for (const std::uint8_t sequence : Bytes{1, 2}) {
    for (const std::uint8_t source : Bytes{0x20, 0x30}) {
      for (const std::uint8_t destination : Bytes{us, broadcast_address}) {
        const auto event = receiver.receive(packet(source, destination, sequence, fill++), {});
        REQUIRE(event.has_value() == (sequence == 2));
        if (!event) continue;
        CHECK(event->source == source);
        CHECK(event->destination == destination);
        first_bytes.push_back(event->message[0]);
        CHECK(event->message[7] == event->message[0] + 4);
      }
    }
  }
  CHECK(first_bytes == std::vector<std::uint8_t>{1, 2, 3, 4});
}

TEST_CASE("a source that restarts its message loses the old one; a second message waits") {
  Receiver receiver(us);
  receiver.receive(bam(them, 21, 3), {});
  receiver.receive(packet(them, 0xFF, 1), {});
  const auto event = receiver.receive(bam(them, 14, 2), {});
  REQUIRE(event.has_value());
  CHECK(event->aborted == AbortReason::replaced);
  CHECK(!receiver.receive(packet(them, 0xFF, 1), {}));
  CHECK(receiver.receive(packet(them, 0xFF, 2), {})->message.size() == 14);

  receiver.receive(rts(them, 21, 3), {});
  CHECK(answer_of(receiver).data[0] == 17);
  CHECK(!receiver.receive(rts(them, 21, 3, 0xFF, 0xCB), {}));
  CHECK(answer_of(receiver) == management(us, them, {255, 1, 0xFF, 0xFF, 0xFF, 0xCB, 0xFE, 0}));
  CHECK(receiver.receive(rts(them, 21, 3), {})->aborted == AbortReason::replaced);
  CHECK(receiver.open_sessions() == 1);
}

TEST_CASE("the packets of a message whose announcement was lost do not complete the one before") {
  Receiver receiver(us);
  receiver.receive(bam(them, 14, 2), {});
  receiver.receive(packet(them, 0xFF, 1), {});
  // The second packet and the next announcement get lost.
  CHECK(receiver.receive(packet(them, 0xFF, 1), {})->aborted == AbortReason::duplicate);
  CHECK(!receiver.receive(packet(them, 0xFF, 2), {}));
  CHECK(receiver.counters().messages == 0);
}

TEST_CASE("a flood of sessions is refused and counted, and passes") {
  Receiver receiver(us);
  for (unsigned source = 0x20; source < 0x60; ++source) {
    receiver.receive(rts(static_cast<std::uint8_t>(source), 1785, 255), {});
    receiver.receive(bam(static_cast<std::uint8_t>(source), 1785, 255), {});
  }
  CHECK(receiver.open_sessions() == 4);
  CHECK(receiver.counters().refused == 124);
  CHECK(receiver.counters().unsent == 64 - 10);  // the answers were not fetched
  std::size_t aborted = 0;
  while (const auto event = receiver.poll(Time{} + time_t2 + 1ns))
    aborted += event->aborted == AbortReason::timeout;
  CHECK(aborted == 4);
  CHECK(receiver.open_sessions() == 0);
}

TEST_CASE("a silent peer is abandoned at the timeouts of the standard") {
  Receiver receiver(us);
  receiver.receive(rts(them, 21, 3), {});
  CHECK(!receiver.poll(Time{} + time_t2));
  CHECK(receiver.poll(Time{} + time_t2 + 1ns)->aborted == AbortReason::timeout);
  receiver.receive(rts(them, 21, 3), {});
  receiver.receive(packet(them, us, 1), Time(1s));
  CHECK(!receiver.poll(Time(1s) + time_t1));
  CHECK(receiver.poll(Time(1s) + time_t1 + 1ns).has_value());
  for (int i = 0; i < 50; ++i) receiver.receive(packet(them, us, 1), Time(3s));
  receiver.receive(bam(them, 21, 3), Time(3s));
  CHECK(receiver.poll(Time(3s) + time_t1 + 1ns).has_value());

  Sender sender(them);
  REQUIRE(sender.start(group, us, counted(21), {}).has_value());
  CHECK(sender.next_frame({}).has_value());
  sender.poll(Time{} + time_t3);
  CHECK(sender.state() == Sender::State::waiting);
  sender.receive(management(us, them, {17, 0, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}), Time(1s));  // wait
  sender.poll(Time(1s) + time_t4);
  CHECK(sender.is_busy());
  sender.poll(Time(1s) + time_t4 + 1ns);
  CHECK(sender.state() == Sender::State::failed);
  CHECK(sender.reason() == AbortReason::timeout);
  CHECK(sender.next_frame(Time(3s)) == management(them, us, {255, 3, 0xFF, 0xFF, 0xFF, 0xCA, 0xFE, 0}));
}

TEST_CASE("a peer that sends slowly, but within the timeouts, is abandoned in the end") {
  const auto last_until = [](Duration between, bool loses) {
    TransportReceiver<1> receiver(us);
    receiver.receive(rts(them, 1785, 255), {});
    Time now{};
    for (std::uint8_t next = 1; receiver.open_sessions() > 0;) {
      while (const auto answer = receiver.next_frame()) next = answer->data[2];
      now += between;
      if (receiver.poll(now)) break;
      receiver.receive(packet(them, us, next), now);
      next = static_cast<std::uint8_t>(next + (loses && next % 16 == 1 ? 2 : 1));
    }
    return std::pair(now.time_since_epoch(), receiver.counters().messages);
  };
  CHECK(last_until(time_tr, false) == std::pair(255 * time_tr, std::uint64_t{1}));
  CHECK(last_until(time_t1, false) == std::pair(Duration(52'500ms), std::uint64_t{0}));
  CHECK(last_until(time_t1, true).first < 100s);
  CHECK(last_until(time_t1, true).second == 0);
}

TEST_CASE("a receiver that asks for nonsense is given up") {
  const auto after = [](std::uint8_t count, std::uint8_t first) {
    Sender sender(them);
    REQUIRE(sender.start(group, us, counted(35), {}).has_value());
    CHECK(sender.next_frame({}).has_value());
    sender.receive(management(us, them, {17, count, first, 0xFF, 0xFF, 0xCA, 0xFE, 0}), {});
    return sender;
  };
  CHECK(after(1, 0).reason() == AbortReason::other);
  CHECK(after(6, 1).state() == Sender::State::failed);
  CHECK(after(1, 2).state() == Sender::State::failed);
  CHECK(after(255, 255).state() == Sender::State::failed);
  Sender twice = after(5, 1);
  twice.receive(management(us, them, {17, 5, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}), {});
  CHECK(twice.reason() == AbortReason::cts_while_sending);
  Sender early = after(2, 1);
  early.receive(management(us, them, {19, 35, 0, 5, 0xFF, 0xCA, 0xFE, 0}), {});
  CHECK(early.state() == Sender::State::failed);
  Sender aborted = after(2, 1);
  aborted.receive(management(us, them, {255, 2, 0xFF, 0xFF, 0xFF, 0xCA, 0xFE, 0}), {});
  CHECK(aborted.reason() == AbortReason::resources);
  CHECK(!aborted.next_frame({}));
  Sender endless = after(1, 1);
  for (int i = 0; i < 20 && endless.is_busy(); ++i) {
    while (endless.next_frame({})) {
    }
    endless.receive(management(us, them, {17, 1, 1, 0xFF, 0xFF, 0xCA, 0xFE, 0}), {});
  }
  CHECK(endless.reason() == AbortReason::retransmits);
  Sender others = after(2, 1);
  others.receive(management(0x33, them, {255, 2, 0xFF, 0xFF, 0xFF, 0xCA, 0xFE, 0}), {});  // another device
  others.receive(management(us, them, {255, 2, 0xFF, 0xFF, 0xFF, 0xCB, 0xFE, 0}), {});    // another message
  CHECK(others.is_busy());
}

/// Whether each packet of a broadcast is one of the sender's messages so far. Broadcasts have neither an
/// acknowledgement nor a number. Packets of two may form one message if the frames between them are lost. A
/// receiver of SAE J1939-21 cannot see that.
bool is_of_sent_packets(std::span<const std::uint8_t> message, const std::vector<Bytes>& sent) {
  for (std::size_t begin = 0; begin < message.size(); begin += 7) {
    const auto packet = message.subspan(begin, std::min<std::size_t>(7, message.size() - begin));
    const bool found = std::any_of(sent.begin(), sent.end(), [&](const Bytes& one) {
      return one.size() >= begin + packet.size() &&
             std::equal(packet.begin(), packet.end(), one.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    if (!found) return false;
  }
  return true;
}

TEST_CASE("over a bus that loses frames each message arrives whole, or its end is said") {
  for (std::size_t run = 0; run < test::count(60); ++run) {
    auto random = test::generator(6700 + run);
    const double loss = run % 3 == 0 ? 0 : test::uniform(random, 0, 0.05);
    std::array<Sender, 4> senders = {Sender(0x20), Sender(0x20), Sender(0x30), Sender(0x40)};
    Receiver receiver(us);
    std::array<std::vector<Bytes>, 4> sent;
    std::map<std::pair<std::uint8_t, bool>, std::size_t> index = {
        {{0x20, false}, 0}, {{0x20, true}, 1}, {{0x30, false}, 2}, {{0x40, true}, 3}};
    std::array<std::size_t, 4> arrived{};
    std::array<std::size_t, 4> ended{};
    const auto note = [&](const TransportEvent& event) {
      const std::size_t i = index.at({event.source, event.destination == broadcast_address});
      if (event.aborted) {
        ++ended[i];
        return;
      }
      const Bytes& last = sent[i].back();
      const bool is_whole = std::equal(event.message.begin(), event.message.end(), last.begin(), last.end());
      const bool to_all = event.destination == broadcast_address;
      REQUIRE((is_whole || (to_all && loss > 0 && is_of_sent_packets(event.message, sent[i]))));
      ++arrived[i];
    };
    const auto lost = [&] { return test::uniform(random, 0, 1) < loss; };
    std::array<std::size_t, 4> confirmed{};
    std::array<std::size_t, 4> started{};
    std::array<bool, 4> running{};
    Time now{};
    const auto carry = [&] {
      for (std::size_t i = 0; i < senders.size(); ++i) {
        senders[i].poll(now);
        if (const auto frame = senders[i].next_frame(now); frame && !lost()) {
          if (const auto event = receiver.receive(*frame, now)) note(*event);
        }
        if (!running[i] || senders[i].is_busy()) continue;
        running[i] = false;
        confirmed[i] += senders[i].state() == Sender::State::done;
      }
      while (const auto event = receiver.poll(now)) note(*event);
      while (const auto frame = receiver.next_frame()) {
        for (Sender& sender : senders) {
          if (!lost()) sender.receive(*frame, now);
        }
      }
      now += 10ms;
    };
    while (now < Time(60s)) {
      for (std::size_t i = 0; i < senders.size(); ++i) {
        if (running[i] || random() % 20 != 0) continue;
        Bytes& message = sent[i].emplace_back(9 + random() % 300);
        for (std::uint8_t& byte : message) byte = static_cast<std::uint8_t>(random());
        const bool to_all = i % 2 == 1;
        REQUIRE(senders[i].start(group, to_all ? broadcast_address : us, message, now).has_value());
        running[i] = true;
        ++started[i];
      }
      carry();
    }
    for (int i = 0; i < 3000; ++i) carry();
    CHECK(receiver.open_sessions() == 0);
    for (std::size_t i = 0; i < senders.size(); ++i) {
      CHECK(!senders[i].is_busy());
      CHECK(started[i] > 0);
      if (i % 2 == 0) CHECK(confirmed[i] <= arrived[i]);  // a confirmed message has arrived
      CHECK(arrived[i] + ended[i] <= started[i]);
      if (loss == 0) CHECK((arrived[i] == started[i] && confirmed[i] == started[i]));
    }
  }
}

TEST_CASE("nothing of it allocates or waits") {
  Pair pair;
  pair.seen.reserve(1000);
  pair.messages.reserve(0);
  const Bytes data = counted(1785);
  std::size_t arrived = 0;
  test::RtGuard guard;
  static_cast<void>(pair.sender.start(group, us, data, pair.now));
  while (pair.sender.is_busy()) {
    while (const auto frame = pair.sender.next_frame(pair.now)) {
      const auto event = pair.receiver.receive(*frame, pair.now);
      arrived += event && event->message.size() == data.size();
    }
    while (const auto frame = pair.receiver.next_frame()) pair.sender.receive(*frame, pair.now);
    pair.sender.poll(pair.now);
    pair.now += 1ms;
  }
  CHECK(guard.report() == "");
  CHECK(arrived == 1);
}
