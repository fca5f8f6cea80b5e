// Connects two peers by a session: every message goes to the session, and its commands are carried out.
import { createHash, type Hash } from 'node:crypto';
import type {
  Command,
  HubAnswer,
  HubQuestion,
  HubReply,
  LargeEnd,
  Session,
  Side,
} from '@subluminal/core/session';
import type { Incoming, ReadMessage, Transport } from '../transports/types.ts';
import type { GovernedSession, SessionHub } from './governed-session.ts';

interface DirectionOptions {
  readonly from: Side;
  readonly session: Session;
  readonly transports: { readonly [S in Side]: Transport };
  readonly now: () => number;
  /** Carries out commands that are not about the bytes of this message. */
  readonly act: (command: Command) => void;
  /** Called when all messages of one read are handled: their events may be sent. */
  readonly settled: () => void;
  readonly hub?: Pick<SessionHub, 'ask' | 'askNow' | 'observe'> | undefined;
}

const NO_BYTES = new Uint8Array(0);
/** A policy that changes more often while one message waits is not followed. */
const STALE_MAX = 2;
const isStale = (answer: HubAnswer): boolean => answer.isStale === true;
export const TERMINATED_EXIT = 3;

/** One direction of a session: messages of one side in, commands carried out. */
export class SessionDirection {
  readonly #options: DirectionOptions;
  #hash: Hash | undefined;
  /** Messages that came in while the hub was asked, in order. */
  readonly #waiting: (Incoming | { readonly kind: 'over'; readonly act: () => void })[] = [];
  #isAsking = false;

  constructor(options: DirectionOptions) {
    this.#options = options;
  }

  /** Gives up a large message that has stalled; the rest of it is dropped. */
  breakOff(): void {
    const { from, session } = this.#options;
    this.#carryOut(session.largeStalled(from), NO_BYTES);
  }

  incoming(messages: readonly Incoming[]): void {
    const { hub, settled } = this.#options;
    if (hub === undefined) {
      for (const message of messages) this.#take(message);
    } else {
      this.#waiting.push(...messages);
      this.#drain(hub);
    }
    settled();
  }

  /** The input has ended; `over` is called when all of it has been carried out. */
  end(over: () => void): void {
    if (!this.#isAsking) return over();
    this.#waiting.push({ kind: 'over', act: over });
  }

  /** Handles waiting messages until the hub must be asked or none is left. */
  #drain(hub: NonNullable<DirectionOptions['hub']>): void {
    while (!this.#isAsking) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.kind === 'over') next.act();
      else this.#askOrTake(hub, next);
    }
  }

  #askOrTake(hub: NonNullable<DirectionOptions['hub']>, incoming: Incoming): void {
    const { from, transports } = this.#options;
    const source = transports[from];
    if (incoming.kind !== 'message' && incoming.kind !== 'head') return this.#take(incoming);
    const message = this.#read(incoming);
    const asked = this.#asked(hub, message);
    if (asked === undefined) return this.#handle(message, undefined);
    if (!(asked instanceof Promise)) return this.#handle(message, asked);
    this.#isAsking = true;
    // Nothing overtakes a message that waits for the hub.
    source.hold();
    void this.#latest(hub, message, asked).then((said) => {
      this.#isAsking = false;
      this.#handle(message, said);
      this.#drain(hub);
      this.#options.settled();
      source.release();
    });
  }

  /** The answer of the hub, asked anew where the policy changes meanwhile. */
  async #latest(
    hub: NonNullable<DirectionOptions['hub']>,
    message: ReadMessage,
    asked: Promise<HubReply>,
  ): Promise<HubReply | undefined> {
    let said: HubReply | undefined = await asked;
    for (let round = 0; round < STALE_MAX && said?.answers?.some(isStale) === true; round++) {
      said = await this.#asked(hub, message);
    }
    return said;
  }

  #read(incoming: Extract<Incoming, { kind: 'message' | 'head' }>): ReadMessage {
    const { session, from } = this.#options;
    const { bytes, about } = incoming;
    const message =
      incoming.kind === 'head'
        ? session.readHead(from, bytes)
        : session.read(from, bytes, incoming.seen);
    if (about !== undefined) message.about = about;
    return message;
  }

  /** The answer of the hub to a message, if it must be asked or told. */
  #asked(
    hub: NonNullable<DirectionOptions['hub']>,
    message: ReadMessage,
  ): Promise<HubReply> | HubReply | undefined {
    const { session, now, from } = this.#options;
    if (from === 'agent') {
      const questions = session.questions(message, now());
      if (questions.length === 0) return undefined;
      const answers = hub.askNow?.(questions);
      if (answers !== undefined) return { answers };
      return hub.ask(questions).then((said) => ({ answers: said }));
    }
    const seen = session.observations(message);
    return seen.length === 0 ? undefined : hub.observe(seen).then((heard) => ({ heard }));
  }

  #handle(message: ReadMessage, said: HubReply | undefined): void {
    const { session, now } = this.#options;
    const { bytes } = message;
    if (message.kind === 'head') this.#hash = createHash('sha256').update(bytes);
    this.#carryOut(session.handle(message, now(), said), bytes, message);
  }

  #take(incoming: Incoming): void {
    const { from, session, now } = this.#options;
    switch (incoming.kind) {
      case 'message':
      case 'head':
        return this.#handle(this.#read(incoming), undefined);
      case 'piece':
        return this.#piece(incoming.bytes);
      case 'end':
        return this.#large(incoming.bytesTotal, incoming.isComplete ? 'complete' : 'cut');
      case 'too_large':
        return this.#large(incoming.bytesTotal, 'too_large');
      case 'partial':
        return this.#carryOut(session.partial(from, incoming.bytes, now()), incoming.bytes);
    }
  }

  #piece(bytes: Uint8Array): void {
    const { from, session } = this.#options;
    this.#hash?.update(bytes);
    // The session decides how much passes: not the closing brace, and nothing behind a fault.
    this.#carryOut(session.largePiece(from, bytes), bytes);
  }

  #large(bytesTotal: number, outcome: LargeEnd['outcome']): void {
    const { from, session, now } = this.#options;
    const streamHash = (this.#hash ?? createHash('sha256')).digest('hex');
    this.#hash = undefined;
    this.#carryOut(session.largeEnd(from, { bytesTotal, streamHash, outcome }, now()), NO_BYTES);
  }

  #carryOut(commands: readonly Command[], bytes: Uint8Array, read?: ReadMessage): void {
    const { transports, act } = this.#options;
    for (const command of commands) {
      switch (command.do) {
        case 'forward':
          transports[command.to].write(command.bytes ?? bytes, read);
          break;
        case 'stream':
          transports[command.to].writePart(command.bytes, read);
          break;
        case 'part':
          transports[command.to].writePart(command.bytes);
          break;
        case 'swallow':
          break;
        case 'finish':
          transports[command.to].writePart(command.bytes);
          transports[command.to].endParts();
          break;
        case 'break':
          transports[command.to].abortParts();
          break;
        default:
          act(command);
      }
    }
  }
}

