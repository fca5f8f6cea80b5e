// From events to what stands on the terminal: folded, filtered, and written as fast as it is read.
import { once } from 'node:events';
import type { Event } from '@subluminal/contracts';
import { harmlessJson } from '@subluminal/core/visible';
import { callArgsTest } from '@subluminal/plane/ledger';
import { type Io, knownColumns } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { lineFormatter } from './call-lines.ts';
import { shownBy, type TailFilter } from './filter.ts';
import { CallFold, type Folded } from './fold.ts';

interface ScreenOptions {
  readonly filter: TailFilter;
  /** How many of the last calls are shown first; all of them where a time was given. */
  readonly backlog: number;
  readonly json: boolean;
  /** Show all arguments. */
  readonly allArgs: boolean;
  readonly io: Io;
  readonly signal: AbortSignal;
}

export class Screen {
  readonly signal: AbortSignal;
  readonly #io: Io;
  readonly #fold: CallFold;
  readonly #format: (folded: Folded) => readonly string[];
  readonly #fits: (folded: Folded) => boolean;
  #past: Backlog | undefined;
  #isPast = true;
  #hasShown = false;

  constructor({ filter, backlog, json, allArgs, io, signal }: ScreenOptions) {
    this.signal = signal;
    this.#fold = new CallFold({ allArgs, fitsArgs: callArgsTest(filter) });
    this.#io = io;
    this.#fits = shownBy(filter);
    this.#past = filter.fromMs === undefined ? new Backlog(backlog) : undefined;
    // A terminal may change its size.
    const width = () => knownColumns(process.stdout) ?? io.out.columns;
    const format = lineFormatter({ width, colors: io.out.colors, nowMs: Date.now() });
    this.#format = json ? (folded) => [jsonLine(folded)] : format;
  }

  get isEnded(): boolean {
    return this.signal.aborted;
  }

  async show(event: Event): Promise<void> {
    await this.#put(this.#fold.push(event));
  }

  /** All that was there has been shown; from now on it is live. */
  async endPast(): Promise<void> {
    const kept = this.#past?.take() ?? [];
    this.#past = undefined;
    this.#isPast = false;
    await this.#write(kept);
  }

  /** A person who sees nothing may think that nothing works. */
  sayThatItWaits(): void {
    if (this.#hasShown || this.isEnded || !this.#io.err.isTerminal) return;
    this.warn('waiting for calls; Ctrl-C ends.');
  }

  /** Shows the calls that have not ended. */
  async rest(): Promise<void> {
    await this.#put(this.#fold.rest());
  }

  warn(message: string): void {
    warn(this.#io, message);
  }

  async #put(folded: readonly Folded[]): Promise<void> {
    const shown = folded.filter((one) => this.#fits(one) && !(this.#isPast && isHeadless(one)));
    if (this.#past === undefined) await this.#write(shown);
    else for (const one of shown) this.#past.add(one);
  }

  async #write(folded: readonly Folded[]): Promise<void> {
    for (const one of folded) {
      this.#hasShown = true;
      for (const line of this.#format(one)) this.#io.out.write(`${line}\n`);
      await drained(this.signal);
    }
  }
}

/** The end of a call that began before all that is looked at: it is none of the last ones. */
function isHeadless(folded: Folded): boolean {
  return folded.kind === 'call' && folded.started_at === null && folded.decided_at === null;
}

/** Waits for a slow reader: the rest stays in the ledger, not in memory. */
async function drained(signal: AbortSignal): Promise<void> {
  if (!process.stdout.writableNeedDrain || signal.aborted) return;
  await once(process.stdout, 'drain', { signal }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
  });
}

// The last calls of the past. Calls end in another order than they began, so all of them must be seen
// before the last ones are known.

/** Besides the calls; a run has two. */
const NOTICES_MAX = 1_000;

export class Backlog {
  readonly #callsMax: number;
  #kept: Folded[] = [];
  #calls = 0;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  add(folded: Folded): void {
    this.#kept.push(folded);
    if (folded.kind === 'call') this.#calls++;
    while (this.#calls > this.#callsMax) this.#drop();
    if (this.#kept.length > this.#callsMax + NOTICES_MAX) this.#drop();
  }

  /** Returns the kept entries, and forgets them. */
  take(): readonly Folded[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#calls = 0;
    return kept;
  }

  #drop(): void {
    if (this.#kept.shift()?.kind === 'call') this.#calls--;
  }
}

/** One JSON object in a line. The names of the subject stand beside the other fields of a call. */
export function jsonLine(folded: Folded): string {
  if (folded.kind !== 'call') return harmlessJson(JSON.stringify(folded));
  const { kind, run_id, agent_id, call_id, subject, fits_args: _shown, ...rest } = folded;
  const { kind: subjectKind, ...names } = subject;
  const flat = { kind, run_id, agent_id, call_id, subject: subjectKind, ...names, ...rest };
  return harmlessJson(JSON.stringify(flat));
}
