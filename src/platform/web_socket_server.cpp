#include "takt/platform/web_socket_server.hpp"

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/client_acceptor.hpp"
#include "platform/send_queue.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using asio::ip::tcp;

// Bytes per read: bounds how long one client occupies the thread.
constexpr std::size_t peer_chunk = std::size_t{16} << 10;
constexpr Duration peer_farewell =
    std::chrono::seconds(1);  // time for a closed client to read its last bytes
constexpr Duration peer_check = std::chrono::milliseconds(50);

/// One connection.
struct WebSocketPeer {
  WebSocketPeer(tcp::socket&& connected, const WebSocketServerOptions& options, Time now)
      : socket(std::move(connected)),
        codec(options.sessions),
        queue(options.max_samples, options.max_output),
        deadline(now + options.handshake),
        last_heard(now),
        next_ping(now + options.ping_after) {}

  tcp::socket socket;
  WebSocketSession codec;
  SendQueue queue;
  Time deadline;  ///< of the handshake; later, of the farewell
  Time last_heard;
  Time next_ping;
  bool is_member = false;  ///< connected for the service
  bool is_leaving = false;
  bool waits_to_write = false;
  bool said_goodbye = false;  ///< the sending side is shut down
};

}  // namespace

struct WebSocketServer::Impl {
  asio::io_context io{1};
  ClientAcceptor acceptor{io};
  asio::steady_timer poll_timer{io};
  WebSocketServerOptions options;
  SteadyClock clock;
  AnyService* service = nullptr;
  std::unordered_map<ClientId, WebSocketPeer> sessions;
  ClientId last_client = 0;
  Time next_poll = Time::max();
  Time next_deadline_check{};
  std::array<char, peer_chunk> chunk{};

  [[nodiscard]] WebSocketPeer* find(ClientId client) {
    const auto found = sessions.find(client);
    return found == sessions.end() ? nullptr : &found->second;
  }

  // ---- connections ----

  void welcome(tcp::socket&& socket) {
    if (sessions.size() >= options.max_clients) return;  // the destructor of `socket` closes the connection
    const ClientId client = ++last_client;
    sessions.try_emplace(client, std::move(socket), options, clock.now());
    wait_to_read(client);
  }

  /// Disconnects the client from the service. The connection stays open until its output is sent.
  void leave(ClientId client) {
    WebSocketPeer& session = *find(client);
    if (std::exchange(session.is_leaving, true)) return;
    const Time now = clock.now();
    session.deadline = now + peer_farewell;
    if (std::exchange(session.is_member, false)) service->disconnected(client, now);
    schedule_poll(now);
  }

  void drop(ClientId client) {
    if (find(client) == nullptr) return;
    leave(client);
    sessions.erase(client);
  }

  // ---- input ----

  void wait_to_read(ClientId client) {
    find(client)->socket.async_wait(tcp::socket::wait_read, [this, client](const asio::error_code& error) {
      if (!error) read(client);
    });
  }

  void read(ClientId client) {
    WebSocketPeer* session = find(client);
    if (session == nullptr) return;
    asio::error_code error;
    const std::size_t count = session->socket.read_some(asio::buffer(chunk), error);
    const bool is_early = error == asio::error::would_block || error == asio::error::try_again ||
                          error == asio::error::interrupted;
    if (error && !is_early) {
      drop(client);
      return poll_service();
    }
    if (!error && !session->is_leaving) {
      take_bytes(client, *session, std::string_view(chunk.data(), count));
      poll_service();
    }
    if (find(client) != nullptr) wait_to_read(client);
  }

  void take_bytes(ClientId client, WebSocketPeer& session, std::string_view bytes) {
    const Time now = clock.now();
    session.last_heard = now;
    session.next_ping = now + options.ping_after;
    while (!bytes.empty() && !session.is_leaving)
      take_event(client, session, session.codec.receive(bytes), now);
    const std::string answer = session.codec.take_output();
    if (!answer.empty()) enqueue(client, session, answer, false);
    deliver();
  }

  void take_event(ClientId client, WebSocketPeer& session, const WebSocketEvent& event, Time now) {
    using Kind = WebSocketEvent::Kind;
    switch (event.kind) {
      case Kind::none:
        return;
      case Kind::opened:
        session.is_member = true;
        return service->connected(client, now);
      case Kind::text:
        return service->received(client, MessageKind::text, event.payload, now);
      case Kind::binary:
        return service->received(client, MessageKind::binary, event.payload, now);
      case Kind::closed:
        return leave(client);
    }
  }

  // ---- output ----

