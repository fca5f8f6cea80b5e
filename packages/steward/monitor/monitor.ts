// Watches what Steward does, as it is recorded, and tells the user what is odd: once for each cause and hour, so often
// in a day at most. The rest is kept in the journal, for `sub steward status`.
import { type GuardrailsFile, parseEventLine } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import { isListed, recipientsOf } from '../egress/index.ts';
import type { Journal } from '../journal/index.ts';
import { type Anomaly, judgeEvent, newMonitorState } from './judge-events.ts';
import { judgeTargets } from './judge-targets.ts';

export interface MonitorParts {
  readonly journal: Journal;
  readonly guardrails: () => Pick<GuardrailsFile, 'monitor' | 'day' | 'egress'>;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MICROS = 1_000_000;
export const BUDGET_SHARE = 0.8;
const KNOWN = 'monitor.known';
const LOOKED_MAX = 10_000;
const LAST_ALERT =
  ' Further alerts of this day are only recorded: `sub steward status` shows them.';

export class Monitor {
  readonly #parts: MonitorParts;
  readonly #state = newMonitorState();
  /** Steps whose targets are known already, by their keys. */
  readonly #looked = new Set<string>();

  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  /** A line of the record. Never throws: what watches must not stop what it watches. */
  take(line: string): void {
    try {
      const parsed = parseEventLine(line);
      if (!parsed.ok) return;
      const { event } = parsed;
      const { guardrails, nowMs } = this.#parts;
      const { monitor: settings } = guardrails();
      const odd = judgeEvent(this.#state, event, { settings, nowMs: nowMs() });
      const more =
        event.type === 'tool_call_end'
          ? this.#newTargets()
          : event.type === 'turn_end'
            ? this.#budget()
            : [];
      for (const thing of [...odd, ...more]) this.#alert(thing);
    } catch (cause) {
      this.#parts.log(`The monitor failed: ${String(cause)}`);
    }
  }

  #newTargets(): readonly Anomaly[] {
    const { journal, guardrails, nowMs } = this.#parts;
    const { monitor, egress } = guardrails();
    // A step is dated by its proposal, and a person may take some minutes.
    const steps = journal.history
      .forwardedSince(nowMs() - HOUR_MS)
      .filter(({ key }) => !this.#looked.has(key))
      .toReversed();
    if (this.#looked.size > LOOKED_MAX) this.#looked.clear();
    for (const { key } of steps) this.#looked.add(key);
    const reached = steps
      .flatMap((step) => recipientsOf(step))
      .filter(({ kind, value }) => kind !== 'host' || !isListed(egress.hosts, value));
    const before = knownIn(journal.value(KNOWN));
    const { odd, known } = judgeTargets(before, reached, monitor);
    if (known.length !== before.length || known.at(-1) !== before.at(-1)) {
      journal.setValue(KNOWN, JSON.stringify(known));
    }
    return odd;
  }

  #budget(): readonly Anomaly[] {
    const { journal, guardrails, nowMs } = this.#parts;
    const dayMicros = guardrails().day.usd * MICROS;
    const spent = journal.spendingOn(nowMs()).reduce((sum, { costMicros }) => sum + costMicros, 0);
    if (spent < dayMicros * BUDGET_SHARE || dayMicros === 0) return [];
    const percent = Math.floor((spent / dayMicros) * 100);
    const day = new Date(nowMs()).toISOString().slice(0, 10);
    return [{ cause: `budget:${day}`, text: `${percent} % of the money of this day is spent.` }];
  }

  #alert({ cause, text }: Anomaly): void {
    const { journal, guardrails, nowMs } = this.#parts;
    const windowMs = cause.startsWith('budget:') ? DAY_MS : HOUR_MS;
    if (journal.alerts.countAgain(cause, nowMs() - windowMs)) return;
    const max = guardrails().monitor.alerts_per_day;
    const told = journal.alerts.toldSince(nowMs() - DAY_MS);
    const main = told < max ? journal.lastConversation() : undefined;
    const note = `Alert: ${text}${told === max - 1 ? LAST_ALERT : ''}`;
    const tell = main && { conversationId: main.id, text: note };
    journal.alerts.add({ cause, text, tell });
  }
}

function knownIn(text: string | undefined): readonly string[] {
  const value: unknown = text === undefined ? [] : parseJson(text);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
