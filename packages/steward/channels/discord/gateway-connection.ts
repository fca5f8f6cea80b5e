// One session after the other with Discord's gateway: hello, identify or resume, heartbeats, events.
import type { Agent } from 'node:https';
import { isObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import type { WebSocket } from 'ws';
import { fieldIn, textField } from '../shared/call-api.ts';
import type { ConnectionEnd } from '../shared/connection-loop.ts';

interface GatewayOptions {
  readonly token: string;
  /** By the proxy of this machine. */
  readonly agent: Agent;
  readonly onEvent: (type: string, data: unknown, botId: string) => Promise<void>;
}

/** What a session needs to go on after a cut. */
interface Session {
  readonly id: string;
  readonly resumeUrl: string;
  readonly botId: string;
}

const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;
/** Messages in servers, messages to the bot. Contents come for those that mention it or go to it alone. */
const INTENTS = (1 << 9) | (1 << 12);
/** The token is wrong, or the bot may not do this: to come again makes no sense. */
const FATAL = new Set([4004, 4010, 4011, 4012, 4013, 4014]);
/** The session cannot be resumed. */
const LOST = new Set([4007, 4009]);
/** Any other code than 1000 and 1001 lets the session live. */
const KEEP_SESSION = 4900;
const HELLO_MS = 20_000;
const CLOSE_MS = 1_000;
const FRAME_BYTES_MAX = 16 * 1_048_576;
const BEAT_MS_MAX = 120_000;

export class GatewayConnection {
  readonly #options: GatewayOptions;
  #session: Session | undefined;
  #seq: number | null = null;
  #socket: WebSocket | undefined;
  #beat: NodeJS.Timeout | undefined;
  #isBeatAnswered = true;
  #wasUp = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Connects, and resolves when the connection has ended. */
  async run(gatewayUrl: string, signal: AbortSignal): Promise<ConnectionEnd> {
    const { WebSocket: Socket } = await import('ws');
    if (signal.aborted) return { kind: 'finished' };
    const base = sameSite(this.#session?.resumeUrl, gatewayUrl) ?? gatewayUrl;
    const socket = new Socket(`${base.replace(/\/$/, '')}/?v=10&encoding=json`, {
      handshakeTimeout: HELLO_MS,
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      ...(base.startsWith('wss:') && { agent: this.#options.agent }),
    });
    this.#socket = socket;
    this.#wasUp = false;
    const stop = () => {
      socket.close(1000);
      setTimeout(() => socket.terminate(), CLOSE_MS).unref();
    };
    signal.addEventListener('abort', stop);
    const code = await new Promise<number>((resolve) => {
      socket.on('error', () => {});
      socket.on('message', (data: Buffer) => this.#frame(data.toString('utf8')));
      socket.on('close', (number) => resolve(number));
    });
    signal.removeEventListener('abort', stop);
    clearTimeout(this.#beat);
    this.#socket = undefined;
    await this.#work;
    if (LOST.has(code)) this.#session = undefined;
    if (FATAL.has(code)) return { kind: 'refused', why: `Discord refuses the bot (${code}).` };
    return { kind: 'ended', why: 'Discord cannot be reached.', wasUp: this.#wasUp };
  }

  #frame(text: string): void {
    const frame = parseJson(text);
    if (!isObject(frame)) return;
    const { op, d, s, t } = frame;
    if (typeof s === 'number') this.#seq = s;
    if (op === OP.hello) this.#hello(Number(fieldIn(d, 'heartbeat_interval')));
    else if (op === OP.heartbeat) this.#send(OP.heartbeat, this.#seq);
    else if (op === OP.heartbeatAck) this.#isBeatAnswered = true;
    else if (op === OP.reconnect) this.#socket?.close(KEEP_SESSION);
    else if (op === OP.invalidSession) {
      if (d !== true) this.#session = undefined;
      this.#socket?.close(KEEP_SESSION);
    } else if (op === OP.dispatch && typeof t === 'string') this.#dispatch(t, d);
  }

  #hello(intervalMs: number): void {
    const { token } = this.#options;
    const session = this.#session;
    if (session !== undefined) {
      this.#send(OP.resume, { token, session_id: session.id, seq: this.#seq });
    } else {
      const properties = { os: process.platform, browser: 'subluminal', device: 'subluminal' };
      this.#send(OP.identify, { token, intents: INTENTS, properties });
    }
    this.#isBeatAnswered = true;
    const everyMs = Math.min(BEAT_MS_MAX, Math.max(1, intervalMs || BEAT_MS_MAX));
    // Not all clients at the same time.
    this.#beatAfter(everyMs * Math.random(), everyMs);
  }

  #beatAfter(waitMs: number, everyMs: number): void {
    clearTimeout(this.#beat);
    this.#beat = setTimeout(() => {
      // A connection that is not answered is dead, whatever the socket thinks.
      if (!this.#isBeatAnswered) return this.#socket?.terminate();
      this.#isBeatAnswered = false;
      this.#send(OP.heartbeat, this.#seq);
      this.#beatAfter(everyMs, everyMs);
    }, waitMs);
  }

  #dispatch(type: string, data: unknown): void {
    if (type === 'READY') {
      const id = textField(data, 'session_id');
      const botId = textField(fieldIn(data, 'user'), 'id');
      this.#session = { id, botId, resumeUrl: textField(data, 'resume_gateway_url') };
    }
    if (type === 'READY' || type === 'RESUMED') this.#wasUp = true;
    const botId = this.#session?.botId;
    if (botId === undefined || !/^\d{1,24}$/.test(botId)) return;
    const { onEvent } = this.#options;
    this.#work = this.#work.then(() => onEvent(type, data, botId)).catch(() => undefined);
  }

  #send(op: number, d: unknown): void {
    const socket = this.#socket;
    if (socket?.readyState === socket?.OPEN) socket?.send(JSON.stringify({ op, d }));
  }
}

/** The token goes there, so an address that Discord names counts only when it is Discord's. */
export function sameSite(url: string | undefined, known: string): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const given = new URL(url);
  const own = new URL(known);
  if (given.protocol !== own.protocol) return undefined;
  const site = own.hostname.split('.').slice(-2).join('.');
  const isSame = given.hostname === own.hostname || given.hostname.endsWith(`.${site}`);
  return isSame && (given.port === own.port || given.port === '') ? url : undefined;
}
