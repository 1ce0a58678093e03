// The OpenAI package of npm, with zod (tests/boot/openai.t has more of it).
import { base, key, load, model, must, question, run, shapes, v1 } from "./cells.mjs";

const OpenAI = load("openai").OpenAI;
const { z, toJSONSchema } = load("zod");
const client = new OpenAI({ baseURL: v1, apiKey: key, maxRetries: 0, timeout: 120000 });
const messages = [{ role: "user", content: question }];
const chat = (more) => ({ model, messages, ...more });
const tool = (schema) => [{ type: "function", function: { name: "report", parameters: toJSONSchema(schema) } }];
const format = (schema) => ({ type: "json_schema", json_schema: { name: "it", strict: true, schema: toJSONSchema(schema) } });

const cases = [
  ["chat", "a reply", async () => {
    const r = await client.chat.completions.create(chat({ max_tokens: 8 }));
    must(r.choices[0].message.content && r.usage.total_tokens > 8, r);
  }],
  ["chat", "a base address without /v1", async () => {
    const r = await new OpenAI({ baseURL: base, apiKey: key }).chat.completions.create(chat({ max_tokens: 4 }));
    must(r.choices[0].message.content, r);
  }],
  ["stream", "pieces", async () => {
    let text = "";
    for await (const part of await client.chat.completions.create(chat({ max_tokens: 8, stream: true }))) text += part.choices[0]?.delta?.content ?? "";
    must(text, "no text");
  }],
  ["stream", "gathered by the package", async () => {
    must((await client.chat.completions.stream(chat({})).finalChatCompletion()).choices[0].message.content);
  }],
  ["tools", "by name, and the result goes back", async () => {
    const tools = tool(z.object({ on: z.boolean() }));
    const r = await client.chat.completions.create(chat({ tools, tool_choice: { type: "function", function: { name: "report" } } }));
    const said = r.choices[0].message;
    must(typeof JSON.parse(said.tool_calls[0].function.arguments).on === "boolean", r);
    const back = [...messages, said, { role: "tool", tool_call_id: said.tool_calls[0].id, content: "Done." }];
    must((await client.chat.completions.create(chat({ messages: back, tools, max_tokens: 4 }))).choices.length === 1);
  }],
  ...shapes(z).flatMap(([name, schema]) => [
    ["tools", name, async () => {
      const r = await client.chat.completions.create(chat({ tools: tool(schema), tool_choice: "required" }));
      schema.parse(JSON.parse(r.choices[0].message.tool_calls[0].function.arguments));
    }],
    ["structured", name, async () => {
      const r = await client.chat.completions.parse(chat({ response_format: format(schema) }));
      schema.parse(JSON.parse(r.choices[0].message.content));
    }],
  ]),
  ["structured", "tools beside a structured answer", async () => {
    const schema = z.object({ sum: z.number().int() });
    const r = await client.chat.completions.create(chat({ response_format: format(schema), tools: tool(shapes(z)[0][1]) }));
    const said = r.choices[0].message;
    must(said.tool_calls?.length || schema.parse(JSON.parse(said.content)), r);
  }],
  ["embeddings", "a text, texts, tokens, lists of tokens", async () => {
    for (const [input, count] of [["a cat", 1], [["a cat", "a dog"], 2], [[5, 6, 7], 1], [[[5, 6], [7]], 2]]) {
      const r = await client.embeddings.create({ model, input });
      must(r.data.length === count && r.data[0].embedding.length > 16, r);
    }
  }],
];
await run(cases);
