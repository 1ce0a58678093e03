// The OpenAI package of npm against `ingot serve`: node openai.mjs CLIENTS BASE WANT, a line "ok NAME" or "not ok NAME: WHY" for each
// check. CLIENTS: the folder of node_modules; WANT: {"prompt", "reply", "long": settings of a request that takes long, "checks": the names
// of those to run; without it all} as JSON.
import { createRequire } from "node:module";

const [clients, baseURL, given] = process.argv.slice(2);
const OpenAI = createRequire(clients + "/x.js")("openai").OpenAI;
const want = JSON.parse(given);
const client = new OpenAI({ baseURL, apiKey: "secret", maxRetries: 0, timeout: 60000 });
const model = "demo-q8_0";
const chat = (content, more = {}) => ({ model, messages: [{ role: "user", content }], temperature: 0, max_tokens: 200, ...more });
const parameters = { type: "object", properties: { colour: { type: "string", enum: ["red", "blue"] }, level: { type: "integer", minimum: 0, maximum: 9 } },
                     required: ["colour", "level"], additionalProperties: false };
const tools = [{ type: "function", function: { name: "lamp", description: "A lamp", parameters, strict: true } }];
const fits = (a) => ["red", "blue"].includes(a.colour) && Number.isInteger(a.level) && a.level >= 0 && a.level <= 9 && Object.keys(a).length === 2;

function must(good, why) {
  if (!good) throw new Error(typeof why === "string" ? why : JSON.stringify(why));
}

async function refused(kind, status, work) {
  try {
    await work();
  } catch (e) {
    must(e instanceof OpenAI[kind] && e.status === status, `${e.constructor.name} ${e.status}: ${e.message}`);
    return e;
  }
  throw new Error("it was answered");
}

const checks = {
  async "models"() {
    const page = await client.models.list();
    must(page.data[0].id === "demo-q8_0.ingot", page.data);
  },
  async "a chat"() {
    const r = await client.chat.completions.create(chat(want.prompt));
    must(r.choices[0].message.content.trim() === want.reply && r.choices[0].finish_reason === "stop" && r.usage.total_tokens > 8, r);
  },
  async "a stream"() {
    let text = "", usage = null;
    for await (const part of await client.chat.completions.create(chat(want.prompt, { stream: true, stream_options: { include_usage: true } }))) {
      text += part.choices[0]?.delta?.content ?? "";
      usage = part.usage ?? usage;
    }
    must(text.trim() === want.reply && usage.completion_tokens > 3, text);
  },
  async "the package's own gathering of a stream"() {
    const r = await client.chat.completions.stream(chat(want.prompt)).finalChatCompletion();
    must(r.choices[0].message.content.trim() === want.reply, r);
  },
  async "several replies and the shares of tokens"() {
    const r = await client.chat.completions.create(chat(want.prompt, { n: 2, logprobs: true, top_logprobs: 3, temperature: 1, seed: 4 }));
    must(r.choices.length === 2 && r.choices[1].index === 1 && r.choices.every((c) => c.logprobs.content.map((t) => t.token).join("") === c.message.content), r);
    must(r.choices[0].logprobs.content[0].top_logprobs.length === 3, r.choices[0].logprobs);
  },
  async "a call of a function, and what it gave"() {
    const messages = [{ role: "user", content: "Set the light." }];
    const r = await client.chat.completions.create(chat("", { messages, tools, tool_choice: "required", temperature: 1.5, seed: 1 }));
    const call = r.choices[0].message.tool_calls[0];
    must(r.choices[0].finish_reason === "tool_calls" && call.function.name === "lamp" && fits(JSON.parse(call.function.arguments)), r);
    messages.push(r.choices[0].message, { role: "tool", tool_call_id: call.id, content: "It is on." });
    const next = await client.chat.completions.create(chat("", { messages, tools, max_tokens: 20 }));
    must(["stop", "length", "tool_calls"].includes(next.choices[0].finish_reason), next);
  },
  async "a call in a stream, gathered by the package"() {
    const more = { tools, tool_choice: { type: "function", function: { name: "lamp" } }, temperature: 1.5, seed: 2 };
    const r = await client.chat.completions.stream(chat("Set the light.", more)).finalChatCompletion();
    const call = r.choices[0].message.tool_calls[0];
    must(call.id.startsWith("call_") && call.type === "function" && fits(JSON.parse(call.function.arguments)), r);
  },
  async "a function that the package runs"() {
    let got = null;
    const own = { type: "function", function: { name: "lamp", description: "A lamp", parameters, parse: JSON.parse, function: (a) => { got = a; return "ok"; } } };
    await client.chat.completions.runTools(chat("Set the light.", { tools: [own], tool_choice: { type: "function", function: { name: "lamp" } } })).done();
    must(got !== null && fits(got), got);
  },
  async "a schema"() {
    const r = await client.chat.completions.parse(chat("Set the light.", { temperature: 1.5, seed: 3,
      response_format: { type: "json_schema", json_schema: { name: "lamp", strict: true, schema: parameters } } }));
    must(fits(JSON.parse(r.choices[0].message.content)), r);
  },
  async "a text that goes on"() {
    const r = await client.completions.create({ model, prompt: "Once upon a time", max_tokens: 6, temperature: 0, logprobs: 1 });
    must(r.choices[0].text.length > 0 && r.choices[0].logprobs.tokens.length === 6, r);
  },
  async "a text that goes on, and its length alone"() {
    const r = await client.completions.create({ model, prompt: "Once upon a time", max_tokens: 6, temperature: 0 });
    must(r.choices[0].text.length > 0 && r.usage.completion_tokens === 6 && r.choices[0].finish_reason === "length", r);
  },
  async "embeddings, as numbers and as the package asks for them"() {
    const input = ["a cat", "a dog"];
    const a = await client.embeddings.create({ model, input });
    const b = await client.embeddings.create({ model, input, encoding_format: "float" });
    must(a.data.length === 2 && a.data.every((d, i) => d.embedding.length === 128 && d.embedding.every((x, k) => Math.fround(b.data[i].embedding[k]) === x)), a.data[0]);
  },
  async "errors as the package's own"() {
    const e = await refused("BadRequestError", 400, () => client.chat.completions.create(chat("x", { temperature: -1 })));
    must(e.param === "temperature" && e.type === "invalid_request_error", e);
    await refused("NotFoundError", 404, () => client.models.retrieve("gpt-4"));
    must((await client.models.retrieve(model)).id === `${model}.ingot` && (await client.models.retrieve(`${model}.ingot`)).object === "model", model);
    must((await client.chat.completions.create(chat("x", { model: "gpt-4", max_tokens: 1 }))).model === `${model}.ingot`, "any name is the one model's");
    await refused("BadRequestError", 400, () => client.chat.completions.create(chat("x", { tools: [{ type: "function", function: { name: "a b" } }] })));
    await refused("AuthenticationError", 401, () => new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list());
  },
  async "a stream that is aborted"() {
    const c = new AbortController();
    let n = 0;
    const long = chat("Tell me a story about a cat.", { ...want.long, stream: true });
    for await (const part of await client.chat.completions.create(long, { signal: c.signal })) {
      if (part.choices[0].delta.content && ++n === 3) c.abort();
    }
    must(n >= 3 && n < 2000, `${n}`);
  },
};

for (const [name, check] of Object.entries(checks)) {
  if (want.checks && !want.checks.includes(name)) continue;
  try {
    await check();
    console.log(`ok ${name}`);
  } catch (e) {
    console.log(`not ok ${name}: ${String(e.message).replaceAll("\n", " ").slice(0, 900)}`);
  }
}
