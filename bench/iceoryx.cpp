// One message from process to process through iceoryx: half a round trip, with polling as in the other
// benchmarks. It is a separate program because it needs iceoryx' daemon, which bench/shm_iceoryx.sh starts.
#include <array>
#include <cstdio>
#include <iceoryx_posh/popo/publisher.hpp>
#include <iceoryx_posh/popo/subscriber.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <string>
#include <string_view>

#include "two_cores.hpp"

namespace {

using namespace takt::bench;

template <std::size_t Bytes>
struct Payload {
  std::array<std::uint64_t, Bytes / 8> words;
};

/// One channel in each direction, as seen from one of the two processes.
template <class Message>
class Side {
 public:
  /// Argument `run` separates it from earlier runs, whose ends the daemon may not have removed yet.
  Side(const std::string& run, const char* name, const char* to, const char* from)
      : runtime_(iox::runtime::PoshRuntime::initRuntime(name_of<iox::RuntimeName_t>("takt" + run + name))),
        publisher_({"takt", name_of<iox::capro::IdString_t>(run), name_of<iox::capro::IdString_t>(to)}),
        subscriber_({"takt", name_of<iox::capro::IdString_t>(run), name_of<iox::capro::IdString_t>(from)}) {
    while (!publisher_.hasSubscribers() ||
           subscriber_.getSubscriptionState() != iox::SubscribeState::SUBSCRIBED)
      relax();
  }

  void send(const Message& message) {
    publisher_.loan()
        .and_then([&](auto& sample) {
          *sample = message;
          sample.publish();
        })
        .or_else([](auto) { std::abort(); });
  }

  void receive(Message& message) {
    bool received = false;
    while (!received) {
      subscriber_.take().and_then([&](const auto& sample) {
        message = *sample;
        received = true;
      });
    }
  }

 private:
  template <class Name>
  static Name name_of(const std::string& text) {
    return Name(iox::cxx::TruncateToCapacity, text);
  }

  iox::runtime::PoshRuntime& runtime_;
  iox::popo::Publisher<Message> publisher_;
  iox::popo::Subscriber<Message> subscriber_;
};

/// Once per process: iceoryx' runtime exists until the process ends, and cannot be forked.
template <std::size_t Bytes>
double one_way() {
  using Message = Payload<Bytes>;
  constexpr std::size_t chunk = 32;
  constexpr std::size_t chunks = 300;
  const std::string run = std::to_string(getpid());
  const Beside echo(true, [&] {
    Side<Message> side(run, "echo", "back", "there");
    Message message{};
    for (std::size_t i = 0; i < chunk * chunks; ++i) {
      side.receive(message);
      side.send(message);
    }
    usleep(200'000);  // the last answer is still in its memory
  });
  Side<Message> side(run, "asks", "there", "back");
  Message message{};
  std::vector<double> times;
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t j = 0; j < chunk; ++j) {
      side.send(message);
      side.receive(message);
    }
    times.push_back(nanoseconds_since(start) / (2 * chunk));
  }
  return median(times);
}

}  // namespace

/// Prints the result for messages of 8 or 56 bytes in the form that bench/ratios.py reads.
int main(int argc, char** argv) {
  const bool small = argc > 1 && std::string_view(argv[1]) == "8";
  pin(1);
  const double line = line_time();
  const double time = small ? one_way<8>() : one_way<56>();
  std::printf(R"({"name": "shm/process_one_way_%dB/iceoryx", "value": %.1f, "unit": "ns", "line_ns": %.1f})"
              "\n",
              small ? 8 : 56, time, line);
}
