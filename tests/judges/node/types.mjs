// Prints the JSON schemas of the messages that the AI SDK takes, in both versions.

import * as current from "ai";
import * as v4 from "ai-v4";
import * as zod from "zod/v4";
import { zodToJsonSchema } from "zod-to-json-schema";

// It says of each type that holds itself that this is so.
console.warn = () => {};

console.log(
  JSON.stringify({
    // "any": what JSON cannot hold (URL, Uint8Array) is the empty schema.
    vercel: zod.toJSONSchema(current.modelMessageSchema, { io: "input", unrepresentable: "any" }),
    "vercel-v4": zodToJsonSchema(v4.coreMessageSchema, { $refStrategy: "none" }),
  }),
);
