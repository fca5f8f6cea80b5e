// Who sends a hook: the client, or a program that one of its tools has started. Such a program has the token and the
// socket of the run, too. Linux tells by processes; elsewhere every sender counts as the client.
import { randomBytes } from 'node:crypto';
import {
  type ConnectionEnds,
  holdsSocket,
  type ProcessInfo,
  peerSocket,
  processInfo,
  processStat,
  type System,
  subCommand,
  thisSystem,
  withAncestors,
} from '../../os/index.ts';
import { agentProcess, isInit } from '../../stores/identity/agent-process.ts';

export interface HookSendersOptions {
  /** The process that all senders descend from; clients are below it. */
  readonly root: number;
  /** The root is the client itself, and nobody else is. */
  readonly isClient: boolean;
  /** Records that a hook was refused. */
  readonly degraded: (reason: string) => void;
  readonly system?: System;
}

const CLIENTS_MAX = 64;
const HOOKS_MAX = 4_096;
const PROCESSES_MAX = 8_192;
/** What Linux counts the start of a process in, on all machines that we run on. */
const TICK_MS = 10;
/** Written in 14 characters, of the 15 that Linux keeps. */
const WORD_BYTES = 7;
const FORGED =
  'a hook came from a process that is not the agent, such as one that a tool has started: it was refused';

interface NamedHook {
  readonly client: string;
  /** As it says itself. */
  readonly pid?: number;
}

export class HookSenders {
  readonly #options: HookSendersOptions;
  readonly #system: System;
  /** The clients that have been seen, by their identity. */
  readonly #clients = new Map<string, ProcessInfo>();
  readonly #posts = new WeakMap<ConnectionEnds, string>();
  /** Processes of hooks that have asked: each asks once. */
  readonly #hooks = new Set<string>();
  readonly #shims = new Map<string, string>();
  /** What the init process below the root, or that is the root, has started. */
  #started: string | undefined;
  readonly #canTell: boolean;
  readonly #canName: boolean;
  #hasNoted = false;

  constructor(options: HookSendersOptions) {
    this.#options = options;
    this.#system = options.system ?? thisSystem();
    const { platform } = this.#system;
    this.#canName = this.#system.takesNames?.() ?? false;
    this.#canTell = platform === 'linux' && this.#system.exists('/proc/self/stat');
  }

