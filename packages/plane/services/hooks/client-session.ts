// One session of a client: its governed sessions by server, its tool uses, and what is known of them.
import { isDeepStrictEqual } from 'node:util';
import type { HookAnswer, HookDialect, HookSender, ToolUse } from '@subluminal/core/hooks';
import { parseJson } from '../../os/index.ts';
import type { HookSession, Soon } from './hook-session.ts';
import { type TranscriptStart, transcriptStart } from './transcript.ts';

/** A tool use between its two hooks. */
export interface OpenUse {
  readonly key: string;
  readonly use: ToolUse;
  readonly session: HookSession;
  /** Of the call that is open about it. */
  id: number;
  /** Set as soon as it is asked for. */
  answer: Soon<HookAnswer>;
  /** How many hooks wait for its verdict. */
  waiting: number;
  /** Set once it may run. */
  runsSinceMs: number | undefined;
  /** The client was told to ask its user about it. */
  isAsked: boolean;
  /** The arguments that it runs with, where they were rewritten. */
  argsText: string;
  /** The answer to the output that it has told of. */
  shown?: { readonly outputHash: string; readonly answer: Promise<HookAnswer> };
}

/** Two hooks may tell of the same use: the second is answered as the first. */
export type EndedUse =
  | { readonly kind: 'refused'; readonly reason: string }
  /** Its turn went on without an output of it, as after a use that the user has denied. */
  | { readonly kind: 'left_out' }
  | {
      readonly kind: 'answered';
      readonly answer: HookAnswer;
      /** The hash of the output that it is the answer to. */
      readonly outputHash: string;
    };

const ENDED_MAX = 512;
const TOLD_MAX = 20_000;
const PROMPTS_MAX = 10_000;

export class ClientSession {
  readonly dialect: HookDialect;
  readonly id: string;
  /** A text says why there is none. */
  readonly servers = new Map<string, Promise<HookSession | string>>();
  readonly uses = new Map<string, OpenUse>();
  /** The ids of all uses that a hook has told of. */
  readonly told = new Set<string>();
  /** Outputs that could not be replaced: why the model must not get them. */
  readonly #heldBack = new Map<string, string>();
  /** Why, once there are more than are remembered: then every output counts as one of them. */
  #heldBackAll: string | undefined;
  readonly #prompts = new Set<string>();
  /** Why a file that instructions include must not reach the model, once all of them are decided. */
  included: Promise<string | undefined> = Promise.resolve(undefined);
  cwd = '';
  /** As it was when the session was first heard of. */
  transcript: { readonly path: string; readonly start: TranscriptStart } | undefined;
  usedMs = 0;
  /** Nothing is opened in it any more. */
  isOver = false;
  readonly #ended = new Map<string, EndedUse>();
  /** Uses that count as refused, and of which nobody knows whether they run. */
  readonly #unsure = new Set<string>();
  #unnamed = 0;

  constructor(dialect: HookDialect, id: string) {
    this.dialect = dialect;
    this.id = id;
  }

  heard({ cwd, transcriptPath }: HookSender, nowMs: number): void {
    this.cwd = cwd;
    if (transcriptPath !== undefined && this.transcript === undefined) {
      this.transcript = { path: transcriptPath, start: transcriptStart(transcriptPath) };
    }
    this.usedMs = nowMs;
  }

  /** Remembers that a hook has told of a use. */
  tell({ useId }: ToolUse): void {
    if (useId !== undefined && this.told.size < TOLD_MAX) this.told.add(useId);
  }

  /** Whether not all uses are remembered, so that an unknown one may have been told of. */
  get hasForgotten(): boolean {
    return this.told.size >= TOLD_MAX;
  }

  get isRunning(): boolean {
    return this.uses.size > 0 || this.#unsure.size > 0;
  }

  /** Whether a prompt is not one that the client has written itself after another. */
  isNewPrompt(promptId: string | undefined): boolean {
    if (promptId === undefined) return true;
    if (this.#prompts.size >= PROMPTS_MAX || this.#prompts.has(promptId)) return false;
    this.#prompts.add(promptId);
    return true;
  }

  /** Where a new use is kept. */
  keyFor({ useId }: ToolUse): string {
    return useId === undefined ? `unnamed ${++this.#unnamed}` : `use ${useId}`;
  }

  /** The open use that an output belongs to; without an id, the oldest of the same tool and arguments. */
  find(use: ToolUse): OpenUse | undefined {
    if (use.useId !== undefined) return this.uses.get(this.keyFor(use));
    for (const open of this.uses.values()) {
      if (open.use.useId === undefined && isSameUse(open, use)) return open;
    }
    return undefined;
  }

  holdBack({ useId }: ToolUse, reason: string): void {
    if (useId === undefined) return;
    if (this.#heldBack.size < ENDED_MAX) this.#heldBack.set(useId, reason);
    else this.#heldBackAll = reason;
  }

  takeHeldBack({ useId }: ToolUse): string | undefined {
    const reason = this.#heldBack.get(useId ?? '');
    this.#heldBack.delete(useId ?? '');
    return reason ?? this.#heldBackAll;
  }

  ended({ useId }: ToolUse): EndedUse | undefined {
    return useId === undefined ? undefined : this.#ended.get(useId);
  }

  end(open: OpenUse, how?: EndedUse): void {
    this.uses.delete(open.key);
    if (how !== undefined) this.remember(open.use, how);
  }

  /** As `end`, while it may run all the same. */
  endUnsure(open: OpenUse, how: EndedUse): void {
    this.end(open, how);
    if (this.#unsure.size < ENDED_MAX) this.#unsure.add(open.key);
  }

  /** The client has told what became of a use. */
  isSure(use: ToolUse): void {
    if (use.useId !== undefined) this.#unsure.delete(this.keyFor(use));
  }

  remember({ useId }: ToolUse, how: EndedUse): void {
    if (useId === undefined) return;
    this.#ended.set(useId, how);
    if (this.#ended.size <= ENDED_MAX) return;
    const [oldest] = this.#ended.keys();
    if (oldest !== undefined) this.#ended.delete(oldest);
  }
}

/** Whether a use is of the same tool, with the arguments that were decided. */
export function isSameUse({ use, argsText }: OpenUse, other: ToolUse): boolean {
  if (use.tool !== other.tool || use.server !== other.server) return false;
  return isSameJson(use.argsText, other.argsText) || isSameJson(argsText, other.argsText);
}

function isSameJson(one: string, other: string): boolean {
  return one === other || isDeepStrictEqual(parseJson(one), parseJson(other));
}
