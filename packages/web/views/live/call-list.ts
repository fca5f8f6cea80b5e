// The calls of the list: asked for page by page, kept up to date by the signal, held back while somebody reads.
import type { ApiAnswerOf, ApiCallFilter } from '@subluminal/contracts';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ask } from '../../api/ledger.ts';
import { joinedSignals, type Signal, useLiveSignal } from '../../api/live-signal.ts';
import { rangeTimes, type ShownRange } from '../../search/ranges.ts';
import { callKey, type LiveCall, liveCall, mergeCalls } from './live-call.ts';

export interface CallQuestion {
  readonly search: ApiCallFilter;
  readonly range: ShownRange;
  /** Calls up to this moment; without it, also those that come. */
  readonly atMs: number | undefined;
}

/** The times are those of the moment when it is asked; those in the search count more than the range. */
function filterOf({ search, range, atMs }: CallQuestion): ApiCallFilter {
  const times = { ...rangeTimes(range, Date.now()), ...search };
  if (atMs === undefined) return times;
  return { ...times, to_ms: Math.min(atMs + 1, times.to_ms ?? Number.POSITIVE_INFINITY) };
}

export interface ShownCalls {
  readonly rows: readonly LiveCall[];
  /** How many new ones are held back. */
  readonly waiting: number;
  /** Whether the first answer has come. */
  readonly isLoaded: boolean;
  readonly cause: unknown;
  /** Whether more calls fit than the list keeps. */
  readonly isCut: boolean;
}

const ROWS_MAX = 100_000;
const PAGE = { first: 200, more: 1_000, top: 100 } as const;
/** A search in texts may give short pages: so many are asked for until there is something to see. */
const PAGES_MAX = 20;
const SHORT_ROWS = 50;
/** Calls further down that have changed are asked for one by one. */
const CHANGED_MAX = 20;

class CallList {
  #shown: ShownCalls = { rows: [], waiting: 0, isLoaded: false, cause: undefined, isCut: false };
  readonly #watchers = new Set<() => void>();
  #question: CallQuestion | undefined;
  #filter: ApiCallFilter = {};
  #asked: CallQuestion | undefined;
  #wanted: CallQuestion | undefined;
  #asking = new AbortController();
  #isAsking = false;
  #isAskingMore = false;
  #isRefreshing = false;
  #missed: Signal | undefined;
  #next: string | null = null;
  #isHeld = false;
  #held: readonly LiveCall[] = [];
  /** More is new than one page: releasing asks for everything again. */
  #hasGap = false;

  readonly watch = (watcher: () => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
  readonly shown = () => this.#shown;

  /** One question at a time; of those that come meanwhile, the last. */
  show(question: CallQuestion): void {
    const isOther = this.#asked?.search !== question.search || this.#asked.range !== question.range;
    this.#wanted = question;
    // A drag shows what comes; an answer to another search is of no use.
    if (isOther) this.#asking.abort();
    if (!this.#isAsking) void this.#askWanted();
  }

  readonly more = () => {
    const question = this.#question;
    if (this.#next === null || this.#isAskingMore || this.#isAsking || !question) return;
    this.#isAskingMore = true;
    void this.#askMore(question).finally(() => {
      this.#isAskingMore = false;
    });
  };

  /** While rows are held, the list stays as it is, but for what becomes of its calls. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.release();
  }

  readonly release = () => {
    const { rows } = this.#shown;
    if (this.#hasGap && this.#question) this.show(this.#question);
    else if (this.#held.length > 0) this.#say({ rows: mergeCalls(rows, this.#held), waiting: 0 });
    this.#held = [];
  };

  refresh(signal: Signal): void {
    if (this.#isAsking || this.#isRefreshing) {
      this.#missed = this.#missed === undefined ? signal : joinedSignals(this.#missed, signal);
      return;
    }
    if (this.#question === undefined || this.#question.atMs !== undefined) return;
    this.#isRefreshing = true;
    void this.#askTop(this.#question, signal)
      .catch(() => undefined)
      .finally(() => {
        this.#isRefreshing = false;
        this.#goOn();
      });
  }

  /** With what was recorded while something was asked for. */
  #goOn(): void {
    const missed = this.#missed;
    this.#missed = undefined;
    if (missed) this.refresh(missed);
  }

  async #askWanted(): Promise<void> {
    this.#isAsking = true;
    for (let question = this.#wanted; question !== undefined; question = this.#wanted) {
      this.#wanted = undefined;
      this.#asked = question;
      this.#asking = new AbortController();
      try {
        await this.#askFirst(question);
      } catch (cause) {
        if (!this.#asking.signal.aborted) this.#say({ cause, isLoaded: true });
      }
    }
    this.#isAsking = false;
    this.#goOn();
  }

