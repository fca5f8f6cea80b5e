// Moves messages between the governor, a negotiation or a bridge, and the transport of the server. Loaded only
// when the eras may differ.
import { randomBytes } from 'node:crypto';
import {
  BRIDGE_LIMITS,
  type BridgeCommand,
  type BridgeConfig,
  type BridgeMessage,
  type EraBridge,
  type EraNegotiation,
  LegacyAgentNegotiation,
  ModernAgentBridge,
  ModernAgentNegotiation,
} from '@subluminal/core/bridge';
import { itemTexts } from '@subluminal/core/json';
import { Outline, peek } from '@subluminal/core/session';
import { sha256 } from '../../../os/crypto/index.ts';
import { GatheredBytes } from '../../../os/gathered-bytes.ts';
import { monotonicClock } from '../../../os/monotonic-clock.ts';
import type { Incoming, Transport, TransportHandlers } from '../types.ts';
import type { Beginning, BridgeOptions } from './bridge-eras.ts';

interface PumpOptions extends BridgeOptions {
  /** The governor. */
  readonly on: () => TransportHandlers | undefined;
  /** No bridge is needed: messages pass as they are. `first`: the next request of the agent begins again. */
  readonly settled: (kind: 'same' | 'first') => void;
}

const TICK_MS = 1_000;
const TOKEN_BYTES = 18;
/** A message is translated as a whole: a larger one is refused. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;
const ENDED_EARLY =
  'the server ended before it answered `server/discover`: it may be a server of the legacy era that takes no unknown first request';
const NOTHING = Buffer.alloc(0);

const CONFIG: BridgeConfig = {
  token: () => randomBytes(TOKEN_BYTES).toString('base64url'),
  sha256,
  limits: BRIDGE_LIMITS,
};

type Machine =
  | { readonly kind: 'negotiation'; readonly it: EraNegotiation }
  | { readonly kind: 'bridge'; readonly it: EraBridge };

export class BridgePump {
  readonly #server: Transport;
  readonly #options: PumpOptions;
  readonly #now = monotonicClock();
  #machine: Machine | undefined;
  readonly #timer: NodeJS.Timeout;
  /** For the governor, which gets it when nothing of its own is under way. */
  #toAgent: Incoming[] = [];
  /** The parts of a large message of the agent, and of one of the server. */
  #parts = new Parts();
  #pieces = new Parts();
  #piecesAbout: string | undefined;
  #isEnding = false;
  readonly #onIdle: (() => void)[] = [];
  /** The bridge, while it only assumes that the server is a legacy one. */
  #assumed: ModernAgentBridge | undefined;

  constructor(server: Transport, options: PumpOptions) {
    this.#server = server;
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  begin(beginning: Beginning): void {
    const [first] = messagesIn(beginning.request);
    const [refusal] = beginning.era === 'legacy' ? messagesIn(beginning.refusal) : [];
    if (first === undefined) throw new Error('a negotiation begins without a message');
    if (beginning.era === 'modern' && this.#options.eras?.isLegacy === true) {
      const it = new ModernAgentBridge(CONFIG);
      this.#assumed = it;
      this.#machine = { kind: 'bridge', it };
      return this.#perform(it.fromAgent(first, this.#now()));
    }
    const it =
      refusal === undefined
        ? new ModernAgentNegotiation(CONFIG, first)
        : new LegacyAgentNegotiation(CONFIG, first, refusal);
    this.#machine = { kind: 'negotiation', it };
    this.#perform(it.start(this.#now()));
  }

  /** A message of the agent. */
  write(bytes: Uint8Array): void {
    for (const message of messagesIn(bytes)) this.#fromAgent(message);
    this.#settle();
  }

  writePart(bytes: Uint8Array): void {
    this.#parts.add(bytes);
  }

  endParts(): void {
    const start = this.#parts.start();
    const bytes = this.#parts.take();
    if (bytes !== undefined) return this.write(bytes);
    this.#options.note('a message of the agent was too large to be translated, and was dropped');
    const { id, answers } = outlineOf(start);
    if (id !== undefined && !answers) this.#queueForAgent(tooLargeLine(id.json), id.json);
  }

  abortParts(): void {
    this.#parts.take();
  }

  incoming(messages: readonly Incoming[]): void {
    for (const message of messages) this.#take(message);
    this.#settle();
  }

  /** The server sends nothing more. */
  ended(): void {
    this.stop();
    if (this.#machine?.kind === 'negotiation') this.#endedEarly();
    this.#deliver();
    this.#options.on()?.end();
  }

  #endedEarly(): void {
    const { note, eras } = this.#options;
    note(ENDED_EARLY);
    if (eras !== undefined) eras.isLegacy = true;
  }

  /** The agent sends nothing more; what waits for the server still goes there. */
  end(): void {
    this.#isEnding = true;
    this.#endWhenIdle();
  }

  /** Resolves when nothing waits for the server any more, or time is up. */
  async idle(timeoutMs: number): Promise<void> {
    if (!this.#isWaiting) return;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
      setTimeout(resolve, timeoutMs).unref();
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #take(incoming: Incoming): void {
    switch (incoming.kind) {
      case 'message':
        return this.#fromServer(incoming.bytes, incoming.about);
      case 'head':
        this.#piecesAbout = incoming.about;
        return this.#pieces.add(incoming.bytes);
      case 'piece':
        return this.#pieces.add(incoming.bytes);
      case 'end': {
        const start = this.#pieces.start();
        const bytes = this.#pieces.take();
        if (bytes !== undefined && incoming.isComplete) {
          return this.#fromServer(bytes, this.#piecesAbout);
        }
        return this.#tooLarge(start);
      }
      case 'too_large': {
        const start = this.#pieces.start();
        this.#pieces.take();
        return this.#tooLarge(start);
      }
      case 'partial':
        return this.#options.note('the output of the server ended in the middle of a message');
    }
  }

  /** Answers the request whose answer can't be translated, if its start shows which one that is. */
  #tooLarge(start: Uint8Array): void {
    this.#options.note('a message of the server was cut off, or was too large to be translated');
    const { id, method } = outlineOf(start);
    if (id !== undefined && method === undefined)
      this.#fromServer(tooLargeLine(id.json), undefined);
  }

  #fromAgent(message: BridgeMessage): void {
    if (this.#machine === undefined) this.#server.write(message.bytes);
    else this.#perform(this.#machine.it.fromAgent(message, this.#now()));
  }

  #fromServer(bytes: Uint8Array, about: string | undefined): void {
    for (const message of messagesIn(bytes, about)) {
      // The session knows what to do with what nobody can read.
      if (this.#machine === undefined || message.seen.kind === 'invalid') {
        this.#queueForAgent(message.bytes, about);
      } else this.#perform(this.#machine.it.fromServer(message, this.#now()));
    }
  }

  /** All messages of one read have been handled. */
  #settle(): void {
    if (this.#machine?.kind === 'bridge') this.#perform(this.#machine.it.settle(this.#now()));
    this.#checkAssumed();
    this.#endWhenIdle();
  }

  /** A server that refuses the handshake is asked for its era the next time. */
  #checkAssumed(): void {
    const { eras } = this.#options;
    const handshake = this.#assumed?.handshake;
    if (eras === undefined || handshake === undefined || handshake === 'under way') return;
    eras.isLegacy = handshake === 'done';
    this.#assumed = undefined;
  }

  #tick(): void {
    if (this.#machine === undefined) return;
    this.#perform(this.#machine.it.tick(this.#now()));
    this.#endWhenIdle();
  }

  #perform(commands: readonly BridgeCommand[]): void {
    for (const command of commands) {
      if (command.do === 'note') this.#options.note(command.detail);
      else {
        const isNew = command.do === 'write';
        const bytes = isNew ? Buffer.from(command.text) : command.message.bytes;
        const about = isNew ? command.about : command.message.about;
        if (command.to === 'server') this.#server.write(bytes);
        else this.#queueForAgent(bytes, about);
      }
    }
    this.#takeVerdict();
  }

  #takeVerdict(): void {
    if (this.#machine?.kind !== 'negotiation') return;
    const { verdict } = this.#machine.it;
    if (verdict === undefined) return;
    if (verdict.kind === 'bridge') {
      this.#machine = { kind: 'bridge', it: verdict.bridge };
      return;
    }
    this.#machine = undefined;
    this.stop();
    this.#deliver();
    this.#options.settled(verdict.kind === 'same' ? 'same' : 'first');
  }

  #queueForAgent(bytes: Uint8Array, about: string | undefined): void {
    if (this.#toAgent.length === 0) queueMicrotask(() => this.#deliver());
    this.#toAgent.push(...framesOf(bytes, about, this.#options.inspectBytesMax));
  }

  #deliver(): void {
    const messages = this.#toAgent;
    if (messages.length === 0) return;
    this.#toAgent = [];
    this.#options.on()?.incoming(messages);
  }

  get #isWaiting(): boolean {
    const machine = this.#machine;
    return machine?.kind === 'negotiation' || (machine?.kind === 'bridge' && machine.it.isWaiting);
  }

  #endWhenIdle(): void {
    if (this.#isWaiting) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
    if (!this.#isEnding) return;
    this.#isEnding = false;
    this.#server.end();
  }
}

