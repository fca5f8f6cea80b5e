// Requests to a server and their answers, as JSON-RPC in lines.
import { isObject } from '@subluminal/contracts';
import { createLines } from './lines.ts';

export type Answer =
  | {
      readonly kind: 'result';
      readonly result: { readonly [name: string]: unknown };
      /** The line that it came in. */
      readonly line: string;
    }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** There will be no answer; why, as the end of a sentence about the server. */
  | { readonly kind: 'over'; readonly why: string };

export interface Dialogue {
  request(method: string, params: object): Promise<Answer>;
  notify(method: string): void;
  feed(chunk: Buffer): void;
  /** Every open and every later request hears it; the first reason counts. */
  end(why: string): void;
}

const LIMITS = { lineBytesMax: 16_777_216, bytesMax: 67_108_864 };
/** Servers greet on standard output, though they must not; some of it is overlooked. */
const FOREIGN_LINES_MAX = 1_000;
export const METHOD_NOT_FOUND = -32_601;

export function createDialogue(write: (text: string) => void): Dialogue {
  const lines = createLines(LIMITS);
  const open = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  let foreign = 0;
  let over: string | undefined;
  const send = (message: object): void =>
    write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const end = (why: string): void => {
    over ??= why;
    for (const [id, resolve] of open) {
      open.delete(id);
      resolve({ kind: 'over', why: over });
    }
  };
  const take = (line: string): void => {
    const message = parsed(line);
    if (!isObject(message)) {
      foreign++;
      if (foreign > FOREIGN_LINES_MAX) end('writes what is no MCP');
      return;
    }
    const { id, method } = message;
    if (typeof method === 'string') {
      const isAsked = typeof id === 'string' || typeof id === 'number';
      if (isAsked) send({ id, ...replyTo(method) });
      return;
    }
    const resolve = typeof id === 'number' ? open.get(id) : undefined;
    if (resolve === undefined || typeof id !== 'number') return;
    open.delete(id);
    resolve(answerIn(message, line));
  };
  return {
    request: (method, params) => {
      if (over !== undefined) return Promise.resolve({ kind: 'over', why: over });
      const id = ++lastId;
      const answer = new Promise<Answer>((resolve) => open.set(id, resolve));
      send({ id, method, params });
      return answer;
    },
    notify: (method) => send({ method }),
    feed: (chunk) => {
      if (over !== undefined) return;
      const whole = lines.feed(chunk);
      if (whole === undefined) return end('says more than is taken');
      for (const line of whole) if (line.trim() !== '') take(line);
    },
    end,
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** We offer nothing to a server that we only look at. */
function replyTo(method: string): object {
  if (method === 'ping') return { result: {} };
  return { error: { code: METHOD_NOT_FOUND, message: 'not offered' } };
}

function answerIn({ result, error }: { readonly [name: string]: unknown }, line: string): Answer {
  if (isObject(result)) return { kind: 'result', result, line };
  const { code, message } = isObject(error) ? error : {};
  return {
    kind: 'error',
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : 'no result',
  };
}
