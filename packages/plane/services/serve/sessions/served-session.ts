// One session behind `sub serve`: an agent over HTTP, a governor, and a way to a server. Also that of an agent in this
// process.
import type { Producer } from '@subluminal/contracts';
import { identityOf, type Snapshot } from '@subluminal/core/policy';
import type { SessionConfig } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import { monotonicClock } from '../../../os/index.ts';
import { NO_ACCOUNT, type ShimAccount } from '../../../stores/identity/index.ts';
import type { PolicyFiles } from '../../../stores/policy/follow-policy.ts';
import type { GrowingRedactor } from '../../../stores/vault/load-redactor.ts';
import type { GatesLifecycle, GatesLifecycleOptions } from '../../governor/gates-lifecycle.ts';
import { governBoth, runCommands } from '../../governor/govern.ts';
import type { GovernedSession, SessionHub, SessionParts } from '../../governor/governed-session.ts';
import { LazyApprovals } from '../../governor/lazy-approvals.ts';
import { LocalHub } from '../../governor/local-hub.ts';
import { changePolicy, type OpenedSession, openSession } from '../../governor/open-session.ts';
import type { BatchingSink } from '../../sink/index.ts';
import { bridgeEras } from '../../transports/bridge/index.ts';
import type { ServerEnd, Transport } from '../../transports/types.ts';
import type { Caller } from '../http/endpoint.ts';
import type { ServeRun } from './serve-runs.ts';
import type { ServedServer, ServerSurroundings } from './served-server.ts';

/** The facts of one session that its gates depend on. */
export type GateFacts = Pick<
  GatesLifecycleOptions,
  'serverName' | 'snapshot' | 'identity' | 'secrets' | 'learned' | 'redact' | 'hasHub' | 'hasCedar'
>;

/** What all sessions share. */
export interface SessionSurroundings<S extends SessionServer = ServedServer>
  extends ServerSurroundings {
  readonly sink: BatchingSink;
  readonly policy: () => { readonly snapshot: Snapshot; readonly files: PolicyFiles };
  /** Something besides a terminal of this machine may answer. */
  readonly hasChannel: boolean;
  readonly openGates: (server: S, facts: GateFacts) => Promise<GatesLifecycle | string>;
  /** The way to the hub of `sub run`, where it has started this process. */
  readonly reachHub: (
    server: string,
    producer: Producer,
  ) => Promise<SessionHub | string | undefined>;
}

/** What a session needs of its server. */
export type SessionServer = Pick<
  ServedServer,
  'secretValues' | 'redaction' | 'eras' | 'connect'
> & {
  readonly entry: { readonly name: string };
  readonly secrets: Pick<ServedServer['secrets'], 'injected'>;
};

export interface SessionAgent extends Transport {
  /** As `close`, with the reason that requests without an answer get. */
  closeWith(message: string): void;
}

export interface SessionOpening<S extends SessionServer = ServedServer> {
  readonly server: S;
  readonly run: ServeRun;
  readonly caller: Pick<Caller, 'principal'>;
  readonly agent: SessionAgent;
  /** How its calls are recorded to have come; `mcp_http` unless given. */
  readonly transport?: SessionParts['transport'];
  /** What its agent knows of its calls. */
  readonly brief?: SessionConfig['brief'];
  /** Puts something between the governor and the server. */
  readonly beforeServer?: (server: Transport) => Transport;
  /** It is over, and its agent gets no more answers. */
  readonly onOver: () => void;
  /** It ends, by itself or not; nothing is left of it when this is done. */
  readonly onClosing: (closing: Promise<void>) => void;
}

const REASON_LENGTH_MAX = 1_000;

export class ServedSession<S extends SessionServer = ServedServer> {
  readonly #around: SessionSurroundings<S>;
  readonly #opening: SessionOpening<S>;
  #opened: OpenedSession | undefined;
  #end: ServerEnd | undefined;
  #closing: Promise<void> | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isOver = false;
  #hasLeft = false;
  #token: string | undefined;
  readonly #redaction: GrowingRedactor;

  constructor(around: SessionSurroundings<S>, opening: SessionOpening<S>) {
    this.#around = around;
    this.#opening = opening;
    this.#redaction = opening.server.redaction();
    this.#token = opening.caller.principal.token;
    opening.run.join();
  }

  /** A caller may come back with another token. */
  useToken(token: string | undefined): void {
    this.#token = token;
  }

  /** Opens it; messages of the agent wait until then. */
  open(): Promise<void> {
    this.#ready = this.#open();
    return this.#ready;
  }