  async #askFirst(question: CallQuestion): Promise<void> {
    const { signal } = this.#asking;
    const filter = filterOf(question);
    const query = { ...filter, limit: PAGE.first };
    const calls: LiveCall[] = [];
    let next: string | null = '';
    for (let tries = 0; next !== null && calls.length < SHORT_ROWS && tries < PAGES_MAX; tries++) {
      if (tries > 0 && this.#wanted !== undefined) return;
      const page: ApiAnswerOf<'calls'> = await ask(
        'calls',
        { query: { ...query, cursor: next } },
        signal,
      );
      calls.push(...page.rows.map((row) => liveCall(row)));
      ({ next } = page);
    }
    this.#filter = filter;
    this.#question = question;
    this.#next = next;
    this.#held = [];
    this.#hasGap = false;
    this.#say({ rows: calls, waiting: 0, isLoaded: true, cause: undefined, isCut: false });
  }

  async #askMore(question: CallQuestion): Promise<void> {
    const query = { ...this.#filter, limit: PAGE.more, cursor: this.#next ?? '' };
    const page = await ask('calls', { query }).catch(() => undefined);
    if (page === undefined || this.#question !== question) return;
    const all = [...this.#shown.rows, ...page.rows.map((row) => liveCall(row))];
    const isCut = all.length >= ROWS_MAX && page.next !== null;
    this.#next = isCut ? null : page.next;
    this.#say({ rows: isCut ? all.slice(0, ROWS_MAX) : all, isCut });
  }

  /** What is new at the top, and what has become of calls that are shown. */
  async #askTop(question: CallQuestion, { calls, isAll }: Signal): Promise<void> {
    const page = await ask('calls', { query: { ...this.#filter, limit: PAGE.top } });
    const known = new Map(this.#shown.rows.map((row) => [row.key, row]));
    const top = page.rows.map((row) => liveCall(row));
    const isTop = new Set(top.map(({ key }) => key));
    // Where it is not known which have changed, those that had not ended may have.
    const changing = isAll
      ? this.#shown.rows.filter(({ status }) => status === null)
      : calls.flatMap(({ runId, callId }) => known.get(callKey(runId, callId)) ?? []);
    const further = changing.filter(({ key }) => !isTop.has(key)).slice(0, CHANGED_MAX);
    const changed = await Promise.all(further.map(askOne));
    if (this.#question !== question) return;
    const added = top.filter(({ key }) => !known.has(key));
    const updated = [
      ...top.filter(({ key }) => known.has(key)),
      ...changed.filter((row) => row !== undefined),
    ];
    this.#take(added, updated);
  }

  #take(added: readonly LiveCall[], updated: readonly LiveCall[]): void {
    const byKey = new Map(updated.map((row) => [row.key, row]));
    const rows = this.#shown.rows.map((row) => changedRow(row, byKey.get(row.key)));
    const { length } = this.#shown.rows;
    if (added.length >= PAGE.top && length > 0) {
      this.#hasGap = true;
      if (!this.#isHeld && this.#question) return this.show(this.#question);
    }
    if (this.#isHeld) {
      this.#held = mergeCalls(this.#held, added).slice(0, ROWS_MAX);
      return this.#say({ rows, waiting: this.#held.length });
    }
    this.#say({ rows: mergeCalls(rows, added).slice(0, ROWS_MAX) });
  }

  #say(change: Partial<ShownCalls>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

/** A row that is as before stays the same object, so that it is not drawn again. */
function changedRow(row: LiveCall, next: LiveCall | undefined): LiveCall {
  const isSame =
    next === undefined ||
    (next.status === row.status && next.decision === row.decision && next.rule === row.rule);
  return isSame ? row : { ...next, argument: next.argument || row.argument };
}

async function askOne({ runId, callId, argument }: LiveCall): Promise<LiveCall | undefined> {
  const ids = { run_id: runId, call_id: callId };
  const found = await ask('call', { ids }).catch(() => undefined);
  return found && liveCall(found, argument);
}

/** `isHeld`: new calls wait, until it is over or `release` brings them. */
export function useCallList(question: CallQuestion, isHeld: boolean) {
  const [list] = useState(() => new CallList());
  useEffect(() => list.show(question), [list, question]);
  useEffect(() => list.hold(isHeld), [list, isHeld]);
  useLiveSignal((signal) => list.refresh(signal));
  const shown = useSyncExternalStore(list.watch, list.shown);
  return { ...shown, more: list.more, release: list.release };
}
