// One server in the run of an agent: started when it is used, and again after it has ended.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { errorText } from '../../os/index.ts';
import type { GrowingRedactor } from '../../stores/vault/load-redactor.ts';
import type { Principal } from '../serve/auth/types.ts';
import type { ServerEntry } from '../serve/config/serve-config.ts';
import type { ServeRun } from '../serve/sessions/serve-runs.ts';
import { prepareServer, type ServedServer } from '../serve/sessions/served-server.ts';
import type { SessionServer, SessionSurroundings } from '../serve/sessions/served-session.ts';
import type { OwnServer } from './own-tool.ts';
import { openLink, type ServerLink } from './server-link.ts';
import type { AgentCall, AgentOutcome, AgentTool } from './types.ts';

export type AgentEntry = OwnServer | ServerEntry;

/** A server as its sessions and its gates know it. */
export interface AgentServed extends SessionServer {
  /** Undefined for one of our own. */
  readonly foreign: ServedServer | undefined;
}

export interface AgentServerOptions {
  /** Of servers of our own: knows the secrets that they use. */
  readonly redaction: GrowingRedactor;
  readonly around: SessionSurroundings<AgentServed>;
  readonly run: ServeRun;
  readonly principal: Principal;
}

/** One that ends all the time is not started all the time. */
const STARTS_MAX = 5;
const STARTS_WITHIN_MS = 60_000;
const TOO_OFTEN = 'It was started too often within a minute, and is tried again later.';
const CLOSED = 'It was taken away.';
const WORDS_MAX = 300;

function isOwn(entry: AgentEntry): entry is OwnServer {
  return 'tools' in entry;
}

export class AgentServer {
  readonly #entry: AgentEntry;
  readonly #options: AgentServerOptions;
  readonly #closing = new Set<Promise<void>>();
  #served: AgentServed | undefined;
  #link: Promise<ServerLink | string> | undefined;
  #starts: readonly number[] = [];
  #isClosed = false;

  constructor(entry: AgentEntry, options: AgentServerOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  get entry(): AgentEntry {
    return this.#entry;
  }

  /** Starts it where it does not run; a text says why it cannot be used. */
  async reach(): Promise<string | undefined> {
    const link = await this.#reach();
    return typeof link === 'string' ? link : undefined;
  }

  async tools(): Promise<readonly AgentTool[]> {
    const link = await this.#reach();
    return typeof link === 'string' ? [] : link.tools();
  }

  async call(wanted: AgentCall): Promise<AgentOutcome> {
    const link = await this.#reach();
    if (typeof link !== 'string') return link.call(wanted);
    const message = `The server ${this.#entry.name} cannot be used: ${link}`;
    return { kind: 'failed', message, wasForwarded: false };
  }

  async usePolicy(snapshot: Snapshot): Promise<void> {
    const link = await this.#link;
    if (typeof link === 'object') await link.usePolicy(snapshot);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const link = await this.#link;
    if (typeof link === 'object') link.close();
    await Promise.all(this.#closing);
    await this.#served?.foreign?.close();
    if (isOwn(this.#entry)) await this.#entry.close?.();
  }

  #reach(): Promise<ServerLink | string> {
    if (this.#isClosed) return Promise.resolve(CLOSED);
    if (this.#link !== undefined) return this.#link;
    const nowMs = performance.now();
    this.#starts = this.#starts.filter((startMs) => nowMs - startMs < STARTS_WITHIN_MS);
    if (this.#starts.length >= STARTS_MAX) return Promise.resolve(TOO_OFTEN);
    this.#starts = [...this.#starts, nowMs];
    const forget = (): void => {
      if (this.#link === link) this.#link = undefined;
    };
    const link = this.#start(forget).catch((cause: unknown) => {
      forget();
      return `A defect: ${visible(errorText(cause), WORDS_MAX)}`;
    });
    this.#link = link;
    return link;
  }

  async #start(forget: () => void): Promise<ServerLink | string> {
    const served = await this.#prepare();
    const opened =
      typeof served === 'string'
        ? served
        : await openLink({
            ...this.#options,
            entry: this.#entry,
            served,
            onOver: forget,
            onClosing: (closing) => this.#track(closing),
          });
    if (typeof opened === 'string') forget();
    return opened;
  }

  #track(closing: Promise<void>): void {
    const { warn } = this.#options.around;
    const settled = closing
      .catch(() => warn(`The server ${this.#entry.name} did not end as it should.`))
      .finally(() => this.#closing.delete(settled));
    this.#closing.add(settled);
  }

  /** Once: but what it lacks, such as a secret, may be there the next time. */
  async #prepare(): Promise<AgentServed | string> {
    if (this.#served !== undefined) return this.#served;
    const { around } = this.#options;
    const served = isOwn(this.#entry)
      ? ownServed(this.#entry.name, this.#options)
      : await foreignServed(this.#entry, around);
    if (isFailure(served)) return `${served.message} ${served.fix}`;
    if (typeof served === 'string') return served;
    this.#served = served;
    return served;
  }
}

async function foreignServed(
  entry: ServerEntry,
  around: SessionSurroundings<AgentServed>,
): Promise<AgentServed | string | Failure> {
  const foreign = await prepareServer(entry, around);
  return typeof foreign === 'string' || isFailure(foreign) ? foreign : { ...foreign, foreign };
}

function ownServed(name: string, { redaction }: AgentServerOptions): AgentServed {
  return {
    entry: { name },
    foreign: undefined,
    secretValues: [],
    secrets: { injected: [] },
    redaction: () => redaction,
    eras: { isLegacy: true },
    connect: () => Promise.resolve('It has no way of its own.'),
  };
}
