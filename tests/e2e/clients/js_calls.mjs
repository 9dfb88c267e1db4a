// Run by Node, in a client environment: calls a gateway through an SDK and prints what it saw.
// node js_calls.mjs BASE_URL MODEL KEY DIALECT PACKAGE
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const [baseURL, model, apiKey, dialect, sdk] = process.argv.slice(2);
const BASE = baseURL.replace(/\/v1$/, "");
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };
const ABOUT = { name: "get_weather", description: "The weather." };
const HELLO = { role: "user", content: "hi" };
const ofChat = (call) => [call.function.name, JSON.parse(call.function.arguments)];
const ofItem = (call) => [call.name, JSON.parse(call.arguments)];
const ofBlock = (block) => [block.name, block.input];

async function chat() {
  const { OpenAI } = require("openai");
  const api = new OpenAI({ baseURL, apiKey, maxRetries: 0 }).chat.completions;
  const tools = [{ type: "function", function: { ...ABOUT, parameters: SCHEMA } }];
  const whole = async (messages, more) => (await api.create({ model, messages, ...more })).choices[0].message;
  const streamed = (messages, more) => api.stream({ model, messages, ...more }).finalMessage();
  const called = await whole([HELLO], { tools });
  const result = { role: "tool", tool_call_id: called.tool_calls[0].id, content: "rain" };
  const round = [HELLO, called, result];
  return {
    unary: (await whole([HELLO])).content,
    stream: (await streamed([HELLO])).content,
    tools: ofChat(called.tool_calls[0]),
    "streamed tools": ofChat((await streamed([HELLO], { tools })).tool_calls[0]),
    results: (await whole(round, { tools })).content,
    "streamed results": (await streamed(round, { tools })).content,
  };
}

async function responses() {
  const { OpenAI } = require("openai");
  const api = new OpenAI({ baseURL, apiKey, maxRetries: 0 }).responses;
  const tools = [{ type: "function", ...ABOUT, parameters: SCHEMA, strict: false }];
  const whole = (input, more) => api.create({ model, input, store: false, ...more });
  const streamed = (input, more) => api.stream({ model, input, store: false, ...more }).finalResponse();
  const call = (answer) => answer.output.find((item) => item.type === "function_call");
  const called = await whole([HELLO], { tools });
  const result = { type: "function_call_output", call_id: call(called).call_id, output: "rain" };
  const round = [HELLO, ...called.output, result];
  return {
    unary: (await whole([HELLO])).output_text,
    stream: (await streamed([HELLO])).output_text,
    tools: ofItem(call(called)),
    "streamed tools": ofItem(call(await streamed([HELLO], { tools }))),
    results: (await whole(round, { tools })).output_text,
    "streamed results": (await streamed(round, { tools })).output_text,
  };
}

async function messages() {
  const { Anthropic } = require("@anthropic-ai/sdk");
  const api = new Anthropic({ baseURL: BASE, apiKey, maxRetries: 0 }).messages;
  const tools = [{ ...ABOUT, input_schema: SCHEMA }];
  const fields = { model, max_tokens: 64 };
  const whole = (said, more) => api.create({ ...fields, messages: said, ...more });
  const streamed = (said, more) => api.stream({ ...fields, messages: said, ...more }).finalMessage();
  const block = (answer, type) => answer.content.find((found) => found.type === type);
  const called = await whole([HELLO], { tools });
  const result = { type: "tool_result", tool_use_id: block(called, "tool_use").id, content: "rain" };
  const round = [HELLO, { role: "assistant", content: called.content }, { role: "user", content: [result] }];
  return {
    unary: block(await whole([HELLO]), "text").text,
    stream: block(await streamed([HELLO]), "text").text,
    tools: ofBlock(block(called, "tool_use")),
    "streamed tools": ofBlock(block(await streamed([HELLO], { tools }), "tool_use")),
    results: block(await whole(round, { tools }), "text").text,
    "streamed results": block(await streamed(round, { tools }), "text").text,
  };
}

function ofVercel() {
  if (dialect === "anthropic_messages") return require("@ai-sdk/anthropic").createAnthropic({ baseURL, apiKey })(model);
  const openai = require("@ai-sdk/openai").createOpenAI({ baseURL, apiKey });
  return dialect === "openai_responses" ? openai.responses(model) : openai.chat(model);
}

async function vercel() {
  const { generateText, streamText, tool, stepCountIs, jsonSchema } = require("ai");
  const calls = [];
  const execute = async (input) => (calls.push([ABOUT.name, input]), "rain");
  const tools = { get_weather: tool({ description: "The weather.", inputSchema: jsonSchema(SCHEMA), execute }) };
  const usual = { model: ofVercel(), prompt: "hi", maxRetries: 0 };
  const round = { ...usual, tools, stopWhen: stepCountIs(2) };
  const result = (await generateText(round)).text;
  const streamedResult = await streamText(round).text;
  return {
    unary: (await generateText(usual)).text,
    stream: await streamText(usual).text,
    tools: calls[0],
    "streamed tools": calls[1],
    results: result,
    "streamed results": streamedResult,
  };
}

const BY_DIALECT = { openai_chat: chat, openai_responses: responses, anthropic_messages: messages };
const seen = await (sdk === "ai" ? vercel : BY_DIALECT[dialect])();
const about = JSON.parse(readFileSync(join("node_modules", sdk, "package.json"), "utf8"));
console.log(JSON.stringify({ version: about.version, ...seen }));
