#include "support/rt_guard.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "support/sanitizers.hpp"
#include "support/system_call_names.hpp"  // generated: { number, "name" } for each SYS_ constant

#ifdef TAKT_SANITIZED
// As in <sanitizer/allocator_interface.h>, which GCC does not ship.
// NOLINTNEXTLINE(bugprone-reserved-identifier): its name
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
#endif

namespace takt::test {
namespace {

// Values of the byte that the kernel reads at every system call of an armed thread.
constexpr unsigned char let_pass = 0;
constexpr unsigned char report_to_us = 1;

// Initial-exec: reading these never allocates; malloc depends on that.
__attribute__((tls_model("initial-exec"))) constinit thread_local RtGuard* armed_here = nullptr;
__attribute__((tls_model("initial-exec"))) constinit thread_local volatile unsigned char selector = let_pass;

}  // namespace

__attribute__((noinline)) void RtGuard::note(Kind kind, const char* function, long value, int skip) noexcept {
  RtGuard* const guard = std::exchange(armed_here, nullptr);  // the recording itself is not watched
  if (guard == nullptr) return;
  const unsigned char before = selector;
  const int error_before = errno;
  selector = let_pass;
  guard->record(kind, function, value, skip + 1);
  errno = error_before;
  selector = before;
  armed_here = guard;
}

bool RtGuard::allows(long system_call) noexcept {
  return armed_here == nullptr ||
         (system_call >= 0 && static_cast<std::size_t>(system_call) < max_system_call &&
          armed_here->allowed_[static_cast<std::size_t>(system_call)]);
}

__attribute__((noinline)) void RtGuard::record(Kind kind, const char* function, long value,
                                               int skip) noexcept {
  ++violations_;
  std::array<void*, max_frames + 8> stack{};
  const int all = backtrace(stack.data(), static_cast<int>(stack.size()));
  const int own = std::min(skip + 1, all);
  Violation found{.kind = kind, .function = function, .value = value, .times = 1};
  found.depth = std::min(all - own, static_cast<int>(max_frames));
  std::copy_n(stack.begin() + own, found.depth, found.frames.begin());

  const auto end = first_.begin() + static_cast<std::ptrdiff_t>(distinct_);
  const auto same = std::find_if(first_.begin(), end, [&](const Violation& known) {
    return known.kind == kind && known.function == function && known.frames == found.frames;
  });
  if (same != end) {
    ++same->times;
  } else if (distinct_ < max_distinct) {
    first_[distinct_++] = found;
  }
}

// ---- Allocations and locks: this program's malloc, pthread_mutex_lock, ... precede those of the C library.

#ifdef TAKT_SANITIZED

bool RtGuard::watches_locks() { return false; }

namespace {
void on_allocation(const volatile void*, std::size_t size) {
  RtGuard::note(RtGuard::Kind::allocation, "malloc", static_cast<long>(size), 1);
}
void on_release(const volatile void* memory) {
  if (memory != nullptr) RtGuard::note(RtGuard::Kind::release, "free", 0, 1);
}
[[maybe_unused]] const int hooks_installed =
    __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);
}  // namespace

#else

bool RtGuard::watches_locks() { return true; }

}  // namespace takt::test

extern "C" {

void* __libc_malloc(std::size_t) noexcept;  // NOLINT(bugprone-reserved-identifier): the C library's name
void* __libc_calloc(std::size_t,
                    std::size_t) noexcept;  // NOLINT(bugprone-reserved-identifier): the C library's name
void* __libc_realloc(void*,
                     std::size_t) noexcept;  // NOLINT(bugprone-reserved-identifier): the C library's name
void* __libc_memalign(std::size_t,
                      std::size_t) noexcept;  // NOLINT(bugprone-reserved-identifier): the C library's name
void __libc_free(void*) noexcept;             // NOLINT(bugprone-reserved-identifier): the C library's name

using takt::test::RtGuard;

void* malloc(std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "malloc", static_cast<long>(size), 1);
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "calloc", static_cast<long>(count * size), 1);
  return __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "realloc", static_cast<long>(size), 1);
  return __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "memalign", static_cast<long>(size), 1);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "aligned_alloc", static_cast<long>(size), 1);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  RtGuard::note(RtGuard::Kind::allocation, "posix_memalign", static_cast<long>(size), 1);
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* const found = __libc_memalign(alignment, size);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}