  /** Whether a connection is the client's; looked up once for each. */
  isPostedByClient(socket: ConnectionEnds): boolean {
    if (!this.#canTell) return true;
    let owner = this.#posts.get(socket);
    if (owner === undefined) {
      const found = this.#ownerOf(socket);
      owner = found !== undefined && this.#accepts(found) ? idOf(found) : '';
      this.#posts.set(socket, owner);
    }
    return this.#clients.has(owner) || this.#refuse();
  }

  /** What a hook that is a process must take for its name: it could name another process. Empty for any name. */
  newWord(): string {
    return this.#canTell && this.#canName ? randomBytes(WORD_BYTES).toString('hex') : '';
  }

  /** Whether a hook that is a process is the one that it names, and was started by the client. */
  isStartedByClient({ pid, client }: NamedHook, word: string): boolean {
    if (!this.#canTell) return true;
    const hook = pid === undefined ? undefined : processInfo(pid, this.#system);
    const isItself = hook !== undefined && (word === '' || hook.name === word);
    return (isItself && this.#isOwnHook(hook, client)) || this.#refuse();
  }

  /** How long ago the client has started a hook that is a process. */
  ageMs(pid: number | undefined): number {
    if (!this.#canTell) return 0;
    const clients = new Set([...this.#clients.values()].map((client) => client.pid));
    const line = withAncestors(pid ?? 0, this.#system);
    const first = [...line].find(({ ppid }) => clients.has(ppid));
    const stat = processStat(first?.pid ?? 0, (path) => this.#system.readFile(path));
    const upMs = Number.parseFloat(this.#system.readFile('/proc/uptime') ?? '') * 1_000;
    const ageMs = upMs - (stat?.startTicks ?? Number.NaN) * TICK_MS;
    // Some containers have another clock here than there.
    return ageMs >= 0 ? ageMs : Number.POSITIVE_INFINITY;
  }

  /** Whether a client, and no tool of it, has started the shim of a server. */
  hasShim(server: string): boolean {
    if (!this.#canTell) return true;
    const known = this.#shims.get(server);
    if (known !== undefined && idOfPid(known, this.#system) === known) return true;
    const pids = this.#system.pids?.().slice(-PROCESSES_MAX) ?? [];
    const found = pids.find((pid) => this.#isShimOf(pid, server));
    const info = found === undefined ? undefined : processInfo(found, this.#system);
    if (info !== undefined) this.#shims.set(server, idOf(info));
    return info !== undefined;
  }

  #refuse(): boolean {
    if (!this.#hasNoted) this.#options.degraded(FORGED);
    this.#hasNoted = true;
    return false;
  }

  /** A client is below the root, and below no other client: what is there was started by a tool. */
  #accepts(sender: ProcessInfo): boolean {
    if (this.#clients.has(idOf(sender))) return true;
    const { root, isClient } = this.#options;
    if (isClient && sender.pid !== root) return false;
    const line = [...withAncestors(sender.pid, this.#system)];
    const at = line.findIndex(({ pid }) => pid === root);
    if (at === -1 || line.slice(1, at).some((one) => this.#clients.has(idOf(one)))) return false;
    // An init adopts what has outlived its tool: of what is right below it, only the first was started.
    const below = line.slice(0, at).find((_, level) => isInit(line[level + 1] ?? sender));
    if (below !== undefined && (this.#started ?? idOf(below)) !== idOf(below)) return false;
    for (const [id, { pid }] of this.#clients) {
      const above = [...withAncestors(pid, this.#system)];
      // Whatever came before its client did is no client.
      const isBelow = pid !== root && above.some((one) => idOf(one) === idOf(sender));
      if (above.length === 0 || isBelow) this.#clients.delete(id);
    }
    if (this.#clients.size >= CLIENTS_MAX) return false;
    this.#clients.set(idOf(sender), sender);
    if (below !== undefined) this.#started = idOf(below);
    return true;
  }

  #ownerOf(socket: ConnectionEnds): ProcessInfo | undefined {
    const peer = peerSocket(socket, this.#system);
    if (peer === undefined || peer.uid !== process.getuid?.()) return undefined;
    const holds = (pid: number) => holdsSocket(pid, peer.inode, this.#system);
    const client = [...this.#clients.values()].find(({ pid }) => holds(pid) === true);
    if (client !== undefined) return client;
    const pids = this.#descendants();
    // A process that lets nobody look may be the client; one that is about to become a tool still has its sockets.
    const owner =
      pids.find((pid) => holds(pid) === true) ?? pids.find((pid) => holds(pid) === undefined);
    return owner === undefined ? undefined : processInfo(owner, this.#system);
  }

  /** The root and what is below it, parents first. */
  #descendants(): readonly number[] {
    const children = new Map<number, number[]>();
    for (const pid of this.#system.pids?.().slice(-PROCESSES_MAX) ?? []) {
      const stat = processStat(pid, (path) => this.#system.readFile(path));
      if (stat?.running !== true) continue;
      const siblings = children.get(stat.ppid);
      if (siblings === undefined) children.set(stat.ppid, [pid]);
      else siblings.push(pid);
    }
    // Each once: pids that are used again while all of this is read could make a circle.
    const found = new Set([this.#options.root]);
    for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
    return [...found];
  }

  /** It is `sub hook`, its client has started it by a line that says so, and it has not asked before. */
  #isOwnHook(hook: ProcessInfo, client: string): boolean {
    if (subCommand(hook.args) !== 'hook' || this.#hooks.has(idOf(hook))) return false;
    if (this.#hooks.size >= HOOKS_MAX) this.#hooks.clear();
    this.#hooks.add(idOf(hook));
    const agent = agentProcess({ ...this.#system, ppid: hook.ppid })?.process;
    if (agent === undefined) return false;
    for (const { pid } of withAncestors(hook.ppid, this.#system)) {
      if (pid === agent.pid) return this.#accepts(agent);
      if (!isHookLine(this.#system.readFile(`/proc/${pid}/cmdline`) ?? '', client)) return false;
    }
    return false;
  }

  /** Clients start tools in sessions of their own, and servers in theirs. */
  #isShimOf(pid: number, server: string): boolean {
    const words = this.#system.readFile(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
    if (subCommand(words) !== 'shim' || namedServer(words) !== server) return false;
    const read = (path: string) => this.#system.readFile(path);
    const shim = processStat(pid, read);
    const agent = agentProcess({ ...this.#system, ppid: shim?.ppid ?? 0 })?.process;
    if (shim === undefined || agent === undefined || !this.#clients.has(idOf(agent))) return false;
    return processStat(agent.pid, read)?.session === shim.session;
  }
}

/** Whether a shell begins with the hook: the line of a tool may name it further on. */
function isHookLine(line: string, client: string): boolean {
  const at = line.search(new RegExp(`\\bhook\\W{1,4}${client}\\b`));
  // Our own line is `"$@"` and what to do when that fails, with the hook behind it.
  const before = line.slice(0, at).replace(/"\$@";[^\0']*/, '');
  return at !== -1 && !/[;|&<>`\n]|\$\(/.test(before);
}

/** The name of the server on the command line of a shim. */
function namedServer(words: readonly string[]): string | undefined {
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  const at = options.findIndex((word) => /^--server-(?:name|id)(?:=|$)/.test(word));
  const [, glued] = /^[^=]+=(.*)$/s.exec(options[at] ?? '') ?? [];
  return glued ?? options[at + 1];
}

function idOf({ pid, start }: ProcessInfo): string {
  return `${pid}-${start}`;
}

/** The identity of the process that has the pid of this one now. */
function idOfPid(id: string, system: System): string | undefined {
  const info = processInfo(Number.parseInt(id, 10), system);
  return info === undefined ? undefined : idOf(info);
}
