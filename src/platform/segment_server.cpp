#include "takt/platform/segment_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "platform/deadline.hpp"
#include "platform/descriptor.hpp"
#include "platform/unshared_descriptor.hpp"
#include "platform/wait_for.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {
namespace {

using detail::Descriptor;
using detail::text_of;
using detail::UnsharedDescriptor;
using detail::wait_for;

// The protocol: one request and one answer. The answer carries the descriptor if it is `granted`.
constexpr char ask_to_write = 'w';
constexpr char ask_to_read = 'r';
constexpr char granted = 'y';
constexpr char refused = 'n';

constexpr Duration retry_period = std::chrono::milliseconds(5);        // between two connection attempts
constexpr Duration least_for_answer = std::chrono::milliseconds(100);  // after a connection

tl::unexpected<SetupError> failed_at(Errc error, std::string_view path, std::string_view why) {
  return fail(error, fmt::format("{}: {}", path, why));
}
tl::unexpected<SetupError> failed_at(Errc error, std::string_view path, std::string_view what, int number) {
  return failed_at(error, path, fmt::format("{}: {}", what, text_of(number)));
}

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

bool is_abstract(const std::string& path) { return path.front() == '@'; }

std::optional<Address> address_of(const std::string& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.name.sun_path) return std::nullopt;
  std::copy(path.begin(), path.end(), address.name.sun_path);
  if (is_abstract(path)) address.name.sun_path[0] = '\0';
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract(path) ? 0 : 1));
  return address;
}

Descriptor new_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// The user at the other end, at the time of the connection.
std::optional<std::uint32_t> user_of(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return std::nullopt;
  return who.uid;
}

void send_answer(int connection, char answer, int descriptor) {
  iovec data{&answer, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  // The result is ignored: a client that cannot receive it is gone.
  ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

struct Answer {
  char kind = 0;
  std::vector<Descriptor> descriptors;
};

/// Receives one message and all its descriptors. Empty, with errno, on failure.
std::optional<Answer> receive_answer(int connection) {
  Answer answer;
  iovec data{&answer.kind, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  // The kernel closes descriptors that do not fit into `control`.
  const ssize_t length = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (length < 0) return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
      answer.descriptors.emplace_back(descriptor);
    }
  }
  if (length == 0 || (message.msg_flags & MSG_CTRUNC) != 0) answer.kind = 0;
  return answer;
}

/// Locks the folder of `path` against other servers that start now. So only one of them can find a dead
/// socket and replace it. Not open, with errno, if the lock is not free within `patience`.
Descriptor lock_folder(const std::string& path, Duration patience) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return opened;
  SteadyClock clock;
  const Time deadline = detail::deadline_after(clock.now(), patience);
  while (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    if (clock.now() >= deadline) return {};
    clock.sleep_until(clock.now() + retry_period);
  }
  return opened;
}

/// Whether the path is a socket without a listening process.
bool is_dead_socket(const std::string& path, const Address& address) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISSOCK(about.st_mode)) return false;
  const Descriptor probe = new_socket();
  return probe.is_open() && ::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED;
}

bool contains(const std::vector<std::uint32_t>& users, std::uint32_t user) {
  return std::find(users.begin(), users.end(), user) != users.end();
}

}  // namespace

struct SegmentServer::Impl {
  struct Client {
    Descriptor connection;
    Time deadline;
    std::uint32_t user = 0;
  };

  std::string path;
  SegmentServerOptions options;
  Descriptor memory;
  std::optional<UnsharedDescriptor> listener;  // with it, a child would block later servers
  Descriptor stop;
  dev_t device = 0;  // device and inode identify our socket's file
  ino_t file = 0;
  std::vector<Client> clients;
  std::thread thread;

