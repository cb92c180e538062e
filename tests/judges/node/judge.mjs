// Judges requests with the AI SDK itself: one JSON request per line in, one list of complaints out.
//
// A message must satisfy the SDK's exported schema, and nothing in it may be lost on the way (zod
// drops unknown keys in silence, so what went in is compared with what came out). The whole request
// must then reach a local model through generateText, which is where missing results and system
// messages are refused. No network: the model is a mock that says it reads every address itself.

import * as current from "ai";
import * as v4 from "ai-v4";
import { MockLanguageModelV4 } from "ai/test";
import { MockLanguageModelV1 } from "ai-v4/test";
import { createInterface } from "node:readline";

globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.info = console.warn = console.error;

class Reached extends Error {
  constructor({ prompt }) {
    super();
    this.prompt = prompt;
  }
}
const doGenerate = async (given) => {
  throw new Reached(given);
};

const SDKS = {
  vercel: {
    sdk: current,
    schemaKey: "inputSchema",
    model: new MockLanguageModelV4({ doGenerate, supportedUrls: { "*/*": [/.*/] } }),
    schemas: {
      system: current.systemModelMessageSchema,
      user: current.userModelMessageSchema,
      assistant: current.assistantModelMessageSchema,
      tool: current.toolModelMessageSchema,
    },
    anyMessage: current.modelMessageSchema,
  },
  "vercel-v4": {
    sdk: v4,
    schemaKey: "parameters",
    model: new MockLanguageModelV1({ doGenerate, supportsUrl: () => true }),
    schemas: {
      system: v4.coreSystemMessageSchema,
      user: v4.coreUserMessageSchema,
      assistant: v4.coreAssistantMessageSchema,
      tool: v4.coreToolMessageSchema,
    },
    anyMessage: v4.coreMessageSchema,
    // Its schema forgets what its type ReasoningPart has, and generateText hands it on: it checks
    // the messages, and sends those that it was given. Whether it did is looked up in the prompt.
    unlisted: { type: "reasoning", key: "signature" },
  },
};

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// Of a failed union only the member that came closest is told, as in strict_types.py.
function issues(error, path) {
  return error.issues.flatMap((issue) => {
    const here = [...path, ...issue.path];
    // zod 4 tells the members' issues from here on, zod 3 from the beginning.
    const members = issue.unionErrors
      ? issue.unionErrors.map((each) => issues(each, path))
      : (issue.errors ?? []).map((each) => issues({ issues: each }, here));
    const distance = (lines) => 1000 * otherKind(lines, here.join(".")) + lines.length;
    const closest = members
      .filter((each) => each.length)
      .sort((one, two) => distance(one) - distance(two))[0];
    return closest ?? [`${here.join(".")}: ${issue.message}`];
  });
}

// A member that fails at its root or by its `type` was not the one that was meant.
function otherKind(lines, root) {
  if (lines.some((line) => line.startsWith(`${root}: `))) return 2;
  return Number(lines.some((line) => line.startsWith(`${root}.type: `)));
}

function losses(given, kept, path, unlisted) {
  if (Array.isArray(given) && Array.isArray(kept)) {
    return given.flatMap((each, at) => losses(each, kept[at], [...path, at], unlisted));
  }
  if (!isObject(given) || !isObject(kept)) return [];
  const isUnlisted = (key) => given.type === unlisted?.type && key === unlisted?.key;
  return Object.keys(given).flatMap((key) =>
    Object.hasOwn(kept, key) || isUnlisted(key)
      ? losses(given[key], kept[key], [...path, key], unlisted)
      : [`${[...path, key].join(".")}: unknown key, the SDK drops it`],
  );
}

function unlistedIn(messages, { type, key }) {
  const parts = messages.flatMap((each) => (Array.isArray(each?.content) ? each.content : []));
  return parts.filter((each) => each?.type === type && each[key] !== undefined).map((each) => each[key]);
}

function unsent({ unlisted }, messages, prompt) {
  if (!unlisted) return [];
  const sent = unlistedIn(prompt, unlisted);
  return unlistedIn(messages, unlisted)
    .filter((value) => typeof value !== "string" || !sent.includes(value))
    .map((value) => `generateText: ${unlisted.key} ${JSON.stringify(value)} does not reach the model`);
}

function messageComplaints({ schemas, anyMessage, unlisted }, message, at) {
  const path = ["messages", at];
  const known = isObject(message) && Object.hasOwn(schemas, message.role);
  const schema = known ? schemas[message.role] : anyMessage;
  const read = schema.safeParse(message);
  return read.success ? losses(message, read.data, path, unlisted) : issues(read.error, path);
}

async function requestComplaints(version, { tools, ...request }) {
  const { sdk, model, schemaKey } = version;
  const prepared = isObject(tools) ? Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      isObject(tool?.[schemaKey]) ? { ...tool, [schemaKey]: sdk.jsonSchema(tool[schemaKey]) } : tool,
    ]),
  ) : tools;
  try {
    await sdk.generateText({ ...request, tools: prepared, model, maxRetries: 0 });
  } catch (error) {
    const reached = [error, error?.cause].find((each) => each instanceof Reached);
    if (reached) return unsent(version, request.messages, reached.prompt);
    return [`generateText: ${error?.name}: ${String(error?.message).split("\n")[0]}`];
  }
  return ["generateText: never asked the model"];
}

async function complaints({ target, request }) {
  const version = SDKS[target];
  const messages = Array.isArray(request.messages) ? request.messages : [];
  const shape = messages.flatMap((message, at) => messageComplaints(version, message, at));
  return [...shape, ...(await requestComplaints(version, request))];
}

for await (const line of createInterface({ input: process.stdin })) {
  const verdict = await complaints(JSON.parse(line)).catch((error) => [`judge.mjs: ${error}`]);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
}
