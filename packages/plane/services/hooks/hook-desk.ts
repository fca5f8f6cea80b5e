// Answers the hooks of clients: one governed session for each server name of each session of a client, and one answer
// for each hook. What cannot be read, opened or decided is refused.
import { NO_CALLS, SHIM_COUNTERS, type ShimSummary } from '@subluminal/contracts';
import type {
  HookAnswer,
  HookDialect,
  HookEvent,
  HookInput,
  HookReply,
  ToolUse,
} from '@subluminal/core/hooks';
import { type Snapshot, sectionsFor } from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import { errorText } from '../../os/index.ts';
import { userHome } from '../../stores/config/index.ts';
import type { ShimAccount } from '../../stores/identity/index.ts';
import { type FinderOptions, finderOptions } from '../self-protection/finder-options.ts';
import { ClientQuestions } from './client-questions.ts';
import { ClientSession } from './client-session.ts';
import { HOOK_LIMITS } from './hook-limits.ts';
import { HookSession } from './hook-session.ts';
import { PROMPT_FILES_MAX, readsOf } from './prompt-files.ts';
import { PromptTrust } from './prompt-trust.ts';
import type { HookSurroundings } from './session-parts.ts';
import { refused, ToolUses } from './tool-uses.ts';
import { silenceNote } from './transcript.ts';

interface AgentPlace {
  readonly cwd: string;
  readonly userHome: string;
  readonly env: { readonly [name: string]: string | undefined };
}

/** A client whose hooks are answered. */
export interface HookClient {
  readonly dialect: HookDialect;
  /** Files of its settings that could switch its hooks off, for an agent that works in this folder. */
  readonly settings: (place: AgentPlace) => readonly string[];
  /** A file of them that could answer what the client asks its user. */
  readonly answerer?: (place: AgentPlace) => string | undefined;
}

export interface HookDeskOptions extends HookSurroundings {
  readonly clients: readonly HookClient[];
  readonly env: { readonly [name: string]: string | undefined };
  /** The names of the servers that have a shim of their own in this run. */
  readonly shimServers: () => readonly string[];
  /**
   * Values that the user names are freed from taint. Not where the tools of the agent may run without a hook: any of
   * them could say it.
   */
  readonly trustsPrompts: boolean;
  /** Records that something was decided by less than it should be. */
  readonly degraded: (reason: string) => void;
}

/** How a hook waits for its answer. */
interface HookWait {
  /** Its client no longer does. */
  readonly signal?: AbortSignal | undefined;
  /** How long ago its process was started, where it is one. */
  readonly ageMs?: number | undefined;
}

const NAME_LENGTH_MAX = 256;
const NOTES_MAX = 200;
const NOTE_LENGTH_MAX = 300;
const PASS: HookAnswer = { do: 'pass' };
const NOT_ABORTED = new AbortController().signal;
const SETTINGS_CHANGED =
  'The settings of this agent stay as they were when it was started: a change could switch its hooks off. Start it again to use others.';

export class HookDesk {
  readonly #options: HookDeskOptions;
  readonly #clients: ReadonlyMap<string, HookClient>;
  readonly #sessions = new Map<string, ClientSession>();
  /** One for each client and folder: what is protected is then looked up once. */
  readonly #protects = new Map<string, FinderOptions>();
  readonly #uses: ToolUses;
  /** Where clients ask their users. */
  readonly #questions: ClientQuestions | undefined;
  readonly #notes = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  #summary = { ...NO_CALLS };
  readonly #trust = new PromptTrust();
  /** A session was said to be over while a tool of it ran. */
  #wasCutShort = false;
  #isClosed = false;
  #hasHeard = false;

