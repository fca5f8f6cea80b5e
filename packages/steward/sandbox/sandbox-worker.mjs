// The thread in which a tool runs: JavaScript in QuickJS, WebAssembly in a memory that is ours. It is plain
// JavaScript, because a thread starts from a file. It reaches nothing by itself: what a tool asks for is asked of the
// host, which decides; what is bounded here is bounded there once more or ends with the thread.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';

const { program, inputText, timeMs, memoryBytes, asksMax, logCharsMax, signal } = workerData;
const STACK_BYTES = 256 * 1024;
const PAGE_BYTES = 65_536;
/** What QuickJS begins with, and how much of it is its own: stack and data. */
const QUICKJS_PAGES = 256;
const QUICKJS_BYTES = 6 * 1024 * 1024;
const WHY_CHARS_MAX = 500;
const LOGS_MAX = 200;
const ASK_CHARS_MAX = 1_000_000;

let [asks, logs, logChars] = [0, 0, 0];

function log(text) {
  const room = logCharsMax - logChars;
  if (room <= 0 || logs >= LOGS_MAX) return;
  const shown = text.slice(0, room);
  logs++;
  logChars += shown.length + 1;
  tell({ kind: 'log', text: shown });
}

/** The number of the question, or why it is none. */
function ask(text) {
  if (asks >= asksMax) return 'There were too many requests.';
  if (text.length > ASK_CHARS_MAX) return 'The request is too large.';
  asks++;
  tell({ kind: 'ask', id: asks, text });
  return asks;
}

function tell(message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread's, not a window's.
  parentPort.postMessage(message);
}

function finish(message) {
  tell(message);
  parentPort.close();
}

const fail = (why) => finish({ kind: 'failed', why: String(why).slice(0, WHY_CHARS_MAX) });

/** What a tool sees of the host. It runs before the tool, and what the tool changes later harms the tool alone. */
const PRELUDE = `((ask, write, text) => {
  const { parse, stringify } = JSON;
  const asked = async (wanted) => parse(await ask(stringify(wanted)));
  const host = Object.freeze({
    fetch: (request) => asked({ kind: 'fetch', request }),
    readFile: async (path) => (await asked({ kind: 'file', path })).text,
    log: (...parts) => write(parts.map((part) => typeof part === 'string' ? part : stringify(part)).join(' ')),
  });
  const input = parse(text);
  return async (module) => {
    const { default: run } = await module;
    if (typeof run !== 'function') throw new TypeError('The module has no default export that is a function.');
    return stringify(await run(input, host)) ?? 'null';
  };
})`;

async function runScript() {
  // QuickJS counts no bytes in WebAssembly: its own limit holds for each piece alone, so the memory itself is bounded.
  const wasmMemory = new WebAssembly.Memory({
    initial: QUICKJS_PAGES,
    maximum: Math.max(QUICKJS_PAGES, Math.ceil((QUICKJS_BYTES + memoryBytes) / PAGE_BYTES)),
  });
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }));
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  const vm = runtime.newContext();
  const open = new Map();
  const askFunction = vm.newFunction('ask', (text) => {
    const number = ask(vm.getString(text));
    const answer = vm.newPromise();
    if (typeof number === 'string') answer.reject(vm.newError(number));
    else open.set(number, answer);
    return answer.handle;
  });
  const writeFunction = vm.newFunction('write', (text) => log(vm.getString(text)));
  const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, 'host.js'));
  const input = vm.newString(inputText);
  const start = vm.unwrapResult(
    vm.callFunction(prelude, vm.undefined, askFunction, writeFunction, input),
  );

  tell({ kind: 'running' });
  const deadline = Date.now() + timeMs;
  runtime.setInterruptHandler(() => Date.now() > deadline);
  const module = vm.evalCode(program.code, 'tool.js', { type: 'module' });
  if (module.error) return fail(errorText(vm, module.error));
  const result = vm.unwrapResult(vm.callFunction(start, vm.undefined, module.value));
  const goOn = () => {
    const ran = runtime.executePendingJobs();
    if (ran.error) return fail(errorText(vm, ran.error));
    const state = vm.getPromiseState(result);
    if (state.type === 'fulfilled')
      return finish({ kind: 'done', text: vm.getString(state.value) });
    if (state.type === 'rejected') return fail(errorText(vm, state.error));
    if (open.size === 0) fail('It waits for something that never comes.');
  };
  parentPort.on('message', ({ id, text, why }) => {
    const answer = open.get(id);
    if (answer === undefined) return;
    open.delete(id);
    try {
      if (why === undefined) answer.resolve(vm.newString(text));
      else answer.reject(vm.newError(why));
      goOn();
    } catch (cause) {
      fail(cause);
    }
  });
  goOn();
}

function errorText(vm, handle) {
  const error = vm.dump(handle);
  // Without memory there is none for an error either.
  if (error === null) return 'It ran out of memory.';
  if (typeof error !== 'object') return String(error);
  return `${error.name ?? 'Error'}: ${error.message ?? ''}`;
}

/** A module gets its input at what `alloc` gives, and gives its output as address << 32 | length. */
function runWasm() {
  const { pages } = program;
  const memory = new WebAssembly.Memory({ initial: pages.initial, maximum: pages.maximum });
  const textAt = (address, length) => {
    if (length > ASK_CHARS_MAX) throw new RangeError('The text is too long.');
    return Buffer.from(memory.buffer, address >>> 0, length >>> 0).toString();
  };
  let answer = Buffer.alloc(0);
  const host = {
    log: (address, length) => log(textAt(address, length)),
    ask: (address, length) => {
      const number = ask(textAt(address, length));
      const { text, why } = typeof number === 'string' ? { why: number } : waitForAnswer();
      answer = Buffer.from(why === undefined ? text : JSON.stringify({ error: why }));
      return answer.length;
    },
    answer: (address) => new Uint8Array(memory.buffer, address >>> 0).set(answer),
  };
  tell({ kind: 'running' });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program.bytes), {
    env: { memory },
    host,
  });
  const input = Buffer.from(inputText);
  const address = exports.alloc(input.length);
  new Uint8Array(memory.buffer, address >>> 0, input.length).set(input);
  const packed = BigInt.asUintN(64, exports.run(address, input.length));
  finish({ kind: 'done', text: textAt(Number(packed >> 32n), Number(packed & 0xffffffffn)) });
}

function waitForAnswer() {
  for (;;) {
    const seen = Atomics.load(signal, 0);
    const received = receiveMessageOnPort(parentPort);
    if (received !== undefined) return received.message;
    Atomics.wait(signal, 0, seen);
  }
}

try {
  if (program.kind === 'js') await runScript();
  else runWasm();
} catch (cause) {
  fail(cause);
}
