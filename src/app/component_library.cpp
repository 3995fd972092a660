#include "takt/app/component_library.hpp"

#include <dlfcn.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "takt/component/drivers.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace takt::app {
namespace {

using component::ComponentType;
using component::PluginTable;

/// The composite of drivers.hpp, made by its name.
struct NamedComposite final : component::Composite {
  explicit NamedComposite(const char* name) : Composite(name) {}
};

tl::unexpected<SetupError> refuse(const std::string& file, const std::string& reason) {
  return fail(component::Errc::bad_plugin, file + ": " + reason);
}

/// The type is known already, from another file or from the program.
tl::unexpected<SetupError> refuse_again(const std::string& file, std::string_view type,
                                        const std::string& known) {
  return refuse(file, fmt::format("brings the type \"{}\", which {} already", type,
                                  known.empty() ? "the program has" : known + " brings"));
}

/// A private copy of a file, removed at the end. The loader takes files with one name for the same.
class PrivateCopy {
 public:
  explicit PrivateCopy(const std::string& file) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/takt-plugin-XXXXXX";
    const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) {
      error_ = std::strerror(errno);
      return;
    }
    const int to = ::mkostemp(path_.data(), O_CLOEXEC);
    exists_ = to >= 0;
    struct stat status {};
    if (!exists_ || ::fstat(from, &status) != 0) {
      error_ = std::string("cannot be copied: ") + std::strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
      error_ = "is not a file";
    } else {
      copy(from, to, static_cast<std::size_t>(status.st_size));
    }
    if (to >= 0) ::close(to);
    ::close(from);
  }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;
  ~PrivateCopy() {
    if (exists_) ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Why there is no copy; empty: there is one.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  void copy(int from, int to, std::size_t left) {
    while (left > 0) {
      const ssize_t sent = ::sendfile(to, from, nullptr, left);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) {
        error_ = sent == 0 ? "became shorter while it was copied" : std::strerror(errno);
        return;
      }
      left -= static_cast<std::size_t>(sent);
    }
  }

  std::string path_;
  std::string error_;
  bool exists_ = false;
};

/// The first existing file of this name.
SetupResult<std::string> find_file(const std::string& file, std::span<const std::string> folders) {
  if (file.find('/') != std::string::npos) return file;
  std::string searched;
  for (const std::string& folder : folders) {
    const std::string path = fmt::format("{}/{}", folder, file);
    if (::access(path.c_str(), R_OK) == 0) return path;
    searched += (searched.empty() ? "" : ", ") + folder;
  }
  return refuse(file, "there is no such file in: " + (searched.empty() ? "no folder" : searched) +
                          ". Name a folder, or a path with '/'.");
}

/// A printable part of a text from outside.
std::string printable(const char* text) {
  std::string result(text, ::strnlen(text, 200));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return result;
}

SetupResult<const PluginTable*> table_of(void* handle, const std::string& file) {
  using EntryPoint = const PluginTable* (*)();
  const auto entry = reinterpret_cast<EntryPoint>(::dlsym(handle, component::plugin_symbol));
  if (entry == nullptr) {
    return refuse(file, std::string("has no entry point ") + component::plugin_symbol +
                            "(); end one of its sources with TAKT_PLUGIN(...)");
  }
  const PluginTable* table = nullptr;
  try {
    table = entry();
  } catch (...) {
    return refuse(file, "its entry point threw an exception");
  }
  if (table == nullptr || table->bytes != sizeof(PluginTable) || table->abi == nullptr)
    return refuse(file, "its entry point returns no table of this version");
  static constexpr component::PluginAbi ours = component::plugin_abi();
  if (std::strcmp(ours.c_str(), table->abi) != 0) {
    return refuse(file, "was built for another ABI: \"" + printable(table->abi) +
                            "\", and this program has \"" + ours.c_str() + "\"");
  }
  if (table->count == 0 || table->types == nullptr) return refuse(file, "has no component types");
  return table;
}

[[nodiscard]] bool is_complete(const ComponentType& type) noexcept {
  return type.metadata != nullptr && type.make != nullptr && type.destroy != nullptr &&
         component::is_valid_name(type.metadata->type);
}

}  // namespace

ComponentLibrary::ComponentLibrary() { static_cast<void>(add(component::component_type<NamedComposite>())); }

SetupResult<void> ComponentLibrary::add(const ComponentType& type) { return add(type, "", nullptr); }

SetupResult<void> ComponentLibrary::add(const ComponentType& type, const std::string& file,
                                        std::shared_ptr<void> handle) {
  const std::string name(type.metadata->type);
  const auto known = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.type.metadata->type == name; });
  if (known == entries_.end()) {
    entries_.push_back({type, file, std::move(handle)});
  } else {
    return refuse_again(file.empty() ? "the program" : file, name, known->file);
  }
  return {};
}

SetupResult<void> ComponentLibrary::load(const std::string& file, std::span<const std::string> folders) {
  const auto path = find_file(file, folders);
  if (!path) return tl::unexpected<SetupError>(path.error());
  const PrivateCopy copy(*path);
  if (!copy.error().empty()) return refuse(*path, copy.error());
  // Local: the symbols of one plug-in are not those of another.
  void* opened = ::dlopen(copy.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    std::string reason = ::dlerror();
    if (const auto at = reason.find(copy.path()); at != std::string::npos)
      reason.replace(at, copy.path().size(), *path);
    return fail(component::Errc::bad_plugin, reason);
  }
  const std::shared_ptr<void> handle(opened, [](void* loaded) { ::dlclose(loaded); });
  const auto table = table_of(opened, *path);
  if (!table) return tl::unexpected<SetupError>(table.error());
  const std::span types((*table)->types, (*table)->count);
  // All are checked before any is added, and before those of an older one of this file go.
  for (const ComponentType& type : types) {
    if (!is_complete(type)) return refuse(*path, "has a component type without a name or functions");
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.type.metadata->type == type.metadata->type && entry.file != *path;
    });
    if (known != entries_.end()) return refuse_again(*path, known->type.metadata->type, known->file);
  }
  std::erase_if(entries_, [&](const Entry& entry) { return entry.file == *path; });
  for (const ComponentType& type : types) {
    if (auto added = add(type, *path, handle); !added) return added;
  }
  return {};
}

SetupResult<ComponentPointer> ComponentLibrary::make(std::string_view type, const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.type.metadata->type == type; });
  if (found == entries_.end()) {
    std::string known;
    for (const Entry& entry : entries_)
      known += (known.empty() ? "" : ", ") + std::string(entry.type.metadata->type);
    return fail(component::Errc::no_such_type,
                "\"" + std::string(type) + "\" is not a component type; there are: " + known);
  }
  try {
    component::Component* made = found->type.make(name.c_str(), found->type.data);
    if (made == nullptr) return fail(component::Errc::no_such_type, std::string(type) + " made no component");
    // The handle is destroyed after the component.
    return ComponentPointer(made, [destroy = found->type.destroy,
                                   handle = found->handle](component::Component* old) { destroy(old); });
  } catch (const std::exception& thrown) {
    return fail(component::Errc::threw, std::string(type) + " threw in its constructor: " + thrown.what());
  } catch (...) {
    return fail(component::Errc::threw, std::string(type) + " threw in its constructor");
  }
}

std::vector<component::ComponentMetadata> ComponentLibrary::types() const {
  std::vector<component::ComponentMetadata> list;
  for (const Entry& entry : entries_) list.push_back(*entry.type.metadata);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.type < b.type; });
  return list;
}

}  // namespace takt::app