void free(void* memory) noexcept {
  if (memory != nullptr) RtGuard::note(RtGuard::Kind::release, "free", 0, 1);
  __libc_free(memory);
}

// A lock is a violation even if it is free now: next time, another thread may hold it.
#define TAKT_WATCH_LOCK(function, Lock)                                                      \
  int function(Lock* lock) noexcept {                                                        \
    static auto* const next = reinterpret_cast<int (*)(Lock*)>(dlsym(RTLD_NEXT, #function)); \
    RtGuard::note(RtGuard::Kind::lock, #function, 0, 1);                                     \
    return next(lock);                                                                       \
  }
TAKT_WATCH_LOCK(pthread_mutex_lock, pthread_mutex_t)
TAKT_WATCH_LOCK(pthread_mutex_trylock, pthread_mutex_t)
TAKT_WATCH_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
TAKT_WATCH_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
TAKT_WATCH_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
TAKT_WATCH_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
TAKT_WATCH_LOCK(pthread_spin_lock, volatile int)
#undef TAKT_WATCH_LOCK

}  // extern "C"

namespace takt::test {

#endif

// ---- System calls: the kernel raises SIGSYS instead of executing them, and the handler executes them.

// ThreadSanitizer's run time makes its own system calls on the watched thread, and they could not be
// distinguished.
#if defined(__x86_64__) && !defined(TAKT_THREAD_SANITIZED)

namespace {

// The only code whose system calls the kernel always executes: the return from the handler. It runs after the
// selector is "report" again. (Stack unwinders recognise a signal frame by these bytes.)
extern "C" const char takt_rt_guard_gate[];
extern "C" const char takt_rt_guard_gate_end[];
asm(R"(
  .pushsection .text.takt_rt_guard, "ax", @progbits
  .balign 16
  .skip 16, 0x90
takt_rt_guard_gate:
  movq $15, %rax
  syscall
  ud2
takt_rt_guard_gate_end:
  .popsection
)");

long carry_out(long number, const greg_t* registers) noexcept {
  long result = number;
  register long r10 asm("r10") = registers[REG_R10];
  register long r8 asm("r8") = registers[REG_R8];
  register long r9 asm("r9") = registers[REG_R9];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(registers[REG_RDI]), "S"(registers[REG_RSI]), "d"(registers[REG_RDX]), "r"(r10), "r"(r8),
                 "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

const char* name_of(long number) noexcept {
  for (const auto& [known, name] : system_call_names)
    if (known == number) return name;
  return "unknown";
}

__attribute__((noinline)) void on_system_call(int, siginfo_t*, void* context) noexcept {
  selector = let_pass;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long number = registers[REG_RAX];
  switch (number) {
    case SYS_rt_sigreturn:  // of another handler: it needs its stack pointer, so continue at the gate
      registers[REG_RIP] = reinterpret_cast<greg_t>(takt_rt_guard_gate);
      break;
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_rt_sigprocmask:
      // A handler cannot execute these calls. Repeat them with the watch off; it stays off until arm().
      if (!RtGuard::allows(number)) RtGuard::note(RtGuard::Kind::system_call, name_of(number), number, 2);
      registers[REG_RIP] -= 2;  // back onto the syscall instruction
      return;
    default:
      if (!RtGuard::allows(number)) RtGuard::note(RtGuard::Kind::system_call, name_of(number), number, 2);
      registers[REG_RAX] = carry_out(number, registers);
  }
  selector = report_to_us;
}

// The layout that the kernel reads. The C library's sigaction() would use its own return from the handler.
struct KernelSigaction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  const char* restorer;
  std::uint64_t mask;
};

bool install_handler() noexcept {
  constexpr unsigned long sa_restorer = 0x04000000;
  const KernelSigaction action{&on_system_call, SA_SIGINFO | SA_NODEFER | sa_restorer, takt_rt_guard_gate, 0};
  return syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof action.mask) == 0;
}

bool dispatch(unsigned long mode) noexcept {
  if (mode == PR_SYS_DISPATCH_OFF) return prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, 0, 0, 0) == 0;
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, takt_rt_guard_gate,
               takt_rt_guard_gate_end - takt_rt_guard_gate, &selector) == 0;
}

}  // namespace

