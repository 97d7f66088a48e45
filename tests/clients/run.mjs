// run.mjs client|sdk SERVER...: drives a stdio server with the TypeScript client (modern era) or the older SDK
// (legacy era): lists, calls with progress, aborts a call, lists again. Exits with 1 and says why if anything is off.
import assert from "node:assert/strict";

const [which, command, ...args] = process.argv.slice(2);
const modern = which === "client";
const home = modern ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client";
const { Client } = await import(modern ? home : `${home}/index.js`);
const { StdioClientTransport } = await import(modern ? `${home}/stdio` : `${home}/stdio.js`);

const client = new Client({ name: "check", version: "1" }, modern ? { versionNegotiation: { mode: "auto" } } : {});
// The older SDK takes the shape of the result before the options.
const call = (name, given, options) =>
  client.callTool({ name, arguments: given }, ...(modern ? [options] : [undefined, options]));

await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const names = (await client.listTools()).tools.map((tool) => tool.name);
assert(names.includes("run_suite") && names.length <= 8, `tools: ${names}`);

const progress = [];
const run = await call("run_suite", {}, { onprogress: (step) => progress.push(step.progress) });
assert.equal(run.isError ?? false, false);
assert.equal(run.structuredContent.status, "failed");
assert.deepEqual(run.structuredContent.totals, { total: 6, passed: 3, failed: 1, error: 1, skipped: 1 });
assert(run.content[0].text.includes("FAILED tests/test_money.py::test_share_adds_up"));
assert(progress.length > 0, "no progress");
assert(progress.every((value, place) => place === 0 || value > progress[place - 1]), `progress: ${progress}`);

const abort = new AbortController();
setTimeout(() => abort.abort(), 300);
const repeat = { test_id: "tests/test_cart.py::test_total", n: 20 };
await assert.rejects(call("run_n_times", repeat, { signal: abort.signal }));
assert.equal((await client.listTools()).tools.length, names.length);
await client.close();
console.log(`${which}: ok`);
