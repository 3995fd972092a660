#include "takt/platform/line_server.hpp"

#include <array>
#include <asio.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/client_acceptor.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using asio::ip::tcp;

// Bytes per read: bounds how long one client occupies the thread.
constexpr std::size_t chunk_size = std::size_t{16} << 10;
constexpr std::size_t places_for_refusals = 32;         // clients beyond the limit that still get an error
constexpr Duration farewell = std::chrono::seconds(1);  // time for a closed client to read its last line
constexpr Duration deadline_check = std::chrono::milliseconds(50);

/// One connection. `partial` holds the beginning of an incomplete line.
struct Session {
  explicit Session(tcp::socket&& connected) : socket(std::move(connected)) {}

  tcp::socket socket;
  std::string partial;
  Time line_began{};
  std::string output;  ///< bytes from `sent` on still have to be sent
  std::size_t sent = 0;
  bool waits_to_write = false;
  bool leaving = false;       ///< disconnected for the service: sends the rest, discards input
  bool said_goodbye = false;  ///< the sending side is shut down
  Time leave_by{};
};

}  // namespace

struct LineServer::Impl {
  asio::io_context io{1};
  ClientAcceptor acceptor{io};
  asio::steady_timer poll_timer{io};
  LineServerOptions options;
  SteadyClock clock;
  AnyService* service = nullptr;
  std::unordered_map<ClientId, std::unique_ptr<Session>> sessions;
  std::size_t members = 0;        ///< sessions except leaving ones
  std::vector<ClientId> readers;  ///< clients that have ended their input
  ClientId last_client = 0;
  Time next_poll = Time::max();
  Time next_deadline_check{};
  std::array<char, chunk_size> chunk{};

  // ---- connections ----

  void welcome(tcp::socket&& socket) {
    const bool room = members < options.max_clients;
    // The destructor of `socket` closes the connection.
    if (!room && sessions.size() >= options.max_clients + places_for_refusals) return;
    const ClientId client = ++last_client;
    sessions.emplace(client, std::make_unique<Session>(std::move(socket)));
    const Time now = clock.now();
    if (room) {
      ++members;
      service->connected(client, now);
    } else {
      Session& session = *sessions[client];
      session.leaving = true;
      session.leave_by = now + farewell;
      service->refused(client, LineFault::too_many_clients, now);
    }
    wait_to_read(client);
    poll_service();
  }

  /// Disconnects the client from the service. The connection stays open until its output is sent.
  void leave(ClientId client) {
    Session* session = find(client);
    if (session == nullptr || session->leaving) return;
    const Time now = clock.now();
    session->leaving = true;
    session->leave_by = now + farewell;
    session->partial = {};
    --members;
    service->disconnected(client, now);
    schedule_poll(now);
  }

  void drop(ClientId client) {
    leave(client);
    sessions.erase(client);
  }

  [[nodiscard]] Session* find(ClientId client) {
    const auto found = sessions.find(client);
    return found == sessions.end() ? nullptr : found->second.get();
  }

  // ---- input ----

  void wait_to_read(ClientId client) {
    Session* session = find(client);
    if (session == nullptr) return;
    session->socket.async_wait(tcp::socket::wait_read, [this, client](const asio::error_code& error) {
      if (!error) read(client);
    });
  }

  void read(ClientId client) {
    Session* session = find(client);
    if (session == nullptr) return;
    asio::error_code error;
    const std::size_t count = session->socket.read_some(asio::buffer(chunk), error);
    if (error == asio::error::would_block || error == asio::error::try_again ||
        error == asio::error::interrupted) {
      return wait_to_read(client);
    }
    if (error == asio::error::eof) return end_of_input(client);
    if (error) {
      drop(client);
      return poll_service();
    }
    if (!session->leaving) {
      take_bytes(client, std::string_view(chunk.data(), count));
      poll_service();
    }
    wait_to_read(client);
  }

  /// Accepts a last line without '\n'. The client stays connected until it has its answers.
  void end_of_input(ClientId client) {
    Session& session = *find(client);
    if (session.leaving) return drop(client);
    if (!session.partial.empty()) {
      const std::string line = std::exchange(session.partial, {});
      service->received(client, line, clock.now());
      deliver();
    }
    readers.push_back(client);
    poll_service();
    look_for(client);
  }

  /// Sends a space to find out whether a client closed the connection or only ended its input. JSON allows a
  /// space before the next line.
  void look_for(ClientId client) {
    Session* session = find(client);
    if (session == nullptr || session->leaving) return;
    session->socket.async_wait(tcp::socket::wait_error, [this, client](const asio::error_code& error) {
      if (error) return;
      drop(client);
      poll_service();
    });
    session->output += ' ';
    flush(client);
  }

