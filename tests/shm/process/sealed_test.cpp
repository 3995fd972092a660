// The same over sealed memory. One process creates and serves it, and the others receive it. Clients of every
// role are killed; their successors receive the memory again. The server is killed too. Its clients continue
// with the memory that they have, until the next server serves a new segment at the same path.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shm/process/exchanges.hpp"
#include "shm/process/killing.hpp"
#include "support/random.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/segment_server.hpp"

using namespace takt;
using namespace takt::test;
using namespace std::chrono_literals;
using platform::Segment;
using platform::SegmentOptions;
using platform::SegmentServer;

namespace {

using Packet = Message<64>;
using Packets = shm::SpscRing<Packet>;
using Newest = shm::BroadcastValue<Packet>;
constexpr std::uint32_t capacity = 64;
constexpr std::size_t clients = 4;

/// Diaries in the segment, from which successors continue.
struct Notes {
  Diary producer;
  Diary consumer;
  Diary writer;
  std::uint64_t generation = 0;  // number of this segment, from 1
};

constexpr std::array wanted = {shm::declare<Packets>("packets", capacity), shm::declare<Newest>("newest"),
                               shm::declare<shm::RawMemory>("notes", sizeof(Notes))};

/// The memory that all processes share, beside the segment.
struct World {
  Ledger ledger;
  Diary server;
  std::array<Diary, clients> client;  // `certain` is the number of the segment in use
};

class Path {
 public:
  Path() : text_("/tmp/takt-test-sealed-" + std::to_string(::getpid())) {}
  ~Path() { std::remove(text_.c_str()); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// For child processes: a failure ends the process.
template <class T>
T value_of(SetupResult<T> result, int otherwise) {
  if (!result) ::_exit(otherwise);
  return std::move(*result);
}

Notes& notes_of(const Segment& segment) {
  return *reinterpret_cast<Notes*>(segment.layout().producer<shm::RawMemory>("notes")->data());
}

std::uint64_t generation_of(const Segment& segment) {
  return reinterpret_cast<const Notes*>(segment.layout().consumer<shm::RawMemory>("notes")->data())
      ->generation;
}

// --------------------------------------------------------------------------------------- clients at owner
// slots work() makes one call of the exchange. Returns whether there was something to do.

class Producing {
 public:
  Producing(Segment& segment, World&)
      : claim_(value_of(segment.producer<Packets>("packets"), 3)), notes_(&notes_of(segment).producer) {
    next();
  }
  bool work() {
    if (!claim_.end.try_push(packet_)) return false;
    ++notes_->certain;
    next();
    return true;
  }

 private:
  void next() { packet_ = Packet::of(++notes_->sequence, notes_->certain); }

  platform::Claim<shm::RingProducer<Packet>> claim_;
  Diary* notes_;
  Packet packet_;
};

class Consuming {
 public:
  Consuming(Segment& segment, World& world)
      : claim_(value_of(segment.consumer<Packets>("packets"), 3)),
        notes_(&notes_of(segment).consumer),
        check_(*notes_, world.ledger, capacity) {}
  bool work() {
    notes_->in_hands = 1;
    Packet packet;
    const bool any = claim_.end.try_pop(packet);
    if (any) check_.see(packet);
    notes_->in_hands = 0;
    return any;
  }

 private:
  platform::Claim<shm::RingConsumer<Packet>> claim_;
  Diary* notes_;
  StreamCheck check_;
};

class Writing {
 public:
  Writing(Segment& segment, World&)
      : claim_(value_of(segment.producer<Newest>("newest"), 3)),
        notes_(&notes_of(segment).writer),
        writer_(*claim_.end) {}
  bool work() {
    writer_.write(Packet::of(++notes_->sequence));
    return true;
  }

 private:
  platform::Claim<Newest*> claim_;
  Diary* notes_;
  Newest::Writer writer_;
};

class Reading {
 public:
  Reading(Segment& segment, World& world)
      : claim_(value_of(segment.consumer<Newest>("newest"), 3)), ledger_(&world.ledger) {}
  bool work() {
    Packet packet;
    if (claim_.end.read_new(packet) != shm::Freshness::new_data) return false;
    if (!packet.whole()) ledger_->complain("torn", packet.sequence);
    if (packet.sequence <= last_) ledger_->complain("not new", packet.sequence);
    last_ = packet.sequence;
    return true;
  }

 private:
  platform::Claim<Newest::Reader> claim_;
  Ledger* ledger_;
  std::uint64_t last_ = 0;
};

/// A server may die before it has answered; then its successor answers.
Segment receive(const std::string& path, const SegmentOptions& options) {
  for (;;) {
    if (auto segment = platform::receive_segment(path, 60s, options)) return std::move(*segment);
  }
}

/// Works in the segment of one server after the other.
template <class Client>
[[noreturn]] void be_client(const std::string& path, World& world, Diary& diary,
                            const SegmentOptions& options = {}) {
  Segment segment = receive(path, options);
  for (;;) {
    Client client(segment, world);
    diary.certain = generation_of(segment);
    std::optional<Segment> next;
    for (Patience patience; !next;) {
      for (int i = 0; i < 2000; ++i, ++diary.calls) {
        const bool worked = client.work();
        worked ? patience.won() : patience.lost();
        if (worked) ++diary.sequence;
      }
      if (segment.owner_slot_status(0, Time{}).alive) continue;
      if (auto found = platform::receive_segment(path, 20ms, options)) next = std::move(*found);
    }
    segment = std::move(*next);
  }
}

/// `sequence` advances while all clients use this segment.
[[noreturn]] void be_server(const std::string& path, World& world) {
  const auto segment = value_of(Segment::create_sealed("test", wanted), 2);
  const std::uint64_t generation = ++world.server.certain;
  notes_of(segment).generation = generation;
  SegmentServer server;
  if (!server.open(path, segment)) ::_exit(3);
  for (;; ++world.server.calls) {
    bool all = true;
    for (const Diary& client : world.client) all = all && client.certain == generation;
    if (all) ++world.server.sequence;
    sleep_for(20us);
  }
}

SegmentOptions only_reads() {
  SegmentOptions options;
  options.access = platform::Access::read_only;
  return options;
}

}  // namespace

TEST_CASE("kill -9: sealed memory, its clients and who serves it") {
  const Path path;
  const Shared<World> world;
  std::vector<Role> roles(clients + 1);
  const auto client = [&]<class Client>(std::size_t i, const char* name, const SegmentOptions& options) {
    Diary& diary = world->client[i];
    roles[i] = {name,
                [&path, &world, &diary, options] { be_client<Client>(path.text(), *world, diary, options); },
                &diary};
  };
  client.operator()<Producing>(0, "producer", {});
  client.operator()<Consuming>(1, "consumer", {});
  client.operator()<Writing>(2, "writer", {});
  client.operator()<Reading>(3, "reader", only_reads());
  roles[clients] = {"server", [&] { be_server(path.text(), *world); }, &world->server};
  kill_at_random(roles, world->ledger, count(40, 10), [&](std::size_t victim) {
    // Without a server, the clients continue to exchange messages, for longer than the queue's contents would
    // last.
    for (std::size_t i = 0; victim == clients && i < clients; ++i) {
      const std::uint64_t before = world->client[i].sequence;
      const auto goes_on = [&] {
        return world->ledger.broken != nullptr || world->client[i].sequence > before + 4 * capacity;
      };
      if (!eventually(goes_on)) return false;
    }
    return true;
  });
  CHECK(verdict(world->ledger) == "");
  MESSAGE(world->server.certain.load() << " segments, one after the other");
}

TEST_CASE("who asks a server for memory that is killed meanwhile is answered by the next") {
  const Path path;
  const Shared<World> world;
  auto random = generator(91);
  std::vector<Child> asking;
  for (Diary& diary : world->client) {
    asking.emplace_back([&]() -> int {
      for (;; ++diary.calls) diary.certain = generation_of(receive(path.text(), {}));
    });
  }
  for (std::size_t round = 0; round < count(20, 10); ++round) {
    Child server([&]() -> int { be_server(path.text(), *world); });
    for (const Diary& diary : world->client) {
      REQUIRE(eventually([&] { return diary.certain == round + 1; }));
    }
    sleep_for(std::chrono::nanoseconds(uniform_int(random, 0, 1'000'000)));
    REQUIRE(server.kill() == killed);
  }
  for (Child& child : asking) CHECK(child.kill() == killed);
}

namespace {

/// Uses both ends of the packets for ever.
[[noreturn]] void use(Segment& segment, Diary& diary) {
  auto producer = value_of(segment.producer<Packets>("packets"), 3);
  auto consumer = value_of(segment.consumer<Packets>("packets"), 3);
  for (Packet packet;; ++diary.calls) {
    (void)producer.end.try_push(Packet::of(1));
    (void)consumer.end.try_pop(packet);
  }
}

/// Tries for ever to truncate the memory and punches holes into it. Returns if truncation succeeds.
int cut(const Segment& segment, Diary& diary) {
  auto random = generator(92);
  const auto size = static_cast<std::int64_t>(segment.layout().size());
  for (;; ++diary.calls) {
    if (::ftruncate(segment.descriptor(), uniform_int(random, 0, size - 1)) == 0) return 1;
    ::fallocate(segment.descriptor(), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
                uniform_int(random, 0, size - 1), uniform_int(random, 1, size));
  }
}

}  // namespace

TEST_CASE("a peer cannot cut off sealed memory that is in use, and its holes kill nobody") {
  const Shared<World> world;
  auto segment = Segment::create_sealed("test", wanted).value();
  Child user([&]() -> int { use(segment, world->client[0]); });
  Child peer([&] { return cut(segment, world->client[1]); });
  for (const std::size_t i : {0u, 1u}) {
    REQUIRE(eventually([&] { return world->client[i].calls > 2'000; }));
  }
  CHECK(peer.kill() == killed);
  CHECK(user.kill() == killed);
}

TEST_CASE("named memory can be cut off by its user, which kills who touches it") {
  const Shared<World> world;
  const std::string name = "test-cut-" + std::to_string(::getpid());
  Child user([&]() -> int {
    auto segment = value_of(Segment::create(name, wanted), 2);
    use(segment, world->client[0]);
  });
  REQUIRE(eventually([&] { return world->client[0].calls > 0; }));
  CHECK(::truncate(("/dev/shm/takt." + name).c_str(), 0) == 0);
  CHECK(user.wait() == 128 + SIGBUS);
  CHECK(Segment::remove(name));
}
