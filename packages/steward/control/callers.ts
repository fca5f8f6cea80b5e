// Who asks on the socket: nobody inside a governed run or left behind by one, and nothing that Steward itself has
// started. A Unix socket does not tell Node which process is at its other end, so a caller shows it: it takes a word
// that it is given for the name of its process, which no other process can do for it, and gets a token for all that it
// asks. Linux alone tells this; elsewhere the permissions of the socket are all there is.
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { type Failure, isObject, tableFailure } from '@subluminal/contracts';
import { homePaths } from '@subluminal/plane/config';
import { processFailure } from '@subluminal/plane/identity';
import {
  holdsSocket,
  processInfo,
  type System,
  thisSystem,
  withAncestors,
} from '@subluminal/plane/os';

/** A word to take for a name; then a token. */
type Admission = { readonly word: string } | { readonly token: string };

/** Written in 14 characters, of the 15 that Linux keeps. */
const WORD_BYTES = 7;
/** The flag of a listening socket, in /proc/net/unix. */
const LISTENS = '00010000';
const TOKEN_BYTES = 32;
/** The oldest goes first; whoever had it shows itself again. */
const KEPT_MAX = 1_024;

export interface CallersOptions {
  /** The folder of sockets and agent files. */
  readonly runDir: string;
  /** Whoever listens there is the daemon, which asks for the page. */
  readonly ledgerSocket: string;
  readonly system?: System;
}

export class Callers {
  readonly #runDir: string;
  readonly #ledgerSocket: string;
  readonly #system: System;
  readonly #canTell: boolean;
  readonly #words = new Set<string>();
  readonly #tokens = new Set<string>();

  constructor({ runDir, ledgerSocket, system = thisSystem() }: CallersOptions) {
    this.#runDir = runDir;
    this.#ledgerSocket = ledgerSocket;
    this.#system = system;
    this.#canTell = system.platform === 'linux' && system.takesNames?.() === true;
  }

  isKnown(authorization: string | undefined): boolean {
    return this.#tokens.has(authorization?.replace(/^Bearer /, '') ?? '');
  }

  admit(shown: unknown): Admission | Failure {
    if (!this.#canTell) return { token: keep(this.#tokens, TOKEN_BYTES) };
    if (!isObject(shown) || shown['word'] === undefined) {
      return { word: keep(this.#words, WORD_BYTES) };
    }
    const { word, pid } = shown;
    // Each word counts once.
    const isOurs = typeof word === 'string' && this.#words.delete(word);
    const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
    if (!isOurs || !isPid || processInfo(pid, this.#system)?.name !== word) {
      const why = 'The process that asks has not shown which one it is.';
      return tableFailure('SUB_STEWARD_REQUEST', why);
    }
    return this.#failureOf(pid) ?? { token: keep(this.#tokens, TOKEN_BYTES) };
  }

  #failureOf(pid: number): Failure | undefined {
    const own = this.#system.pid;
    // `sub steward chat` may be Steward itself. The daemon may have been started by any process of a run, and lets no
    // agent decide (services/api/person-guard.ts).
    if (pid === own || this.#isDaemon(pid)) return undefined;
    const isBelow = [...withAncestors(pid, this.#system)].some((one) => one.pid === own);
    if (isBelow)
      return tableFailure('SUB_INSIDE_RUN', 'Steward has started the process that asks.');
    return processFailure(pid, {
      ...{ runDir: this.#runDir, system: this.#system },
      env: { SUB_HOME: dirname(this.#runDir) },
      homeOf: (env) => homePaths(env).home,
    });
  }

  #isDaemon(pid: number): boolean {
    const lines = this.#system.readFile('/proc/net/unix')?.split('\n') ?? [];
    const inodes = lines.flatMap((line) => {
      const [, , , flags, , , inode = '', ...path] = line.trim().split(' ').filter(Boolean);
      return flags === LISTENS && path.join(' ') === this.#ledgerSocket ? [inode] : [];
    });
    // Two, where a process has put its own socket into the place of the daemon's.
    const [inode] = inodes;
    return inodes.length === 1 && holdsSocket(pid, inode ?? '', this.#system) === true;
  }
}

function keep(kept: Set<string>, bytes: number): string {
  const [oldest] = kept;
  if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  const made = randomBytes(bytes).toString('hex');
  kept.add(made);
  return made;
}