  async #open(): Promise<void> {
    const { agent, run, server, caller } = this.#opening;
    const producer = ownProducer(run.producer);
    const hub = await this.#hub(producer);
    const parts = typeof hub === 'string' ? hub : await this.#parts(producer, hub);
    if (typeof parts === 'string') return this.#fail(parts, hub);
    const end = await server.connect({
      producer,
      principal: caller.principal,
      token: () => this.#token,
      onToken: this.#redaction.add,
    });
    const reason = typeof end === 'string' ? end : undefined;
    if (this.#closing !== undefined || reason !== undefined || typeof end === 'string') {
      parts.guarding.stop();
      if (typeof end !== 'string') await end.close();
      return this.#fail(reason ?? 'The session has ended.', hub);
    }
    this.#end = end;
    this.#opened = openSession(parts, { agent, now: monotonicClock() });
    this.#govern(this.#opened.governed, end);
    const { snapshot } = this.#around.policy();
    if (snapshot !== parts.snapshot) await this.usePolicy(snapshot);
  }

  /** Uses another policy from the next call on. */
  async usePolicy(snapshot: Snapshot): Promise<void> {
    if (this.#opened !== undefined) await changePolicy(this.#opened.governed, snapshot);
  }

  /** Ends it. Calls without an answer are cancelled, and what it has done is recorded. */
  close(hasFailed = false): void {
    if (this.#closing !== undefined) return;
    // A refused `initialize` asks for the end as well, while the first one is at work.
    this.#closing = Promise.resolve().then(() => this.#close(hasFailed));
    this.#over();
    this.#opening.onClosing(this.#closing);
  }

  #govern(governed: GovernedSession, end: ServerEnd): void {
    const { inspectBytesMax } = this.#around.limits;
    const note = (detail: string): void => governed.log.warn(detail);
    const { server, beforeServer } = this.#opening;
    const bridged = bridgeEras(end.transport, { inspectBytesMax, note, eras: server.eras });
    const transport = beforeServer?.(bridged) ?? bridged;
    governed.stop = () => this.close();
    governed.server = transport;
    governBoth(governed, transport, {
      agent: () => this.close(),
      broken: () => this.close(),
      server: () => {},
    });
    void end.gone.then((exit) => {
      if (this.#closing !== undefined) return;
      governed.counter.serverState = 'exited';
      runCommands(governed, governed.session.serverExited(exit, governed.now()));
      this.close(exit.code !== 0);
    });
  }

  async #close(hasFailed: boolean): Promise<void> {
    const { agent } = this.#opening;
    if (this.#opened === undefined) {
      agent.closeWith('The session has ended.');
      // It may be on its way to its server.
      await this.#ready.catch(() => undefined);
      return this.#leave(undefined);
    }
    await this.#opened.close(hasFailed);
    this.#opened.governed.server?.stop();
    await this.#end?.close();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#opening.onOver();
  }

  #leave(hub: SessionHub | undefined, account?: ShimAccount): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const member = hub instanceof LocalHub ? hub : undefined;
    this.#opening.run.leave(account ?? { ...NO_ACCOUNT, startedMs: Date.now() }, member);
  }

  /** It has not begun: whoever waits gets the reason. */
  #fail(reason: string, hub: SessionHub | string | undefined): void {
    const { agent, server } = this.#opening;
    const text = this.#redaction.plain(reason);
    this.#around.warn(`${server.entry.name}: ${visible(text, REASON_LENGTH_MAX)}`);
    this.#closing ??= Promise.resolve();
    this.#over();
    agent.closeWith(`The server ${server.entry.name} cannot be used: ${text}`);
    this.#leave(typeof hub === 'string' ? undefined : hub);
    if (typeof hub === 'object') void hub.leave(NO_ACCOUNT.summary);
  }

  async #hub(producer: Producer): Promise<SessionHub | string | undefined> {
    const { run, server } = this.#opening;
    const { loaded, reachHub } = this.#around;
    const { hub } = run;
    const serverName = server.entry.name;
    if (hub === undefined) return reachHub(serverName, producer);
    const { profile } = loaded.config;
    const member = new LocalHub({ hub, serverName, profile, producer });
    run.add(member);
    return member;
  }

  async #parts(producer: Producer, hub: SessionHub | undefined): Promise<SessionParts | string> {
    const { server, run, caller, brief, transport = 'mcp_http' } = this.#opening;
    const { loaded, sink, policy, limits, hasChannel, openGates, warn } = this.#around;
    const { config, paths } = loaded;
    const { snapshot, files } = policy();
    const serverName = server.entry.name;
    const { secrets } = server;
    const { plain: redact, isClean, learned } = this.#redaction;
    const guarding = await openGates(server, {
      serverName,
      snapshot,
      identity: identityOf(producer),
      secrets: server.secretValues,
      learned,
      redact,
      hasHub: hub !== undefined,
      hasCedar: hub?.asksCedar === true || config['cedar.policies'] !== null,
    });
    if (typeof guarding === 'string') return guarding;
    const isOneOfMany = caller.principal.kind !== 'local';
    const asking = { home: paths.home, producer, warn, hasChannel, isOneOfMany };
    const people = new LazyApprovals(asking);
    await guarding.prepare();
    await people.prepare(snapshot, guarding.mayAsk || brief !== undefined);
    return {
      serverName,
      transport,
      brief,
      snapshot,
      policyFiles: files,
      // One watch serves all sessions.
      policyReload: 'off',
      profile: config.profile,
      producer,
      membership: {
        tellsStart: false,
        hasWritten: (hash) => run.hasWritten(hash),
        leave: (account) => {
          this.#leave(hub, account);
          return undefined;
        },
      },
      sink,
      hub,
      people,
      guarding,
      injected: secrets.injected,
      redact,
      isClean,
      logLevel: config['log.level'],
      limits,
    };
  }
}

/** Each session counts as a shim of its run. */
function ownProducer(producer: Producer): Producer {
  return { ...producer, source: { ...producer.source, shim_id: uuidv7() } };
}
