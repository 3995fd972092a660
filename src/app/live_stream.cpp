#include "app/live_stream.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "app/live_encoder.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/platform/web_socket_server.hpp"
#include "takt/platform/worker.hpp"

namespace takt::app {
namespace {

constexpr std::size_t kept_samples = 256;  ///< in the ring, for a thread that paused
constexpr Duration look_for_samples = std::chrono::milliseconds(5);
constexpr Duration between_states = std::chrono::milliseconds(100);
constexpr const char* set_by = "Foxglove";

/// Publishes samples on a Foxglove server.
class FoxgloveFeed {
 public:
  FoxgloveFeed(record::FoxgloveOptions options, LiveRing::Reader samples, LiveEncoder encoder)
      : server_(std::move(options), live_channels()), samples_(samples), encoder_(std::move(encoder)) {}

  void connected(ClientId client, Time now) {
    server_.connected(client, now);
    next_state_ = now;
  }
  void received(ClientId client, MessageKind kind, std::string_view bytes, Time now) {
    server_.received(client, kind, bytes, now);
    next_state_ = now;
  }
  void disconnected(ClientId client, Time now) { server_.disconnected(client, now); }
  Duration poll(Time now) {
    LiveSample sample;
    while (samples_.try_read(sample)) publish(sample, now);
    return std::min(server_.poll(now), look_for_samples);
  }
  [[nodiscard]] std::vector<MessageOutput> take_output() { return server_.take_output(); }

 private:
  void publish(const LiveSample& sample, Time now) {
    encoder_.take(sample);
    server_.tell_time(encoder_.time());
    for (const LiveTopic topic : {LiveTopic::measured, LiveTopic::reference, LiveTopic::loop}) publish(topic);
    if (now < next_state_ && sample.state == last_state_) return;
    next_state_ = now + between_states;
    last_state_ = sample.state;
    for (const LiveTopic topic : {LiveTopic::robot, LiveTopic::buses}) publish(topic);
  }
  void publish(LiveTopic topic) {
    const auto channel = static_cast<std::size_t>(topic);
    if (server_.wants(channel)) server_.publish(channel, encoder_.time(), encoder_.message(topic));
  }

  record::FoxgloveServer server_;
  LiveRing::Reader samples_;
  LiveEncoder encoder_;
  Time next_state_{};
  motion::RobotState last_state_{};
};

/// A Foxglove server and its threads.
class FoxgloveHost {
 public:
  FoxgloveHost(ControllerCommands& commands, const std::string& name, std::int64_t epoch,
               LiveRing::Reader samples, LiveEncoder encoder)
      : feed_(options(commands, name, epoch), samples, std::move(encoder)) {}
  ~FoxgloveHost() {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }
  FoxgloveHost(const FoxgloveHost&) = delete;
  FoxgloveHost& operator=(const FoxgloveHost&) = delete;

  [[nodiscard]] SetupResult<std::uint16_t> open(const LiveOptions& live) {
    platform::WebSocketServerOptions options;
    options.address = live.foxglove->address;
    options.port = live.foxglove->port;
    options.sessions.origins = live.foxglove_origins;
    options.sessions.subprotocols.assign(std::begin(record::foxglove_subprotocols),
                                         std::end(record::foxglove_subprotocols));
    auto opened = server_.open(std::move(options));
    if (opened) thread_ = std::thread([this] { server_.run(feed_); });
    return opened;
  }

 private:
  [[nodiscard]] record::FoxgloveOptions options(ControllerCommands& commands, const std::string& name,
                                                std::int64_t epoch) {
    record::FoxgloveOptions options;
    options.name = "takt " + name;
    options.session = std::to_string(epoch);
    options.parameters = [&commands](const std::vector<component::Assignment>& changes) {
      record::ParameterAnswer answer;
      if (!changes.empty()) answer.mistakes = commands.set(changes, set_by);
      answer.values = commands.parameters();
      return answer;
    };
    options.executor = std::ref(worker_);
    return options;
  }

  platform::Worker worker_;  ///< waits for the cycle
  FoxgloveFeed feed_;
  platform::WebSocketServer server_;
  std::thread thread_;
};

/// Sends samples to PlotJuggler.
class PlotJugglerFeed {
 public:
  PlotJugglerFeed(platform::UdpSocket socket, LiveRing::Reader samples, LiveEncoder encoder)
      : socket_(std::move(socket)), samples_(samples), encoder_(std::move(encoder)) {
    thread_ = std::thread([this] { run(); });
  }
  ~PlotJugglerFeed() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  PlotJugglerFeed(const PlotJugglerFeed&) = delete;
  PlotJugglerFeed& operator=(const PlotJugglerFeed&) = delete;

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_for_samples, [this] { return ended_; })) {
      LiveSample sample;
      while (samples_.try_read(sample)) send(sample);
    }
  }
  /// Without a receiver the socket counts the datagram, and goes on.
  void send(const LiveSample& sample) {
    encoder_.take(sample);
    const std::string text = encoder_.document();
    socket_.send({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  platform::UdpSocket socket_;
  LiveRing::Reader samples_;
  LiveEncoder encoder_;
  std::mutex mutex_;  ///< of ended_
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

std::uint64_t cycles_between_samples(double rate, Duration period) {
  const double cycles = rate > 0 ? std::round(1 / (rate * to_seconds(period))) : 1;
  return static_cast<std::uint64_t>(std::clamp(cycles, 1.0, 1e6));
}

std::int64_t nanoseconds_since_1970() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct LiveStream::Parts {
  Parts(const LiveOptions& options, const robot::RobotDescription& robot, const Devices* devices)
      : tap(ring, devices, cycles_between_samples(options.rate, robot.period)) {}

  LiveRing ring{kept_samples};
  LiveTap tap;
  std::optional<FoxgloveHost> foxglove;
  std::optional<std::uint16_t> foxglove_port;
  std::optional<PlotJugglerFeed> plotjuggler;
};

LiveStream::LiveStream(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
LiveStream::~LiveStream() = default;

SetupResult<std::unique_ptr<LiveStream>> LiveStream::create(const LiveOptions& options,
                                                            const robot::RobotDescription& robot,
                                                            const Devices* devices,
                                                            ControllerCommands& commands, Time now) {
  auto parts = std::make_unique<Parts>(options, robot, devices);
  const std::int64_t epoch = nanoseconds_since_1970() - to_nanoseconds(now);
  const auto samples = [&] { return parts->ring.reader(shm::BroadcastStart::newest); };
  if (options.foxglove) {
    parts->foxglove.emplace(commands, robot.name, epoch, samples(), LiveEncoder(robot, epoch));
    const auto opened = parts->foxglove->open(options);
    if (!opened) return tl::unexpected<SetupError>(opened.error());
    parts->foxglove_port = *opened;
  }
  if (options.plotjuggler) {
    platform::UdpConfig config;
    config.peer = {options.plotjuggler->address, options.plotjuggler->port};
    config.local.address = config.peer.address.find(':') == std::string::npos ? "0.0.0.0" : "::";
    auto socket = platform::UdpSocket::open(config);
    if (!socket) return tl::unexpected<SetupError>(std::move(socket.error()));
    parts->plotjuggler.emplace(std::move(*socket), samples(), LiveEncoder(robot, epoch));
  }
  return std::unique_ptr<LiveStream>(new LiveStream(std::move(parts)));
}

motion::LoopObserver& LiveStream::tap() noexcept { return parts_->tap; }
std::optional<std::uint16_t> LiveStream::foxglove_port() const noexcept { return parts_->foxglove_port; }

}  // namespace takt::app
