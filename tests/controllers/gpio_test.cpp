#include "takt/controllers/gpio.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "controllers/controller_rig.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

/// A board with a lamp, a valve, a button and a thermometer.
struct Board final : robot::Device {
  Board() : Device(Sender<double>::about, "board") {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    using robot::SafeValue;
    SetupResult<void> done = declarations.command("board/lamp", "", lamp, lamp_driven, SafeValue::hold);
    if (done) done = declarations.command("board/valve", "%", valve, valve_driven, SafeValue::zero);
    if (done) done = declarations.state("board/button", "", button);
    if (done) done = declarations.state("board/heat", "K", heat);
    return done;
  }
  double lamp = 0, valve = 0, button = 0, heat = 0;
  bool lamp_driven = false, valve_driven = false;
};

struct GpioRig : ControllerRig {
  GpioRig() : ControllerRig(rig_robot({"a"})) {
    REQUIRE(manager.add(board));
    REQUIRE(load(controller, {{"inputs", "board/button, board/heat"},
                              {"outputs", "board/lamp, board/valve"},
                              {"digital", "board/lamp"},
                              {"timeout", 0.1}}) == "");
    connections.push_back(component::connect(sender.port, controller->commands.port()).value());
    connections.push_back(component::connect(controller->states, receiver.port).value());
    REQUIRE(change({"io"}) == "");
    make_ready();
  }
  void send(std::initializer_list<double> values) {
    SignalValues sample{.count = values.size()};
    std::ranges::copy(values, sample.values.begin());
    sender.port.write(sample, now);
  }

  Board board;
  std::shared_ptr<GpioController> controller = std::make_shared<GpioController>("io");
  Sender<SignalValues> sender;
  Receiver<SignalValues> receiver;
  std::vector<component::Connection> connections;
};

}  // namespace

TEST_CASE("commands reach the outputs of a device, and its inputs are published") {
  GpioRig rig;
  rig.send({1, 42.5});
  rig.board.button = 1;
  rig.board.heat = 300;
  rig.run(1);
  CHECK(rig.board.lamp == 1);
  CHECK(rig.board.valve == 42.5);
  REQUIRE(rig.receiver.port.read() == shm::Freshness::new_data);
  CHECK(rig.receiver.port.value().count == 2);
  CHECK(rig.receiver.port.value().values[0] == 1);
  CHECK(rig.receiver.port.value().values[1] == 300);
  CHECK(rig.receiver.port.stamp() == rig.now);
}

TEST_CASE("after the timeout, outputs get the safe values of their device") {
  GpioRig rig;
  rig.send({1, 42.5});
  rig.run(100);
  CHECK(rig.board.valve == 42.5);
  rig.run(10);
  CHECK(rig.board.valve == 0);
  CHECK(rig.board.lamp == 1);  // it holds
  CHECK_FALSE(rig.board.lamp_driven);
}

TEST_CASE("a stop of the controller gives the safe values") {
  GpioRig rig;
  rig.send({1, 42.5});
  rig.run(1);
  REQUIRE(rig.change({}, {"io"}) == "");
  rig.run(1);
  CHECK(rig.board.valve == 0);
}

TEST_CASE("bad samples are ignored whole, and counted") {
  GpioRig rig;
  rig.send({1, 5});
  rig.run(1);
  rig.send({0.5, 6});  // the lamp is digital
  rig.run(1);
  rig.send({0, std::numeric_limits<double>::quiet_NaN()});
  rig.run(1);
  rig.send({0});
  rig.run(1);
  rig.send({0, 1, 2});
  rig.run(1);
  CHECK(rig.board.lamp == 1);
  CHECK(rig.board.valve == 5);
  CHECK(rig.state("io/rejected") == 4);
}

TEST_CASE("lists that name nothing, or what is not there, are refused") {
  GpioRig rig;
  const auto load = [&](const std::vector<component::Assignment>& parameters) {
    return rig.load(std::make_shared<GpioController>("other"), parameters);
  };
  CHECK(load({}).find("names nothing") != std::string::npos);
  CHECK(load({{"inputs", "board/knob"}}).find("board/button") != std::string::npos);
  CHECK(load({{"outputs", "board/knob"}}).find("board/lamp") != std::string::npos);
  CHECK(load({{"outputs", "board/lamp"}, {"digital", "board/valve"}}).find("board/valve") !=
        std::string::npos);
}
