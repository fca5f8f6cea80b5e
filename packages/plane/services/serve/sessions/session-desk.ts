// All open sessions: who they belong to, how many there may be, and when they end.
import { randomBytes } from 'node:crypto';
import type { HttpAgent } from '../agent/http-agent.ts';
import { LegacyAgent } from '../agent/legacy-agent.ts';
import { ModernAgent } from '../agent/modern-agent.ts';
import { type CallerRooms, callerRooms } from '../agent/room.ts';
import type { Principal } from '../auth/types.ts';
import type { ServeConfig } from '../config/serve-config.ts';
import { RPC, type RpcRefusal } from '../http/answers.ts';
import { type Caller, type SessionDesk, STOPPING } from '../http/endpoint.ts';
import type { ServeRuns } from './serve-runs.ts';
import type { ServedServer } from './served-server.ts';
import { ServedSession, type SessionSurroundings } from './served-session.ts';

export interface SessionsOptions {
  readonly around: SessionSurroundings;
  readonly runs: ServeRuns;
  readonly limits: () => ServeConfig['limits'];
  /** The server of this name as the configuration in force has it. */
  readonly server: (name: string) => ServedServer | undefined;
  /** Whether a server of this name waits for its operator. */
  readonly isUnready: (name: string) => boolean;
  readonly onDefect: (cause: unknown) => void;
}

interface OpenSession<A extends HttpAgent> {
  readonly agent: A;
  readonly session: ServedSession;
  readonly server: ServedServer;
  readonly principal: Principal;
  usedMs: number;
}

interface OpenCaller {
  sessions: number;
  readonly rooms: CallerRooms;
}

const TICK_MS = 1_000;
const SESSION_ID_BYTES = 24;
const DRAIN_POLL_MS = 50;

