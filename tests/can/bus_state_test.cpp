#include <doctest/doctest.h>
#include <linux/can/error.h>

#include <array>
#include <random>

#include "support/random.hpp"
#include "takt/can/bus_state.hpp"

using namespace takt;
using namespace takt::can;

namespace {

Frame error_frame(std::uint32_t classes, std::array<std::uint8_t, 8> data = {}) {
  Frame frame;
  frame.error = true;
  frame.id = classes;
  frame.length = 8;
  std::copy(data.begin(), data.end(), frame.data.begin());
  return frame;
}

BusReport report(std::uint32_t classes, std::array<std::uint8_t, 8> data = {}) {
  return decode_bus_report(error_frame(classes, data)).value();
}

}  // namespace

TEST_CASE("each class of the kernel's error frames is reported by its name") {
  CHECK(report(0) == BusReport{});
  CHECK(report(CAN_ERR_TX_TIMEOUT) == BusReport{.transmit_timeout = true});
  CHECK(report(CAN_ERR_LOSTARB, {11}) == BusReport{.arbitration_lost = 11});
  CHECK(report(CAN_ERR_LOSTARB) == BusReport{.arbitration_lost = 0});
  CHECK(report(CAN_ERR_ACK) == BusReport{.no_acknowledge = true});
  CHECK(report(CAN_ERR_BUSOFF) == BusReport{.state = BusState::bus_off});
  CHECK(report(CAN_ERR_BUSERROR) == BusReport{.bus_error = true});
  CHECK(report(CAN_ERR_RESTARTED) == BusReport{.state = BusState::active, .restarted = true});
  CHECK(report(CAN_ERR_TRX, {0, 0, 0, 0, CAN_ERR_TRX_CANH_NO_WIRE}) == BusReport{.transceiver_error = true});
  CHECK(report(CAN_ERR_CNT, {0, 0, 0, 0, 0, 0, 129, 7}) == BusReport{.counters = ErrorCounters{129, 7}});
  CHECK(report(CAN_ERR_CRTL, {0, CAN_ERR_CRTL_RX_OVERFLOW}) == BusReport{.receive_overflow = true});
  CHECK(report(CAN_ERR_CRTL, {0, CAN_ERR_CRTL_TX_OVERFLOW}) == BusReport{.transmit_overflow = true});
  for (const int bits : {CAN_ERR_CRTL_RX_WARNING, CAN_ERR_CRTL_TX_WARNING}) {
    CHECK(report(CAN_ERR_CRTL, {0, static_cast<std::uint8_t>(bits)}) ==
          BusReport{.state = BusState::warning});
  }
  for (const int bits : {CAN_ERR_CRTL_RX_PASSIVE, CAN_ERR_CRTL_TX_PASSIVE}) {
    CHECK(report(CAN_ERR_CRTL, {0, static_cast<std::uint8_t>(bits)}) ==
          BusReport{.state = BusState::passive});
  }
  CHECK(report(CAN_ERR_CRTL, {0, CAN_ERR_CRTL_ACTIVE}) == BusReport{.state = BusState::active});
}

TEST_CASE("a protocol error is reported with its kinds and its place") {
  const auto protocol = [](int kinds, int place) {
    return report(CAN_ERR_PROT, {0, 0, static_cast<std::uint8_t>(kinds), static_cast<std::uint8_t>(place)})
        .protocol_error.value();
  };
  CHECK(protocol(CAN_ERR_PROT_BIT, CAN_ERR_PROT_LOC_SOF) ==
        ProtocolError{.bit = true, .field = FrameField::start_of_frame});
  CHECK(protocol(CAN_ERR_PROT_FORM, CAN_ERR_PROT_LOC_CRC_DEL) ==
        ProtocolError{.form = true, .field = FrameField::checksum_delimiter});
  CHECK(protocol(CAN_ERR_PROT_STUFF, CAN_ERR_PROT_LOC_DATA) ==
        ProtocolError{.stuff = true, .field = FrameField::data});
  CHECK(protocol(CAN_ERR_PROT_BIT0 | CAN_ERR_PROT_TX, CAN_ERR_PROT_LOC_ACK) ==
        ProtocolError{.dominant_bit = true, .sending = true, .field = FrameField::acknowledge});
  CHECK(protocol(CAN_ERR_PROT_BIT1, CAN_ERR_PROT_LOC_EOF) ==
        ProtocolError{.recessive_bit = true, .field = FrameField::end_of_frame});
  CHECK(protocol(CAN_ERR_PROT_OVERLOAD, CAN_ERR_PROT_LOC_INTERM) ==
        ProtocolError{.overload = true, .field = FrameField::intermission});
  CHECK(protocol(CAN_ERR_PROT_ACTIVE, CAN_ERR_PROT_LOC_UNSPEC) == ProtocolError{.active_flag = true});
  for (const int place : {0x01, 0x10, 0x11, 0x13, 0x17, 0x1C, 0xFF}) {
    CHECK(protocol(0, place) == ProtocolError{});
  }
}