bool RtGuard::watches_system_calls() {
  static const bool possible =
      install_handler() && dispatch(PR_SYS_DISPATCH_ON) && dispatch(PR_SYS_DISPATCH_OFF);
  return possible;
}

#else

namespace {
bool dispatch(unsigned long) noexcept { return false; }
}  // namespace

bool RtGuard::watches_system_calls() { return false; }

#endif

// ---- The guard itself.

RtGuard::RtGuard(const RtGuardOptions& options) {
  for (const long number : options.allow) allowed_.set(static_cast<std::size_t>(number));
  arm();
}

RtGuard::~RtGuard() { disarm(); }

void RtGuard::arm() {
  if (armed_ || armed_here != nullptr) {
    std::fputs("RtGuard: this guard or another one of this thread is armed already\n", stderr);
    std::abort();
  }
  static const bool warm = [] {
    std::array<void*, 4> stack{};
    (void)backtrace(stack.data(), 4);  // the first call loads the unwinder, with allocations
    if (!watches_system_calls())
      std::fputs("RtGuard: system calls are NOT watched (thread sanitizer, or no support in this kernel)\n",
                 stderr);
    return true;
  }();
  (void)warm;
  armed_ = true;
  if (watches_system_calls()) {
    dispatch(PR_SYS_DISPATCH_ON);
    selector = report_to_us;
  }
  armed_here = this;
}

void RtGuard::disarm() {
  if (!armed_) return;
  armed_ = false;
  armed_here = nullptr;
  selector = let_pass;
  if (watches_system_calls()) dispatch(PR_SYS_DISPATCH_OFF);
}

std::string RtGuard::report() {
  disarm();
  std::string text;
  for (std::size_t i = 0; i < distinct_; ++i) text += text_of(first_[i]) + "\n";
  return text;
}

namespace {

// Functions without external linkage are missing in dladdr's table; the debug information has them.
std::string ask_addr2line(const char* program, std::size_t offset) {
  char command[512];
  std::snprintf(command, sizeof command, "addr2line -Cfs -e '%s' %#zx 2>/dev/null", program, offset);
  std::string answer;
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command, "r"), pclose);
  char line[512];
  if (output && std::fgets(line, sizeof line, output.get()) != nullptr) answer = line;
  while (!answer.empty() && answer.back() == '\n') answer.pop_back();
  return answer.substr(0, 2) == "??" ? "" : answer;
}

std::string function_at(void* return_address) {
  Dl_info place{};
  char* const call = static_cast<char*>(return_address) - 1;  // inside the calling instruction
  if (dladdr(call, &place) == 0) return "?";
  if (place.dli_sname != nullptr) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(place.dli_sname, nullptr, nullptr, &status), std::free);
    return readable ? readable.get() : place.dli_sname;
  }
  const auto offset = static_cast<std::size_t>(call - static_cast<char*>(place.dli_fbase));
  std::string name = ask_addr2line(place.dli_fname, offset);
  if (name.empty()) name = std::string(place.dli_fname) + "+" + std::to_string(offset);
  return name;
}

}  // namespace

std::string RtGuard::text_of(const Violation& violation) {
  std::string text;
  switch (violation.kind) {
    case Kind::allocation:
      text = std::string(violation.function) + " of " + std::to_string(violation.value) + " bytes";
      break;
    case Kind::release:
    case Kind::lock:
      text = violation.function;
      break;
    case Kind::system_call:
      text = "system call " + std::string(violation.function) + " (" + std::to_string(violation.value) + ")";
      break;
  }
  if (violation.times > 1) text += ", " + std::to_string(violation.times) + " times";
  const char* separator = ": from ";
  for (int i = 0; i < violation.depth; ++i) {
    text += separator + function_at(violation.frames[static_cast<std::size_t>(i)]);
    separator = " < ";
  }
  return text;
}

}  // namespace takt::test
