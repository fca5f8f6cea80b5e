// Work that nobody asked for just now: the heartbeat, what a schedule says, and pruning the journal. The
// first two are conversations of their own on the channel `schedule`, by the models and the money of background work.
import type { GuardrailsFile } from '@subluminal/contracts';
import { readDuration } from '@subluminal/core/quantities';
import { isMoment, type Journal, type JournalSchedule, patternTimes } from '../journal/index.ts';
import type { Conversations } from '../loop/index.ts';

interface BackgroundParts {
  readonly journal: Journal;
  readonly conversations: Conversations;
  readonly guardrails: () => Pick<GuardrailsFile, 'heartbeat' | 'journal_days'>;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

const HEARTBEAT = { channel: 'schedule', person: 'heartbeat', address: '' };
const HEARTBEAT_PROMPT =
  'This is your heartbeat. Look whether something needs the attention of the user now, such as new mail or an event that begins soon. If nothing does, answer with the one word NOTHING.';
const LOOK_EVERY_MS = 15_000;
const HEARTBEAT_MS_MIN = 60_000;
const DAY_MS = 86_400_000;
const LAST_BEAT = 'heartbeat.last';
const LAST_PRUNE = 'journal.pruned';

export interface BackgroundWork {
  /** Looks what is due. */
  look(): void;
  stop(): void;
}

export function startBackgroundWork(parts: BackgroundParts): BackgroundWork {
  const look = () => {
    try {
      prune(parts);
      beat(parts);
      for (const schedule of parts.journal.schedules()) runIfDue(parts, schedule);
    } catch (cause) {
      parts.log(`Background work failed: ${String(cause)}`);
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  prune(parts);
  return { look, stop: () => clearInterval(timer) };
}

/** A part at each look until nothing is that old; then again after a day. */
function prune({ journal, guardrails, nowMs }: BackgroundParts): void {
  if (nowMs() - Number(journal.value(LAST_PRUNE) ?? 0) < DAY_MS) return;
  const gone = journal.texts.prune(nowMs() - guardrails().journal_days * DAY_MS);
  if (gone === 0) journal.setValue(LAST_PRUNE, String(nowMs()));
}

function beat({ journal, conversations, guardrails, nowMs }: BackgroundParts): void {
  const { enabled, every, prompt } = guardrails().heartbeat;
  if (!enabled) return;
  const everyMs = Math.max(readDuration(every) ?? HEARTBEAT_MS_MIN, HEARTBEAT_MS_MIN);
  const last = Number(journal.value(LAST_BEAT) ?? 0);
  if (nowMs() - last < everyMs) return;
  // Written first: a crash skips a beat rather than repeating one.
  journal.setValue(LAST_BEAT, String(nowMs()));
  const text = prompt ?? HEARTBEAT_PROMPT;
  conversations.receive({ ...HEARTBEAT, text, purpose: 'background', askedBy: 'user' });
}

function runIfDue(parts: BackgroundParts, schedule: JournalSchedule): void {
  const { journal, conversations, nowMs } = parts;
  const dueMs = nextAfter(schedule);
  if (dueMs === undefined || dueMs > nowMs()) return;
  journal.setScheduleRun(schedule.id, nowMs());
  if (isMoment(schedule.when)) journal.removeSchedule(schedule.id);
  const { id, request, askedBy, conversationId } = schedule;
  const asker = { channel: 'schedule', person: id, address: conversationId ?? '' };
  conversations.receive({ ...asker, text: request, purpose: 'background', askedBy });
}

/** When it is due after it ran last; undefined when never again. */
function nextAfter({ when, lastAtMs }: JournalSchedule): number | undefined {
  if (isMoment(when)) return Date.parse(when);
  return patternTimes(when, new Date(lastAtMs), 1)?.[0]?.getTime();
}