  constructor(options: HookDeskOptions) {
    this.#options = options;
    this.#clients = new Map(options.clients.map((one) => [one.dialect.client, one]));
    const { config, env } = options;
    if (config['hooks.ask'] === 'client') {
      this.#questions = new ClientQuestions({
        answerer: ({ dialect, cwd }) =>
          this.#clients.get(dialect.client)?.answerer?.({ cwd, userHome: userHome(env), env }),
        note: (text) => this.#note(text),
      });
    }
    this.#uses = new ToolUses({
      governed: (session, server, cwd) => this.#governed(session, { server, cwd }),
      hasShim: (session, use) => this.#hasShim(session, use),
      appliesSuggestions: config['hooks.suggestions'] === 'apply',
      asksClient: (session) => this.#questions?.mayAsk(session) ?? false,
      note: (text) => this.#note(text),
    });
  }

  /** What all sessions that have ended did. */
  get summary(): ShimSummary {
    return this.#summary;
  }

  /** Whether any hook was called. */
  get hasHeard(): boolean {
    return this.#hasHeard;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** A tool that ends its own session must not get new counts by that. */
  get isNeeded(): boolean {
    return this.sessions > 0 || this.#wasCutShort;
  }

  /** Answers one hook. */
  async handle(client: string, body: string, asked: HookWait = {}): Promise<HookReply> {
    const dialect = this.#clients.get(client)?.dialect;
    if (dialect === undefined) return unknownClient(client);
    if (body.length > HOOK_LIMITS.bodyBytesMax) {
      return dialect.refuseUnread(undefined, 'It is larger than what is read of a hook.');
    }
    try {
      const input = dialect.read(body);
      this.#hasHeard = true;
      if (typeof input === 'string') return dialect.refuseUnread(eventNameIn(body), input);
      return dialect.write(input.event, await this.#answer(dialect, input, asked));
    } catch (cause) {
      this.#options.warn(
        `a hook could not be answered: ${visible(errorText(cause), NOTE_LENGTH_MAX)}`,
      );
      return dialect.refuseUnread(eventNameIn(body), 'Subluminal could not decide about it.');
    }
  }

  /** Uses another policy from the next call on. */
  async usePolicy(snapshot: Snapshot): Promise<void> {
    const opened = [...this.#sessions.values()].flatMap(({ servers }) => [...servers.values()]);
    for (const session of await Promise.all(opened)) {
      if (typeof session !== 'string') await session.usePolicy(snapshot);
    }
  }

  /** Ends all sessions; what they did is recorded when it is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const session of [...this.#sessions.values()]) this.#end(session);
    await Promise.all(this.#closing);
  }

  async #answer(
    dialect: HookDialect,
    { sender, event }: HookInput,
    { signal = NOT_ABORTED, ageMs }: HookWait,
  ): Promise<HookAnswer> {
    const nowMs = performance.now();
    const sinceMs = ageMs === undefined ? undefined : nowMs - ageMs;
    const session = this.#sessionFor(dialect, sender.sessionId);
    if (typeof session === 'string') return refused(session);
    session.heard(sender, nowMs);
    this.#trust.heard(event, nowMs);
    this.#questions?.heard(session, { sender, event });
    switch (event.kind) {
      case 'before_tool':
        return this.#uses.before(session, event.use, signal);
      case 'after_tool':
        return this.#uses.after(session, event, signal);
      case 'prompt':
        return this.#prompt(session, event, { signal, sinceMs });
      case 'before_model':
        return this.#uses.beforeModel(session, event.uses);
      case 'included_file':
        return this.#included(session, event.path);
      case 'config_change':
        return this.#configChange(session, event.path);
      case 'session_end':
        this.#wasCutShort ||= session.isRunning;
        this.#end(session);
        await Promise.all(this.#closing);
        return PASS;
      case 'session_start':
      case 'other':
        return PASS;
    }
  }

  async #prompt(
    session: ClientSession,
    { text, files, isFromUser, promptId }: Extract<HookEvent, { kind: 'prompt' }>,
    { signal, sinceMs }: { readonly signal: AbortSignal; readonly sinceMs: number | undefined },
  ): Promise<HookAnswer> {
    // Whatever runs may have sent it itself, in the name of any session.
    const isRunning = [...this.#sessions.values()].some((one) => one.isRunning);
    const doubt = this.#trust.doubt(isRunning, sinceMs);
    const isNew = session.isNewPrompt(promptId);
    const reads = readsOf(files, session.cwd, userHome(this.#options.env));
    if (reads.length > PROMPT_FILES_MAX) return refused('It names too many files.');
    const refusal =
      (await session.included) ??
      (await this.#uses.reads(session, reads, signal)) ??
      (await this.#said(session, text));
    if (refusal !== undefined) return refused(refusal);
    if (isFromUser) this.#uses.prompted(session);
    if (!isFromUser || !isNew || !this.#options.trustsPrompts) return PASS;
    if (doubt === undefined) this.#options.hub.said(text);
    else this.#note(doubt);
    return PASS;
  }

  /** The client doesn't wait for the answer: what is refused here stops the next prompt. */
  async #included(session: ClientSession, path: string): Promise<HookAnswer> {
    const reads = readsOf([path], session.cwd, userHome(this.#options.env));
    const before = session.included;
    session.included = this.#uses.reads(session, reads, NOT_ABORTED).then(async (reason) => {
      const first = await before;
      if (reason === undefined) return first;
      this.#note(`instructions include a file that the policy closes: ${path}`);
      return first ?? `The instructions of this project include ${path}. ${reason}`;
    });
    await session.included;
    return PASS;
  }

  /** Why the user's words may not go on, by the content rules of the policy. */
  async #said(session: ClientSession, text: string): Promise<string | undefined> {
    const { policy, producer } = this.#options;
    const { snapshot } = policy();
    if (sectionsFor(snapshot, producer).content === undefined) return undefined;
    const governed = await this.#governed(session, { cwd: session.cwd, isForPrompts: true });
    if (typeof governed === 'string') return governed;
    const said = await governed.prompt(text);
    return said.kind === 'passes' ? undefined : said.reason;
  }

  #configChange({ dialect }: ClientSession, path: string | undefined): HookAnswer {
    const { snapshot } = this.#options.policy();
    if (snapshot.document.self_protection === 'off') return PASS;
    const what = path === undefined ? '' : ` (${path})`;
    this.#note(`the settings of ${dialect.client} changed while it ran, and were kept out${what}`);
    return refused(SETTINGS_CHANGED);
  }

  /** Whether a shim of this run decides about it and records it. */
  #hasShim({ dialect }: ClientSession, { server, tool, isServerUncertain }: ToolUse): boolean {
    // Else a server without a shim could go by the name of one that has a shim.
    if (isServerUncertain) return false;
    const isMeant = (name: string): boolean =>
      server === undefined
        ? dialect.isToolOf?.(tool, name) === true
        : name === server || dialect.writtenServerName(name) === server;
    return this.#options.shimServers().some(isMeant);
  }

  #sessionFor(dialect: HookDialect, sessionId: string): ClientSession | string {
    if (this.#isClosed) return 'The run has ended.';
    // The name of a client has no blank.
    const key = `${dialect.client} ${sessionId}`;
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    if (this.#sessions.size >= HOOK_LIMITS.sessionsMax && !this.#makeRoom()) {
      return 'Too many sessions of agents are open.';
    }
    const session = new ClientSession(dialect, key);
    this.#sessions.set(key, session);
    return session;
  }

  /** Ends the session in which nothing has happened for longest. */
  #makeRoom(): boolean {
    const idle = [...this.#sessions.values()].filter(({ isRunning }) => !isRunning);
    const [oldest] = idle.toSorted((one, other) => one.usedMs - other.usedMs);
    if (oldest !== undefined) this.#end(oldest);
    return oldest !== undefined;
  }

  /** The governed session for the tools of an MCP server, or of the client itself. */
  async #governed(
    session: ClientSession,
    wanted: {
      readonly server?: string | undefined;
      readonly cwd: string;
      readonly isForPrompts?: boolean;
    },
  ): Promise<HookSession | string> {
    const { server, cwd, isForPrompts = false } = wanted;
    // Whatever were opened now, nobody would close.
    if (session.isOver) return 'The session has ended.';
    const { client } = session.dialect;
    // The tools of an MCP server that takes the name of the client are not those of the client.
    const serverName = server === client ? `mcp:${server}` : (server ?? client);
    if (serverName.length > NAME_LENGTH_MAX) return 'The name of its server is too long.';
    const key = isForPrompts ? '' : serverName;
    let opening = session.servers.get(key);
    if (opening === undefined) {
      if (session.servers.size >= HOOK_LIMITS.serversMax)
        return 'This session has too many servers.';
      opening = this.#begin(session, { serverName, cwd, isForPrompts });
      session.servers.set(key, opening);
    }
    const opened = await opening;
    if (typeof opened === 'string') session.servers.delete(key);
    else opened.useCwd(cwd);
    return opened;
  }

  #begin(
    { dialect }: ClientSession,
    opening: { readonly serverName: string; readonly cwd: string; readonly isForPrompts: boolean },
  ): Promise<HookSession | string> {
    const { client } = dialect;
    const protects = this.#protectsFor(client, opening.cwd);
    const left = (account: ShimAccount): void => this.#left(account);
    return HookSession.open(this.#options, { ...opening, client, protects, left }).catch(
      (cause: unknown) => {
        this.#options.warn(`a hook has no session: ${visible(errorText(cause), NOTE_LENGTH_MAX)}`);
        return 'Subluminal could not decide about it.';
      },
    );
  }

  #protectsFor(client: string, cwd: string): FinderOptions {
    const key = JSON.stringify([client, cwd]);
    const known = this.#protects.get(key);
    if (known !== undefined) return known;
    const { config, paths, policy, env } = this.#options;
    const policies = policy().files.sources.map(({ path }) => path);
    const found = finderOptions({ command: '', args: [], env, cwd }, { config, paths, policies });
    const place = { cwd, userHome: found.userHome, env };
    const clientSettings = this.#clients.get(client)?.settings(place) ?? [];
    const protects = { ...found, clientSettings };
    if (this.#protects.size >= HOOK_LIMITS.sessionsMax) this.#protects.clear();
    this.#protects.set(key, protects);
    return protects;
  }

  #left({ summary }: ShimAccount): void {
    for (const name of SHIM_COUNTERS) {
      this.#summary[name] = (this.#summary[name] ?? 0) + (summary[name] ?? 0);
    }
  }

  #end(session: ClientSession): void {
    this.#sessions.delete(session.id);
    session.isOver = true;
    const closing = this.#closeAll(session)
      .catch((cause: unknown) => this.#options.warn(errorText(cause)))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #closeAll(session: ClientSession): Promise<void> {
    const silence = silenceNote(session);
    if (silence !== undefined) this.#note(silence);
    for (const opened of await Promise.all(session.servers.values())) {
      if (typeof opened !== 'string') await opened.close();
    }
  }

  /** Once for each of them. */
  #note(text: string): void {
    const note = visible(text, NOTE_LENGTH_MAX);
    if (this.#notes.has(note) || this.#notes.size >= NOTES_MAX) return;
    this.#notes.add(note);
    this.#options.degraded(note);
  }
}

function unknownClient(client: string): HookReply {
  const stderr = `sub does not know the hooks of ${visible(client, NAME_LENGTH_MAX)}\n`;
  return { stdout: '', stderr, exitCode: 2 };
}

const EVENT_NAME = /"hook_?event_?name"\s*:\s*"([A-Za-z_]{1,64})"/i;

/** For the reply to what could not be read: clients want their event named. */
export function eventNameIn(body: string): string | undefined {
  return EVENT_NAME.exec(body)?.[1];
}