  SetupResult<void> listen() {
    const auto address = address_of(path);
    if (!address) {
      return failed_at(Errc::listen_failed, path,
                       fmt::format("a path must have 2 to {} characters", sizeof address->name.sun_path - 1));
    }
    listener.emplace(new_socket());
    if (!listener->is_open()) return failed_at(Errc::listen_failed, path, "socket", errno);
    // Before bind(), so the file is never open to other users.
    if (::fchmod(listener->get(), 0600) != 0) return failed_at(Errc::listen_failed, path, "fchmod", errno);
    Descriptor folder;
    if (!is_abstract(path)) {
      folder = lock_folder(path, options.lock_patience);
      if (!folder.is_open()) return failed_at(Errc::listen_failed, path, "locking its folder", errno);
      if (is_dead_socket(path, *address)) ::unlink(path.c_str());
    }
    if (::bind(listener->get(), address->get(), address->size) != 0) {
      return failed_at(Errc::listen_failed, path,
                       errno == EADDRINUSE ? "another server listens there" : "bind", errno);
    }
    struct stat about {};
    if (!is_abstract(path) && ::lstat(path.c_str(), &about) == 0) {
      device = about.st_dev;
      file = about.st_ino;
      const bool for_others = !options.users.empty() || !options.watchers.empty();
      if (for_others && ::chmod(path.c_str(), 0666) != 0) {
        return failed_at(Errc::listen_failed, path, "chmod", errno);
      }
    }
    if (::listen(listener->get(), static_cast<int>(options.max_clients)) != 0) {
      return failed_at(Errc::listen_failed, path, "listen", errno);
    }
    return {};
  }

  void remove_path() const noexcept {
    struct stat about {};
    if (file != 0 && ::lstat(path.c_str(), &about) == 0 && about.st_dev == device && about.st_ino == file) {
      ::unlink(path.c_str());
    }
  }

  [[nodiscard]] bool may_write(std::uint32_t user) const {
    return user == ::geteuid() || contains(options.users, user);
  }
  [[nodiscard]] bool may_read(std::uint32_t user) const {
    return may_write(user) || contains(options.watchers, user);
  }

  void serve() {
    const SteadyClock clock;
    std::vector<pollfd> entries;
    for (;;) {
      const bool full = clients.size() >= options.max_clients;
      entries.assign({{stop.get(), POLLIN, 0}, {full ? -1 : listener->get(), POLLIN, 0}});
      for (const Client& client : clients) entries.push_back({client.connection.get(), POLLIN, 0});
      // Deadlines need no precision: only silent clients reach them.
      const int wait = clients.empty() ? -1 : 50;
      if (::poll(entries.data(), entries.size(), wait) < 0 && errno != EINTR) return;
      if (entries[0].revents != 0) return;
      const Time now = clock.now();
      for (std::size_t i = clients.size(); i > 0; --i) {
        Client& client = clients[i - 1];
        const bool asked = entries[1 + i].revents != 0;
        if (asked) answer(client);
        if (asked || now >= client.deadline)
          clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i - 1));
      }
      if (entries[1].revents != 0) accept_one(now);
    }
  }

  void accept_one(Time now) {
    Descriptor connection(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.is_open()) {
      // Probably no descriptors are left. The client stays in the queue, and the pause prevents spinning.
      pollfd stopped{stop.get(), POLLIN, 0};
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) ::poll(&stopped, 1, 50);
      return;
    }
    const auto user = user_of(connection.get());
    if (!user || !may_read(*user)) {
      // Reads a request that has already arrived. Otherwise closing the socket would send an error instead of
      // the answer.
      ::shutdown(connection.get(), SHUT_RD);
      char asked = 0;
      while (::recv(connection.get(), &asked, 1, MSG_DONTWAIT) > 0) {
      }
      send_answer(connection.get(), refused, -1);
      return;
    }
    clients.push_back({std::move(connection), now + options.client_deadline, *user});
  }

  void answer(const Client& client) const {
    char asked = 0;
    if (::recv(client.connection.get(), &asked, 1, MSG_DONTWAIT) != 1) return;
    const bool writes = asked == ask_to_write;
    if ((!writes && asked != ask_to_read) || (writes && !may_write(client.user))) {
      send_answer(client.connection.get(), refused, -1);
      return;
    }
    // A new open file per client. A reader gets a read-only descriptor, and no two clients share their locks.
    const std::string own = fmt::format("/proc/self/fd/{}", memory.get());
    const Descriptor passed(::open(own.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC));
    send_answer(client.connection.get(), passed.is_open() ? granted : refused, passed.get());
  }
};