export class Sessions implements SessionDesk {
  readonly #options: SessionsOptions;
  readonly #legacy = new Map<string, OpenSession<LegacyAgent>>();
  /** By caller, server and run; and by token, where it is passed on. */
  readonly #modern = new Map<string, OpenSession<ModernAgent>>();
  /** By their ids, as long as they have sessions. */
  readonly #callers = new Map<string, OpenCaller>();
  /** Sessions that are over, but not gone: their servers may still end. */
  readonly #closing = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #isDraining = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  get requestsMax(): number {
    return this.#options.limits().requests_per_session;
  }

  get size(): number {
    return this.#legacy.size + this.#modern.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  find(id: string, { principal, server }: Caller): LegacyAgent | undefined {
    const open = this.#legacy.get(id);
    if (open === undefined || open.principal.id !== principal.id) return undefined;
    if (open.server.entry.name !== server) return undefined;
    open.usedMs = performance.now();
    open.session.useToken(principal.token);
    return open.agent;
  }

  begin(caller: Caller): LegacyAgent | RpcRefusal {
    const id = randomBytes(SESSION_ID_BYTES).toString('base64url');
    const make = (rooms: CallerRooms): LegacyAgent => new LegacyAgent(id, rooms);
    const opened = this.#open(caller, make, () => this.#legacy.delete(id));
    if ('status' in opened) return opened;
    const { agent } = opened;
    agent.onRefused = () => opened.session.close();
    this.#legacy.set(id, opened);
    this.#start(opened);
    return agent;
  }

  shared(caller: Caller): ModernAgent | RpcRefusal {
    const { principal, server, runName } = caller;
    // Two tokens of one caller may open different doors: a call that waits must not go on with the other one.
    const passed = this.#passesTokens(server) ? principal.token : undefined;
    const key = JSON.stringify([principal.id, server, runName ?? null, passed ?? null]);
    const known = this.#modern.get(key);
    if (known !== undefined) {
      known.usedMs = performance.now();
      return known.agent;
    }
    const make = (rooms: CallerRooms): ModernAgent => new ModernAgent(rooms);
    const opened = this.#open(caller, make, () => this.#modern.delete(key));
    if ('status' in opened) return opened;
    this.#modern.set(key, opened);
    this.#start(opened);
    return opened.agent;
  }

  end(id: string): void {
    this.#legacy.get(id)?.agent.leave();
  }

  /** Every open session. */
  *all(): Generator<OpenSession<HttpAgent>> {
    yield* this.#legacy.values();
    yield* this.#modern.values();
  }

  /** Lets open calls end, no longer than `graceMs`, and then ends all sessions. */
  async drain(graceMs: number, isCut: () => boolean): Promise<void> {
    this.#isDraining = true;
    const untilMs = performance.now() + graceMs;
    for (const { agent } of this.all()) agent.drain();
    while (this.#openExchanges() > 0 && performance.now() < untilMs && !isCut()) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    clearInterval(this.#timer);
    await this.endAll(() => true);
  }

  /** Ends sessions, such as those of servers that are gone, or of callers who no longer get in. */
  async endAll(isMeant: (open: OpenSession<HttpAgent>) => boolean): Promise<void> {
    for (const open of [...this.all()].filter(isMeant)) open.session.close();
    await Promise.all(this.#closing);
  }

  #passesTokens(server: string): boolean {
    const entry = this.#options.server(server)?.entry;
    return entry?.kind === 'remote' && entry.passToken;
  }

  #open<A extends HttpAgent>(
    caller: Caller,
    make: (rooms: CallerRooms) => A,
    forget: () => void,
  ): OpenSession<A> | RpcRefusal {
    const { around, runs, limits, server: find, isUnready } = this.#options;
    const { principal, server: name } = caller;
    const server = find(name);
    if (!this.#isDraining && isUnready(name)) return UNREADY;
    if (this.#isDraining || server === undefined) return STOPPING;
    const own = this.#callers.get(principal.id) ?? { sessions: 0, rooms: callerRooms() };
    if (this.size >= limits().sessions) return FULL;
    if (own.sessions >= limits().sessions_per_principal) return OWN_FULL;
    const run = runs.of(caller);
    if (run.isTerminated) return RUN_ENDED;
    own.sessions += 1;
    this.#callers.set(principal.id, own);
    const agent = make(own.rooms);
    const onOver = (): void => {
      forget();
      own.sessions -= 1;
      if (own.sessions === 0) this.#callers.delete(principal.id);
    };
    const onClosing = (closing: Promise<void>): void => this.#track(closing);
    const session = new ServedSession(around, { server, run, caller, agent, onOver, onClosing });
    return { agent, session, server, principal, usedMs: performance.now() };
  }

  #start({ session }: OpenSession<HttpAgent>): void {
    session.open().catch((cause: unknown) => {
      this.#options.onDefect(cause);
      session.close();
    });
  }

  #track(closing: Promise<void>): void {
    const settled = closing
      .catch((cause: unknown) => this.#options.onDefect(cause))
      .finally(() => this.#closing.delete(settled));
    this.#closing.add(settled);
  }

  #openExchanges(): number {
    let open = 0;
    for (const { agent } of this.all()) open += agent.openExchanges;
    return open;
  }

  #tick(): void {
    const nowMs = performance.now();
    const idleMs = this.#options.limits().session_idle_s * 1_000;
    for (const open of this.all()) {
      open.agent.tick(nowMs);
      if (open.agent.isInUse) open.usedMs = nowMs;
      else if (nowMs - open.usedMs > idleMs) open.session.close();
    }
    this.#options.runs.tick(nowMs);
  }
}

const RETRY = { 'retry-after': '5' };
const UNREADY = {
  status: 503,
  code: RPC.refused,
  message:
    'This server is not ready: it lacks a secret. Its operator finds which one in the log of `sub serve`, sets it, and sends SIGHUP.',
  headers: { 'retry-after': '60' },
};
const RUN_ENDED = {
  status: 403,
  code: RPC.refused,
  message: 'The policy has ended this run: none of its calls passes any more.',
};
const FULL = {
  status: 503,
  code: RPC.refused,
  message: 'There are too many sessions: end some, or raise limits.sessions.',
  headers: RETRY,
};
const OWN_FULL = {
  status: 429,
  code: RPC.refused,
  message: 'You have too many sessions: end some, or have limits.sessions_per_principal raised.',
  headers: RETRY,
};