TEST_CASE("a frame that names several states means the worst") {
  CHECK(report(CAN_ERR_BUSOFF | CAN_ERR_RESTARTED | CAN_ERR_CRTL, {0, CAN_ERR_CRTL_ACTIVE}).state ==
        BusState::bus_off);
  CHECK(report(CAN_ERR_CRTL, {0, 0x7F}).state == BusState::passive);
  CHECK(report(CAN_ERR_CRTL | CAN_ERR_RESTARTED, {0, CAN_ERR_CRTL_TX_WARNING}).state == BusState::warning);
}

TEST_CASE("details count only with their class") {
  CHECK(report(CAN_ERR_ACK, {255, 255, 255, 255, 255, 255, 255, 255}) == BusReport{.no_acknowledge = true});
}

TEST_CASE("a data frame gives no error report") {
  Frame frame = error_frame(CAN_ERR_BUSOFF);
  for (const int length : {0, 7, 9, 64, 255}) {
    frame.length = static_cast<std::uint8_t>(length);
    CHECK(decode_bus_report(frame).error() == Errc::wrong_length);
  }
  CHECK(decode_bus_report(*make_frame(CAN_ERR_BUSOFF, frame.payload().first(8))).error() ==
        Errc::wrong_format);
}

TEST_CASE("any bytes are a report, and a report comes back from its frame") {
  std::mt19937_64 random = test::generator();
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    std::array<std::uint8_t, 8> data;
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    const auto classes = static_cast<std::uint32_t>(random() & 0x1FFF'FFFF);
    const BusReport first = report(classes, data);
    BusReport again = decode_bus_report(make_error_frame(first)).value();
    REQUIRE(again == first);
  }
}

TEST_CASE("the health of a bus follows it from active to bus-off and back") {
  BusHealth health;
  health.note(report(CAN_ERR_CRTL | CAN_ERR_CNT, {0, CAN_ERR_CRTL_TX_WARNING, 0, 0, 0, 0, 96, 0}));
  CHECK(health.state == BusState::warning);
  health.note(report(CAN_ERR_CRTL | CAN_ERR_CNT, {0, CAN_ERR_CRTL_TX_PASSIVE, 0, 0, 0, 0, 128, 3}));
  CHECK(health.state == BusState::passive);
  health.note(report(CAN_ERR_ACK | CAN_ERR_PROT | CAN_ERR_LOSTARB | CAN_ERR_TX_TIMEOUT));
  CHECK(health.state == BusState::passive);  // the report contains no state
  CHECK(health.counters == ErrorCounters{128, 3});
  health.note(report(CAN_ERR_BUSOFF));
  CHECK(health.state == BusState::bus_off);
  health.note(report(CAN_ERR_RESTARTED));
  CHECK(health == BusHealth{.state = BusState::active,
                            .counters = {128, 3},
                            .reports = 5,
                            .bus_offs = 1,
                            .restarts = 1,
                            .transmit_timeouts = 1,
                            .missing_acknowledges = 1,
                            .arbitrations_lost = 1,
                            .protocol_errors = 1});
}

constexpr auto off = decode_bus_report(make_error_frame({.state = BusState::bus_off}));
static_assert((*off).state == BusState::bus_off);
