// Foxglove's own client of its WebSocket protocol subscribes, decodes, and sets a parameter.
//
//     node foxglove_peer.js NODE_MODULES URL PARAMETER VALUE
//
// Prints one JSON object: what it saw.
"use strict";
const [, , modules, url, parameter, value] = process.argv;
const load = require("module").createRequire(modules + "/");
const { WebSocket } = load("ws");
const { FoxgloveClient } = load("@foxglove/ws-protocol");
const { parse } = load("@foxglove/rosmsg");
const { MessageReader } = load("@foxglove/rosmsg2-serialization");

const wanted = ["/joints/measured", "/joints/reference", "/robot", "/loop", "/buses"];
const seen = { topics: [], messages: {}, statuses: [], times: 0 };
const readers = new Map();
const client = new FoxgloveClient({ ws: new WebSocket(url, [FoxgloveClient.SUPPORTED_SUBPROTOCOL]) });

function decoder(channel) {
  if (channel.encoding === "json") return (data) => JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  const reader = new MessageReader(parse(channel.schema, { ros2: true }));
  return (data) => {
    const joints = reader.readMessage(data);
    return { stamp: joints.header.stamp, name: joints.name, position: [...joints.position], velocity: [...joints.velocity], effort: [...joints.effort] };
  };
}

function finish() {
  const is_whole = wanted.every((topic) => seen.messages[topic]) && seen.parameters && seen.set && seen.update && seen.times;
  if (!is_whole) return;
  console.log(JSON.stringify(seen));
  client.close();
  process.exit(0);
}

client.on("serverInfo", (info) => {
  seen.info = info;
  client.getParameters([], "all");
});
client.on("advertise", (channels) => {
  for (const channel of channels) {
    seen.topics.push(channel.topic);
    readers.set(client.subscribe(channel.id), [channel.topic, decoder(channel)]);
  }
});
client.on("message", ({ subscriptionId, timestamp, data }) => {
  const [topic, decode] = readers.get(subscriptionId);
  seen.messages[topic] = { time: timestamp.toString(), message: decode(data) };
  finish();
});
client.on("time", () => {
  ++seen.times;
  finish();
});
client.on("status", (status) => seen.statuses.push(status));
client.on("parameterValues", ({ parameters, id }) => {
  if (id === "all") {
    seen.parameters = parameters;
    client.subscribeParameterUpdates([parameter]);
    client.setParameters([{ name: parameter, value: JSON.parse(value) }], "set");
  } else if (id === "set") {
    seen.set = parameters;
  } else {
    seen.update = parameters;
  }
  finish();
});
client.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
