// State that survives the replacement of a component (replacement.hpp). The component declares it as a
// member:
//
//     struct Integrals {
//       std::array<double, 3> torque{};  // N m
//
//       TAKT_FIELDS(Integrals, torque)
//     };
//     takt::component::KeptState<Integrals> integrals{*this, "integrals"};
//
//     integrals->torque[0] += gain * error;  // in the cycle
//
// A new version of the component takes the state over if it declares one with the same name and fields.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "takt/core/fields.hpp"
#include "takt/shm/schema.hpp"

namespace takt::component {

class Component;

/// Kept state of any type.
class KeptStateBase {
 public:
  KeptStateBase(const KeptStateBase&) = delete;
  KeptStateBase& operator=(const KeptStateBase&) = delete;

  /// The name, unique among the kept states of the component.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The schema of the state: "torque f64[3]".
  [[nodiscard]] std::string_view schema() const noexcept { return schema_; }
  /// Its bytes. Only the thread that runs the component touches them.
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return bytes_; }

 protected:
  /// Adds the state to the component.
  KeptStateBase(Component& component, std::string name, std::string_view schema, std::span<std::byte> bytes);
  ~KeptStateBase();

 private:
  Component* component_;
  std::string name_;
  std::string_view schema_;
  std::span<std::byte> bytes_;
};

/// State of a component that its successor takes over.
template <shm::Described T>
class KeptState final : public KeptStateBase {
 public:
  /// Adds the state to the component. Not real-time safe.
  KeptState(Component& component, std::string name, const T& initial = {})
      : KeptStateBase(component, std::move(name), shm::schema_text<T>(),
                      std::as_writable_bytes(std::span(&value_, 1))),
        value_(initial) {}

  /// The state. For the thread that runs the component; real-time safe.
  [[nodiscard]] T& operator*() noexcept { return value_; }
  [[nodiscard]] const T& operator*() const noexcept { return value_; }
  [[nodiscard]] T* operator->() noexcept { return &value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &value_; }

 private:
  T value_;
};

}  // namespace takt::component
