// Reads a recording with MCAP's own library, once by its index and once from beginning to end, and tells what it found. Or writes a
// file of another program: joint states in JSON.
//
// usage: node mcap_peer.js NODE_MODULES read FILE        node mcap_peer.js NODE_MODULES write FILE
"use strict";
const fs = require("fs");
const path = require("path");

const [modules, action, file] = process.argv.slice(2);
const load = (name) => require(path.join(modules, name));
const { McapIndexedReader, McapStreamReader, McapWriter } = load("@mcap/core");
const { parse } = load("@foxglove/rosmsg");
const { MessageReader } = load("@foxglove/rosmsg2-serialization");
const fzstd = load("fzstd");

const decompressHandlers = { zstd: (data) => fzstd.decompress(data) };

class File {
  constructor(name) {
    this.data = fs.readFileSync(name);
  }
  async size() {
    return BigInt(this.data.length);
  }
  async read(offset, length) {
    return new Uint8Array(this.data.subarray(Number(offset), Number(offset + length)));
  }
}

function decoder(schema) {
  return new MessageReader(parse(schema.text, { ros2: true }));
}

async function readByIndex() {
  const reader = await McapIndexedReader.Initialize({ readable: new File(file), decompressHandlers, validateCrcs: true });
  const decoders = new Map();
  const topics = {};
  const sensors = {};
  let last;
  for await (const message of reader.readMessages()) {
    const channel = reader.channelsById.get(message.channelId);
    if (!decoders.has(channel.id)) {
      const schema = reader.schemasById.get(channel.schemaId);
      decoders.set(channel.id, decoder({ text: new TextDecoder().decode(schema.data) }));
      if (channel.topic.startsWith("/sensors/")) sensors[channel.topic] = { type: schema.name, values: [] };
    }
    const value = decoders.get(channel.id).readMessage(message.data);
    if (channel.topic in sensors) sensors[channel.topic].values.push(value);
    topics[channel.topic] = (topics[channel.topic] ?? 0) + 1;
    if (channel.topic === "/joints/measured") last = value;
  }
  // In the middle of the run: at its end the drives are off.
  for (const one of Object.values(sensors)) one.values = [one.values[one.values.length >> 1]];
  const metadata = {};
  for await (const record of reader.readMetadata()) metadata[record.name] = Object.fromEntries(record.metadata);
  const position = Object.fromEntries(last.name.map((name, i) => [name, last.position[i]]));
  return { topics, sensors, metadata, position, statistics: Number(reader.statistics.messageCount), chunks: reader.chunkIndexes.length };
}

function readStream() {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  reader.append(new Uint8Array(fs.readFileSync(file)));
  let messages = 0;
  for (let record; (record = reader.nextRecord()); ) messages += record.type === "Message" ? 1 : 0;
  return { messages, done: reader.done() };
}

async function write() {
  let bytes = [];
  const writable = {
    position: () => BigInt(bytes.reduce((sum, part) => sum + part.length, 0)),
    write: async (part) => void bytes.push(Buffer.from(part)),
  };
  const writer = new McapWriter({ writable });
  await writer.start({ profile: "", library: "test" });
  const schemaId = await writer.registerSchema({ name: "state", encoding: "jsonschema", data: Buffer.from('{"type":"object"}') });
  const channelId = await writer.registerChannel({ topic: "/arm", schemaId, messageEncoding: "json", metadata: new Map() });
  for (let i = 0; i < 200; ++i) {
    const time = BigInt(1e18) + BigInt(i) * 10000000n;
    const message = { name: ["elbow", "knee"], position: [Math.sin(i / 20), i / 200], velocity: [0, 0], effort: [] };
    await writer.addMessage({ channelId, sequence: i, logTime: time, publishTime: time, data: Buffer.from(JSON.stringify(message)) });
  }
  await writer.end();
  fs.writeFileSync(file, Buffer.concat(bytes));
}

async function main() {
  if (action === "write") return write();
  console.log(JSON.stringify({ ...(await readByIndex()), stream: readStream() }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
