// One connection to a signal-cli daemon: JSON-RPC 2.0, a message in each line.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { isObject, type JsonObject } from '@subluminal/contracts';
import { LineReader, parseJson } from '@subluminal/plane/os';
import { fieldIn, textField } from '../shared/call-api.ts';
import type { ConnectionEnd } from '../shared/connection-loop.ts';
import type { FailedSend } from '../shared/types.ts';

type RpcAnswer = { readonly kind: 'result'; readonly result: unknown } | FailedSend;

const LINE_BYTES_MAX = 1_048_576;
const ANSWER_MS = 30_000;
const PENDING_MAX = 100;
const AWAY: FailedSend = { kind: 'later', why: 'signal-cli cannot be reached.' };
const SOCKET_PATH = /^\/|^\.{0,2}\//;

export class RpcConnection {
  readonly #pending = new Map<string, (answer: RpcAnswer) => void>();
  readonly #onNotification: (params: unknown) => Promise<void>;
  #socket: Socket | undefined;
  #lastId = 0;
  /** Notifications one after the other, in their order. */
  #work: Promise<void> = Promise.resolve();

  constructor(onNotification: (params: unknown) => Promise<void>) {
    this.#onNotification = onNotification;
  }

  /** Connects, and resolves when the connection has ended. */
  async run(rpc: string, signal: AbortSignal): Promise<ConnectionEnd> {
    if (signal.aborted) return { kind: 'finished' };
    const socket = connect(addressOf(rpc));
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const stop = () => socket.destroy();
    signal.addEventListener('abort', stop);
    socket.on('error', () => {});
    const isUp = await Promise.race([once(socket, 'connect').then(() => true), closed]).catch(
      () => false,
    );
    if (isUp === true) {
      this.#socket = socket;
      const reader = new LineReader(LINE_BYTES_MAX);
      socket.on('data', (chunk: Buffer) => reader.read(chunk, (line) => this.#line(line)));
    }
    await closed;
    signal.removeEventListener('abort', stop);
    this.#socket = undefined;
    for (const answer of this.#pending.values()) answer(AWAY);
    await this.#work;
    return { kind: 'ended', why: AWAY.why, wasUp: isUp === true };
  }

  async call(method: string, params: JsonObject): Promise<RpcAnswer> {
    const socket = this.#socket;
    if (socket === undefined || this.#pending.size >= PENDING_MAX) return AWAY;
    this.#lastId += 1;
    const id = String(this.#lastId);
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<RpcAnswer>((resolve) => {
      this.#pending.set(id, resolve);
      timer = setTimeout(() => resolve(AWAY), ANSWER_MS);
    });
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const result = await answer;
    clearTimeout(timer);
    this.#pending.delete(id);
    return result;
  }

  #line(line: string | undefined): void {
    const message = line === undefined ? undefined : parseJson(line);
    if (!isObject(message)) return;
    if (textField(message, 'method') === 'receive') {
      const params = message['params'];
      this.#work = this.#work.then(() => this.#onNotification(params)).catch(() => undefined);
      return;
    }
    const answer = this.#pending.get(textField(message, 'id'));
    if (message['error'] === undefined)
      return answer?.({ kind: 'result', result: message['result'] });
    const code = Number(fieldIn(message['error'], 'code'));
    // -5 is its limit of the rate; -1 is the user's mistake, such as an unknown recipient.
    const kind = code === -5 || code === -3 ? 'later' : 'refused';
    answer?.({ kind, why: `signal-cli refuses (${code}).` });
  }
}

function addressOf(rpc: string) {
  if (SOCKET_PATH.test(rpc)) return { path: rpc };
  const at = rpc.lastIndexOf(':');
  return { host: rpc.slice(0, at).replaceAll(/[[\]]/g, ''), port: Number(rpc.slice(at + 1)) };
}