  /// Disconnects clients that have ended their input and have all answers.
  void release_readers() {
    std::erase_if(readers, [this](ClientId client) {
      const Session* session = find(client);
      if (session != nullptr && !session->leaving && service->owes(client)) return false;
      leave(client);
      flush(client);
      return true;
    });
  }

  void take_bytes(ClientId client, std::string_view bytes) {
    const Time now = clock.now();
    while (!bytes.empty()) {
      Session* session = find(client);
      if (session == nullptr || session->leaving) return;
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (session->partial.size() + piece.size() > options.max_line)
        return refuse(client, LineFault::too_long);
      if (end == std::string_view::npos) {
        if (session->partial.empty()) session->line_began = now;
        session->partial += piece;
        return;
      }
      bytes.remove_prefix(end + 1);
      if (session->partial.empty()) {
        take_line(client, piece, now);
      } else {
        std::string line = std::exchange(session->partial, {});
        line += piece;
        take_line(client, line, now);
      }
    }
  }

  void take_line(ClientId client, std::string_view line, Time now) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) return;
    service->received(client, line, now);
    deliver();
  }

  void refuse(ClientId client, LineFault fault) {
    service->refused(client, fault, clock.now());
    deliver();
    leave(client);
  }

  // ---- output ----

  void deliver() {
    for (LineOutput& output : service->take_output()) {
      Session* session = find(output.client);
      if (session == nullptr) continue;
      session->output += output.bytes;
      if (session->output.size() - session->sent > options.max_output) {
        drop(output.client);
        continue;
      }
      if (output.close) leave(output.client);
      flush(output.client);
    }
  }

  /// Sends what the connection accepts now, and waits to send the rest.
  void flush(ClientId client) {
    Session* session = find(client);
    if (session == nullptr || session->waits_to_write) return;
    while (session->sent < session->output.size()) {
      asio::error_code error;
      // Asio sends with MSG_NOSIGNAL, so a closed connection gives an error instead of a signal.
      session->sent += session->socket.write_some(
          asio::buffer(session->output.data() + session->sent, session->output.size() - session->sent),
          error);
      if (error == asio::error::would_block || error == asio::error::try_again) return wait_to_write(client);
      if (error && error != asio::error::interrupted) return drop(client);
    }
    session->output.clear();
    session->sent = 0;
    if (session->leaving && !session->said_goodbye) {
      // An immediate close would reset the connection if client bytes are still arriving, and our last line
      // would be lost.
      asio::error_code ignored;
      session->socket.shutdown(tcp::socket::shutdown_send, ignored);
      session->said_goodbye = true;
    }
  }

  void wait_to_write(ClientId client) {
    Session* session = find(client);
    if (session->sent > chunk_size) {
      session->output.erase(0, session->sent);
      session->sent = 0;
    }
    session->waits_to_write = true;
    session->socket.async_wait(tcp::socket::wait_write, [this, client](const asio::error_code& error) {
      Session* waiting = find(client);
      if (waiting == nullptr) return;
      waiting->waits_to_write = false;
      if (error) return drop(client);
      flush(client);
    });
  }

  // ---- time ----

  void poll_service() {
    const Time now = clock.now();
    const Duration wait = service->poll(now);
    deliver();
    release_readers();
    if (now >= next_deadline_check) check_deadlines(now);
    schedule_poll(now + std::min(wait, deadline_check));
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
    next_deadline_check = now + deadline_check;
    std::vector<ClientId> slow;
    std::vector<ClientId> overdue;
    for (const auto& [client, session] : sessions) {
      if (session->leaving) {
        if (now > session->leave_by) overdue.push_back(client);
      } else if (!session->partial.empty() && now - session->line_began > options.line_deadline) {
        slow.push_back(client);
      }
    }
    for (const ClientId client : overdue) drop(client);
    for (const ClientId client : slow) refuse(client, LineFault::too_slow);
  }

  void close_all() {
    service->poll(clock.now());
    deliver();
    std::vector<ClientId> all;
    for (const auto& [client, session] : sessions) all.push_back(client);
    for (const ClientId client : all) drop(client);
    service->poll(clock.now());
    static_cast<void>(service->take_output());
    acceptor.close();
  }
};

LineServer::LineServer() : impl_(std::make_unique<Impl>()) {}
LineServer::~LineServer() = default;

SetupResult<std::uint16_t> LineServer::open(const LineServerOptions& options) {
  impl_->options = options;
  return impl_->acceptor.open("127.0.0.1", options.port);
}

void LineServer::serve(AnyService& service) {
  impl_->service = &service;
  impl_->acceptor.start([impl = impl_.get()](tcp::socket&& socket) { impl->welcome(std::move(socket)); });
  impl_->poll_service();
  impl_->io.run();
  impl_->close_all();
  impl_->service = nullptr;
}

void LineServer::stop() noexcept { impl_->io.stop(); }

}  // namespace takt::platform
