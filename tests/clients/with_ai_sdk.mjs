// The AI SDK (Vercel): the provider of servers of OpenAI's kind, and that of OpenAI itself with its default page and with chat.
import { base, key, load, model, must, question, run, shapes, v1 } from "./cells.mjs";

const { Output, embed, embedMany, generateObject, generateText, hasToolCall, jsonSchema, stepCountIs, streamObject, streamText, tool } = load("ai");
const { createOpenAICompatible } = load("@ai-sdk/openai-compatible");
const { createOpenAI } = load("@ai-sdk/openai");
const { z } = load("zod");
globalThis.AI_SDK_LOG_WARNINGS = false;

const provider = (baseURL) => createOpenAICompatible({ name: "ingot", baseURL, apiKey: key, supportsStructuredOutputs: true, includeUsage: true });
const own = createOpenAI({ baseURL: v1, apiKey: key });
const ours = provider(v1)(model);
const ask = (more) => ({ model: ours, prompt: question, maxRetries: 0, ...more });

const cases = [
  ["chat", "a reply", async () => {
    const r = await generateText(ask({ maxOutputTokens: 8 }));
    must(r.text && r.usage.totalTokens > 8, r.usage);
  }],
  ["chat", "a base address without /v1", async () => must((await generateText(ask({ model: provider(base)(model), maxOutputTokens: 4 }))).text)],
  ["chat", "OpenAI's provider, its chat", async () => must((await generateText(ask({ model: own.chat(model), maxOutputTokens: 8 }))).text)],
  ["chat", "OpenAI's provider, its default page", async () => must((await generateText(ask({ model: own(model), maxOutputTokens: 8 }))).text)],
  ["stream", "pieces", async () => {
    let n = 0;
    for await (const piece of streamText(ask({ maxOutputTokens: 8 })).textStream) n += piece.length > 0;
    must(n > 1, `${n}`);
  }],
  ["stream", "OpenAI's provider, its default page", async () => {
    let n = 0;
    for await (const piece of streamText(ask({ model: own(model), maxOutputTokens: 8 })).textStream) n += piece.length > 0;
    must(n > 1, `${n}`);
  }],
  ...shapes(z).flatMap(([name, schema]) => [
    ["tools", name, async () => {
      let got = null;
      const tools = { report: tool({ description: "A report", inputSchema: schema, execute: (a) => { got = a; return "Done."; } }) };
      await generateText(ask({ tools, toolChoice: { type: "tool", toolName: "report" }, stopWhen: hasToolCall("report") }));
      must(got !== null && schema.parse(got), "it was not called");
    }],
    ["structured", name, async () => must(schema.parse((await generateObject(ask({ schema }))).object))],
  ]),
  ["tools", "by OpenAI's provider, strict", async () => {
    const tools = { report: tool({ description: "A report", inputSchema: z.object({ on: z.boolean(), count: z.int() }) }) };
    for (const m of [own.chat(model), own(model)]) {
      const r = await generateText(ask({ model: m, tools, toolChoice: "required" }));
      must(r.toolCalls.length === 1 && typeof r.toolCalls[0].input.on === "boolean", r.toolCalls);
    }
  }],
  ["tools", "the result goes back", async () => {
    const tools = { report: tool({ inputSchema: z.object({ on: z.boolean() }), execute: () => "Done." }) };
    const r = await generateText(ask({ tools, maxOutputTokens: 40, stopWhen: stepCountIs(2), prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }) }));
    must(r.steps.length === 2, r.steps.length);
  }],
  ["tools", "a plain JSON Schema", async () => {
    const tools = { report: tool({ inputSchema: jsonSchema({ type: "object", properties: { at: { type: ["string", "null"], format: "date-time" } } }) }) };
    must((await generateText(ask({ tools, toolChoice: "required" }))).toolCalls.length === 1);
  }],
  ["structured", "in a stream", async () => {
    const schema = shapes(z)[2][1];
    const r = streamObject(ask({ schema }));
    for await (const part of r.partialObjectStream) void part;
    must(schema.parse(await r.object));
  }],
  ["structured", "a list, and a choice", async () => {
    const list = await generateObject(ask({ output: "array", schema: z.object({ on: z.boolean() }) }));
    must(Array.isArray(list.object), list.object);
    const choice = await generateObject(ask({ output: "enum", enum: ["red", "blue"] }));
    must(["red", "blue"].includes(choice.object), choice.object);
  }],
  ["structured", "OpenAI's provider, its default page", async () => {
    const schema = z.object({ sum: z.number().int(), share: z.number().min(0).max(1) });
    must(schema.parse((await generateObject(ask({ model: own(model), schema }))).object));
  }],
  ["structured", "tools beside a structured answer", async () => {
    const schema = z.object({ sum: z.number().int() });
    const tools = { measure: tool({ inputSchema: shapes(z)[1][1] }) };
    const r = await generateText(ask({ tools, output: Output.object({ schema }) }));
    must(r.toolCalls.length === 1 || schema.parse(r.output), r.text);
  }],
  ["embeddings", "a text, texts", async () => {
    const m = provider(v1).textEmbeddingModel(model);
    must((await embed({ model: m, value: "a cat" })).embedding.length > 16);
    must((await embedMany({ model: m, values: ["a cat", "a dog"] })).embeddings.length === 2);
    must((await embed({ model: own.textEmbeddingModel(model), value: "a cat" })).embedding.length > 16);
  }],
];
await run(cases);