  void deliver() {
    for (const MessageOutput& output : service->take_output()) {
      WebSocketPeer* session = find(output.client);
      if (session == nullptr || session->is_leaving) continue;
      std::string frame;
      if (output.kind == MessageKind::text)
        append_text_frame(frame, output.bytes);
      else
        append_binary_frame(frame, output.bytes);
      enqueue(output.client, *session, std::move(frame), output.is_sample);
    }
  }

  /// Sends the bytes as soon as the connection accepts them. A client that is too slow vanishes at the next
  /// check of the deadlines.
  void enqueue(ClientId client, WebSocketPeer& session, std::string bytes, bool is_sample) {
    if (session.queue.push(std::move(bytes), is_sample)) return flush(client, session);
    expire(client, session);
  }

  /// Ends a session whose connection is of no use; its owner may still hold a reference to it.
  void expire(ClientId client, WebSocketPeer& session) {
    leave(client);
    session.deadline = Time{};
    next_deadline_check = Time{};
  }

  /// Sends what the connection accepts now, and waits to send the rest.
  void flush(ClientId client, WebSocketPeer& session) {
    if (session.waits_to_write) return;
    while (!session.queue.front().empty()) {
      asio::error_code error;
      const std::string_view next = session.queue.front();
      // Asio sends with MSG_NOSIGNAL, so a closed connection gives an error instead of a signal.
      const std::size_t count = session.socket.write_some(asio::buffer(next.data(), next.size()), error);
      if (count > 0) session.queue.sent(count);
      if (error == asio::error::would_block || error == asio::error::try_again)
        return wait_to_write(client, session);
      if (error && error != asio::error::interrupted) return expire(client, session);
    }
    if (!session.is_leaving || std::exchange(session.said_goodbye, true)) return;
    // An immediate close would reset the connection if client bytes are still arriving, and our last frame
    // would be lost.
    asio::error_code ignored;
    session.socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  void wait_to_write(ClientId client, WebSocketPeer& session) {
    session.waits_to_write = true;
    session.socket.async_wait(tcp::socket::wait_write, [this, client](const asio::error_code& error) {
      WebSocketPeer* waiting = find(client);
      if (waiting == nullptr) return;
      waiting->waits_to_write = false;
      if (error) return drop(client);
      flush(client, *waiting);
    });
  }

  // ---- time ----

  void poll_service() {
    const Time now = clock.now();
    const Duration wait = service->poll(now);
    deliver();
    if (now >= next_deadline_check) check_deadlines(now);
    schedule_poll(now + std::min(wait, peer_check));
  }

  void schedule_poll(Time time) {
    if (time >= next_poll) return;
    next_poll = time;
    poll_timer.expires_after(std::max(time - clock.now(), Duration(0)));
    poll_timer.async_wait([this](const asio::error_code& error) {
      if (error) return;
      next_poll = Time::max();
      poll_service();
    });
  }

  void check_deadlines(Time now) {
    next_deadline_check = now + peer_check;
    std::vector<ClientId> overdue;
    for (auto& [client, session] : sessions) {
      const bool is_open = session.is_member && !session.is_leaving;
      const Time deadline = is_open ? session.last_heard + options.silence_limit : session.deadline;
      if (now > deadline) overdue.push_back(client);
      if (is_open && now > session.next_ping) ping(client, session, now);
    }
    for (const ClientId client : overdue) drop(client);
  }

  void ping(ClientId client, WebSocketPeer& session, Time now) {
    session.next_ping = now + options.ping_after;
    std::string frame;
    append_ping_frame(frame);
    enqueue(client, session, std::move(frame), false);
  }

  void close_all() {
    std::vector<ClientId> all;
    for (auto& [client, session] : sessions) {
      all.push_back(client);
      session.codec.close(WebSocketClose::going_away);
      enqueue(client, session, session.codec.take_output(), false);
    }
    for (const ClientId client : all) drop(client);
    static_cast<void>(service->take_output());
    acceptor.close();
  }
};

WebSocketServer::WebSocketServer() : impl_(std::make_unique<Impl>()) {}
WebSocketServer::~WebSocketServer() = default;

SetupResult<std::uint16_t> WebSocketServer::open(WebSocketServerOptions options) {
  impl_->options = std::move(options);
  return impl_->acceptor.open(impl_->options.address, impl_->options.port);
}

void WebSocketServer::serve(AnyService& service) {
  impl_->service = &service;
  impl_->acceptor.start([impl = impl_.get()](tcp::socket&& socket) { impl->welcome(std::move(socket)); });
  impl_->poll_service();
  impl_->io.run();
  impl_->close_all();
  impl_->service = nullptr;
}

void WebSocketServer::stop() noexcept { impl_->io.stop(); }

}  // namespace takt::platform