/** What to do when a side has ended. */
interface Over {
  /** The agent sends nothing more. */
  readonly agent: () => void;
  /** The agent no longer reads. */
  readonly broken: () => void;
  readonly server: () => void;
}

/** Starts both directions between the agent and the server. */
export function governBoth(governed: GovernedSession, server: Transport, over: Over): void {
  const { parts, session, agent, now } = governed;
  const transports = { agent, server };
  const up = new SessionDirection({
    from: 'agent',
    session,
    transports,
    now,
    act: (command) => perform(governed, command),
    settled: () => parts.sink.push(),
    hub: parts.hub,
  });
  const down = new SessionDirection({
    from: 'server',
    session,
    transports,
    now,
    act: (command) => performDeferringEvents(governed, command),
    // The answer goes first, because nothing waits for its record.
    settled: () => parts.guarding.gates?.remember(),
    hub: parts.hub,
  });
  agent.read({
    incoming: (messages) => up.incoming(messages),
    end: () =>
      up.end(() => {
        runCommands(governed, session.inputEnded(now()));
        over.agent();
      }),
    broken: over.broken,
    stalled: () => down.breakOff(),
  });
  server.read({
    incoming: (messages) => down.incoming(messages),
    end: () => down.end(over.server),
  });
  server.holds(agent);
  // Refusals go to the agent too, so a full agent holds its own requests back as well.
  agent.holds(server, agent);
}

/** Commands that come from time or from an end, not from a message. */
export function runCommands(governed: GovernedSession, commands: readonly Command[]): void {
  for (const command of commands) perform(governed, command);
  governed.parts.sink.push();
}

export function perform(governed: GovernedSession, command: Command): void {
  const { parts, log, recorder } = governed;
  switch (command.do) {
    case 'answer':
      (command.to === 'server' ? governed.server : governed.agent)?.write(
        Buffer.from(command.text),
      );
      return;
    case 'emit':
      if (command.type === 'surface') governed.lookAlikes.noticed(command);
      recorder.emit(command);
      return;
    case 'report': {
      // A sample of the bytes could hold a part of a secret.
      const { detail, sample: _, ...facts } = command.report;
      governed.counter.report(command.report);
      if (governed.lookAlikes.holds(command.report)) return;
      log.warn(detail, facts);
      return;
    }
    case 'result':
      parts.hub?.result(command.callId, command.result);
      return;
    case 'terminate': {
      const { code, message } = command;
      governed.terminated = true;
      log.warn(message, { code });
      parts.hub?.terminate({ code, message });
      governed.stop(TERMINATED_EXIT);
      return;
    }
    case 'forward':
      // A held call that may pass now.
      if (command.bytes !== undefined) governed.server?.write(command.bytes);
      return;
    case 'discard':
      return parts.people.discard(command.callId, command.why);
    case 'consult':
      return consult(governed, command.question);
    default:
  }
}

/** As `perform`, for commands that a message of the server causes. */
function performDeferringEvents(governed: GovernedSession, command: Command): void {
  if (command.do !== 'emit') return perform(governed, command);
  if (command.type === 'surface') governed.lookAlikes.noticed(command);
  governed.recorder.defer(command);
}

/** The hub decides again about a call that a person has approved. */
function consult(governed: GovernedSession, question: HubQuestion): void {
  const { hub } = governed.parts;
  const callId = question.ref.call_id;
  const tell = (answer: HubAnswer = { callId, outcome: undefined }): void =>
    runCommands(governed, governed.session.consulted(answer, governed.now()));
  if (hub === undefined) return tell();
  void hub.ask([question]).then(([answer]) => tell(answer));
}
