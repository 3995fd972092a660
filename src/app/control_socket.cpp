#include "app/control_socket.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "takt/platform/error.hpp"

#include <unistd.h>

namespace takt::app {
namespace {

using WallClock = std::chrono::steady_clock;

constexpr std::size_t max_line = std::size_t{1} << 20;
constexpr auto client_deadline =
    std::chrono::seconds(5);  // for a line, and for the client to read its answer

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_;
};

bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

/// Waits until the descriptor is ready, or `other` is. Returns whether the first one is.
bool wait_for(int descriptor, short events, WallClock::time_point deadline, int other = -1) {
  for (;;) {
    pollfd polled[] = {{descriptor, events, 0}, {other, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - WallClock::now()).count();
    const int ready = ::poll(polled, 2, static_cast<int>(std::clamp<long long>(left, 0, 1'000'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || polled[1].revents != 0) return false;
    return polled[0].revents != 0;
  }
}

/// Reads up to a newline. Returns false if none comes in time or the line is too long.
bool read_line(int descriptor, std::string& line, WallClock::time_point deadline, int other = -1) {
  line.clear();
  char chunk[4096];
  while (line.size() < max_line) {
    if (!wait_for(descriptor, POLLIN, deadline, other)) return false;
    const ssize_t got = ::recv(descriptor, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    line.append(chunk, static_cast<std::size_t>(got));
    if (const auto end = line.find('\n'); end != std::string::npos) {
      line.resize(end);
      return true;
    }
  }
  return false;
}

bool write_all(int descriptor, std::string_view text, WallClock::time_point deadline, int other = -1) {
  while (!text.empty()) {
    if (!wait_for(descriptor, POLLOUT, deadline, other)) return false;
    const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Whether the other end belongs to this user or root.
bool is_permitted(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

struct ControlSocket::Impl {
  Impl(std::string its_path, Answer its_answer, Descriptor its_listener, Descriptor its_end)
      : path(std::move(its_path)),
        answer(std::move(its_answer)),
        listener(std::move(its_listener)),
        end(std::move(its_end)) {}

  std::string path;
  Answer answer;
  Descriptor listener;
  Descriptor end;
  std::thread thread;

  void serve() {
    for (;;) {
      if (!wait_for(listener.get(), POLLIN, WallClock::now() + std::chrono::hours(1), end.get())) {
        pollfd ended{end.get(), POLLIN, 0};
        if (::poll(&ended, 1, 0) > 0) return;
        continue;
      }
      const Descriptor client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (client.get() < 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));  // no descriptor is left
        continue;
      }
      if (is_permitted(client.get())) talk(client.get());
    }
  }
  void talk(int client) const {
    std::string line;
    while (read_line(client, line, WallClock::now() + client_deadline, end.get())) {
      if (!write_all(client, answer(line) + "\n", WallClock::now() + client_deadline, end.get())) return;
    }
  }
};

ControlSocket::ControlSocket(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

ControlSocket::~ControlSocket() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(impl_->end.get(), &one, sizeof one));
  impl_->thread.join();
  ::unlink(impl_->path.c_str());
}

SetupResult<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::string& path, Answer answer) {
  const auto refuse = [&](const std::string& reason) {
    return fail(platform::Errc::listen_failed, path + ": " + reason);
  };
  sockaddr_un address;
  if (!address_of(path, address)) return refuse("is too long for a socket");
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) return refuse(std::strerror(errno));
  if (::bind(listener.get(), name, sizeof address) != 0 && errno == EADDRINUSE) {
    // The file of a system that was killed has no listener.
    const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), name, sizeof address) == 0) return refuse("a system of this name is running");
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return refuse("is another file");
    ::unlink(path.c_str());
    if (::bind(listener.get(), name, sizeof address) != 0) return refuse(std::strerror(errno));
  }
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(listener.get(), 8) != 0)
    return refuse(std::strerror(errno));
  Descriptor end(::eventfd(0, EFD_CLOEXEC));
  if (end.get() < 0) return refuse(std::strerror(errno));
  auto impl = std::make_unique<Impl>(path, std::move(answer), std::move(listener), std::move(end));
  impl->thread = std::thread([raw = impl.get()] { raw->serve(); });
  return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(impl)));
}

SetupResult<std::string> ask(const std::string& path, std::string_view line, Duration timeout) {
  sockaddr_un address;
  if (!address_of(path, address))
    return fail(platform::Errc::connect_failed, path + ": is too long for a socket");
  const Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(platform::Errc::connect_failed,
                path + ": " + std::strerror(errno) + "; is the system running (takt launch)?");
  }
  if (!is_permitted(client.get()))
    return fail(platform::Errc::connect_failed, path + ": the listener belongs to another user");
  const auto deadline = WallClock::now() + std::chrono::duration_cast<WallClock::duration>(timeout);
  std::string answer;
  if (!write_all(client.get(), std::string(line) + "\n", deadline) ||
      !read_line(client.get(), answer, deadline))
    return fail(platform::Errc::receive_failed, path + ": no answer in time");
  return answer;
}

std::string control_path(std::string_view system, std::string_view process) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  const std::string place = folder != nullptr && *folder == '/'
                                ? std::string(folder) + "/takt-"
                                : "/tmp/takt-" + std::to_string(::geteuid()) + "-";
  return place + std::string(system) + (process.empty() ? "" : "@" + std::string(process)) + ".sock";
}

}  // namespace takt::app
