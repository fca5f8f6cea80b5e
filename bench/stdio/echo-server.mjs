// The server of the benches: answers `tools/call` with the text it was given. The driver's own
// requests are answered by their bytes, so that this is never what is measured; all others, as an
// MCP client would send them, are parsed.
// Usage: node bench/stdio/echo-server.mjs
import { Socket } from 'node:net';

// Must agree with bench/stdio/requests.ts.
const HEAD = '{"jsonrpc":"2.0","id":';
const ID_END = HEAD.length + 8;
const CALL = ',"method":"tools/call","params":{"name":"create_note","arguments":{"n":"';
const TEXT_START = ID_END + CALL.length + '00000000","text":"'.length;
const TEXT_TAIL = '"}}}\n'.length;
const RESULT = Buffer.from(',"result":{"content":[{"type":"text","text":"');
const RESULT_TAIL = Buffer.from('"}]}}\n');
// Copying up to here is cheaper than a list of pieces.
const COPY_BYTES_MAX = 65_536;

const input = new Socket({ fd: 0, readable: true, writable: false });
const output = new Socket({ fd: 1, readable: false, writable: true });
output.on('error', () => process.exit(0));
/** The start of a line whose end has not come yet. */
let held = [];

input.on('data', (chunk) => {
  const answers = new Answers(chunk.length);
  let from = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
    const last = chunk.subarray(from, at + 1);
    answers.add(held.length === 0 ? last : Buffer.concat([...held, last]));
    held = [];
    from = at + 1;
  }
  if (from < chunk.length) held.push(chunk.subarray(from));
  answers.write();
});
input.on('end', () => process.exit(0));

/** The answers to one chunk, in one write unless they are large. */
class Answers {
  #bytes;
  #used = 0;

  constructor(chunkBytes) {
    this.#bytes = Buffer.allocUnsafe(Math.max(chunkBytes, COPY_BYTES_MAX) + COPY_BYTES_MAX);
  }

  add(line) {
    const isOurs =
      line.length > TEXT_START && line.latin1Slice(ID_END, ID_END + CALL.length) === CALL;
    if (!isOurs) {
      this.#put(parsed(line));
      return;
    }
    const text = line.subarray(TEXT_START, line.length - TEXT_TAIL);
    this.#put(line.subarray(0, ID_END));
    this.#put(RESULT);
    this.#put(text);
    this.#put(RESULT_TAIL);
  }

  #put(bytes) {
    if (bytes.length > this.#bytes.length - this.#used) {
      this.write();
      if (bytes.length > COPY_BYTES_MAX) {
        output.write(bytes);
        return;
      }
      this.#bytes = Buffer.allocUnsafe(this.#bytes.length);
    }
    bytes.copy(this.#bytes, this.#used);
    this.#used += bytes.length;
  }

  write() {
    if (this.#used > 0) output.write(this.#bytes.subarray(0, this.#used));
    this.#bytes = this.#bytes.subarray(this.#used);
    this.#used = 0;
  }
}

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [{ name: 'create_note', description: 'Echo', inputSchema: { type: 'object' } }],
  }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};

function parsed(line) {
  const { id, method, params = {} } = JSON.parse(line.toString());
  if (id === undefined) return Buffer.alloc(0);
  const answer = RESULTS[method];
  const rest =
    answer === undefined
      ? { error: { code: -32601, message: 'no such method' } }
      : { result: answer(params) };
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, ...rest })}\n`);
}