SegmentServer::SegmentServer() = default;
SegmentServer::~SegmentServer() { close(); }

SetupResult<void> SegmentServer::open(const std::string& path, const Segment& segment,
                                      const SegmentServerOptions& options) {
  close();
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->options = options;
  const int seals = ::fcntl(segment.descriptor(), F_GET_SEALS);
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_GROW;
  if (seals < 0 || (seals & needed) != needed) {
    return failed_at(Errc::not_sealed, path, "segment " + segment.name() + " is not sealed");
  }
  impl->memory = Descriptor(::fcntl(segment.descriptor(), F_DUPFD_CLOEXEC, 0));
  impl->stop = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!impl->memory.is_open() || !impl->stop.is_open()) {
    return failed_at(Errc::listen_failed, path, "a descriptor", errno);
  }
  if (const auto listening = impl->listen(); !listening) {
    impl->remove_path();
    return tl::unexpected<SetupError>(listening.error());
  }
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
  try {
    impl->thread = std::thread([server = impl.get()] { server->serve(); });
  } catch (const std::system_error&) {
    impl->remove_path();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!impl->thread.joinable())
    return failed_at(Errc::listen_failed, path, "the system cannot start a thread");
  impl_ = std::move(impl);
  return {};
}

void SegmentServer::close() noexcept {
  if (!impl_) return;
  if (!impl_->listener->is_open()) {  // in a child, the thread and the path belong to the parent
    impl_->thread.detach();
    impl_.reset();
    return;
  }
  ::eventfd_write(impl_->stop.get(), 1);
  impl_->thread.join();
  impl_->remove_path();  // still listening, so no other server replaces the socket as dead
  impl_.reset();
}

SetupResult<Segment> receive_segment(const std::string& path, Duration timeout,
                                     const SegmentOptions& options) {
  const auto address = address_of(path);
  if (!address) {
    return failed_at(Errc::connect_failed, path,
                     fmt::format("a path must have 2 to {} characters", sizeof address->name.sun_path - 1));
  }
  SteadyClock clock;
  const Time deadline = detail::deadline_after(clock.now(), timeout);
  Descriptor connection;
  for (;;) {
    connection = new_socket();
    if (!connection.is_open()) return failed_at(Errc::connect_failed, path, "socket", errno);
    if (::connect(connection.get(), address->get(), address->size) == 0) break;
    // The server may start, be replaced, or have room later.
    const int error = errno;
    const bool may_come = error == ENOENT || error == ECONNREFUSED || error == EAGAIN || error == EINTR;
    if (!may_come || clock.now() >= deadline) return failed_at(Errc::connect_failed, path, "connect", error);
    clock.sleep_until(clock.now() + retry_period);
  }
  const auto user = user_of(connection.get());
  const bool trusted = user && (options.owner ? *user == *options.owner : *user == ::geteuid() || *user == 0);
  if (!trusted) {
    return failed_at(
        Errc::wrong_owner, path,
        user ? fmt::format("its server runs as user {}", *user) : "its server's user is unknown");
  }
  const char asked = options.access == Access::read_write ? ask_to_write : ask_to_read;
  // A server that refuses this user may have closed already. Its answer is still readable then.
  ::send(connection.get(), &asked, 1, MSG_NOSIGNAL);
  if (!wait_for(connection.get(), POLLIN, std::max(deadline, clock.now() + least_for_answer))) {
    return failed_at(Errc::receive_failed, path, "no answer in time");
  }
  const auto answer = receive_answer(connection.get());
  if (!answer) return failed_at(Errc::receive_failed, path, "recvmsg", errno);
  if (answer->kind == refused) {
    return failed_at(Errc::not_allowed, path, fmt::format("user {} may not have this segment", ::geteuid()));
  }
  if (answer->kind != granted || answer->descriptors.size() != 1) {
    return failed_at(Errc::receive_failed, path, "the answer is not from a segment server");
  }
  return Segment::attach(answer->descriptors.front().get(), options);
}

}  // namespace takt::platform