/** What the start of a message shows of it. */
function outlineOf(start: Uint8Array): ReturnType<Outline['soFar']> {
  const outline = new Outline();
  outline.feed(start);
  return outline.soFar();
}

function tooLargeLine(idJson: string): Uint8Array {
  const message =
    'A message was cut off, or was too large to be translated for another era of MCP.';
  const error = JSON.stringify({ code: -32603, message });
  return Buffer.from(`{"jsonrpc":"2.0","id":${idJson},"error":${error}}\n`);
}

/** The messages in these bytes: one, or those of a batch. */
function messagesIn(bytes: Uint8Array, about?: string): readonly BridgeMessage[] {
  const seen = peek(bytes);
  if (seen.kind === 'invalid') return [{ seen, bytes, text: '', about }];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  if (seen.kind !== 'batch') return [{ seen, bytes, text, about }];
  return (itemTexts(text) ?? []).map((item) => {
    const line = Buffer.from(`${item}\n`);
    return { seen: peek(line), bytes: line, text: item, about };
  });
}

/** A message as a transport would have delivered it: a large one in parts. */
function framesOf(
  bytes: Uint8Array,
  about: string | undefined,
  inspectBytesMax: number,
): readonly Incoming[] {
  const named = about === undefined ? {} : { about };
  if (bytes.length - 1 <= inspectBytesMax) return [{ kind: 'message', bytes, ...named }];
  const end = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
  return [
    { kind: 'head', bytes: bytes.subarray(0, inspectBytesMax), ...named },
    { kind: 'piece', bytes: bytes.subarray(inspectBytesMax, end) },
    { kind: 'end', bytesTotal: end, isComplete: true },
  ];
}

/** The parts of one message, up to the size that can be translated. */
class Parts {
  readonly #gathered = new GatheredBytes();
  #first: Uint8Array = NOTHING;
  #bytes = 0;

  add(bytes: Uint8Array): void {
    if (this.#bytes === 0) this.#first = bytes;
    this.#bytes += bytes.length;
    if (this.#bytes > WHOLE_BYTES_MAX) this.#gathered.clear();
    else this.#gathered.add(bytes);
  }

  /** The first part. */
  start(): Uint8Array {
    return this.#first;
  }

  /** The whole message; undefined when it is too large. */
  take(): Uint8Array | undefined {
    const isWhole = this.#bytes <= WHOLE_BYTES_MAX;
    this.#first = NOTHING;
    this.#bytes = 0;
    const whole = this.#gathered.take();
    return isWhole ? whole : undefined;
  }
}
