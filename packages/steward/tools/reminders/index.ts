// Reminders: what Steward is to do later, once or again and again. They are kept where its schedules are.
import { closed, defaulted, required, string } from '@subluminal/contracts/shape';
import { quote, visible } from '@subluminal/core/visible';
import { type OwnAnswer, type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { sha256 } from '@subluminal/plane/crypto';
import { isMoment, type Journal, type JournalSchedule, patternTimes } from '../../journal/index.ts';

/** What the journal does with schedules. */
export type ReminderStore = Pick<Journal, 'addSchedule' | 'schedules' | 'removeSchedule'>;

export interface RemindersServerOptions {
  readonly store: ReminderStore;
  readonly conversationId: string;
  readonly now: () => Date;
}

const REMINDERS_MAX = 100;
const REQUEST_LENGTH_MAX = 2_000;
const SHOWN_LENGTH_MAX = 200;
/** What comes more often than this is no reminder. */
const INTERVAL_MS_MIN = 3_600_000;
const LOOKED_AT = 24;

const CREATE = closed({
  when: required(
    string({ lengthMax: 100 }),
    'A moment with its zone, such as 2026-11-30T09:00:00+01:00, or a pattern of cron in UTC, such as 0 9 * * 1.',
  ),
  request: required(string({ lengthMax: REQUEST_LENGTH_MAX }), 'What is to be done or said then.'),
});
const CANCEL = closed({ id: required(string({ lengthMax: 64 }), 'The id, from `list`.') });

export function remindersServer(options: RemindersServerOptions): OwnServer {
  return {
    name: 'reminders',
    tools: [
      ownTool({
        name: 'create',
        description: 'Sets a reminder for this conversation.',
        input: CREATE,
        annotations: { idempotentHint: true, destructiveHint: false },
        call: (args, { key }) => Promise.resolve(create(options, args, key)),
      }),
      ownTool({
        name: 'list',
        description: 'Lists the reminders of this conversation.',
        input: closed({ search: defaulted(string({ lengthMin: 0 }), '', 'Part of the request.') }),
        annotations: { readOnlyHint: true },
        call: ({ search }) => Promise.resolve(list(options, search)),
      }),
      ownTool({
        name: 'cancel',
        description: 'Cancels a reminder of this conversation.',
        input: CANCEL,
        annotations: { idempotentHint: true, destructiveHint: true },
        call: ({ id }) => Promise.resolve(cancel(options, id)),
      }),
    ],
  };
}

/** Those of other conversations are none of this one's business. */
function own({ store, conversationId }: RemindersServerOptions): readonly JournalSchedule[] {
  return store.schedules().filter((one) => one.conversationId === conversationId);
}

function create(
  options: RemindersServerOptions,
  { when, request }: { readonly when: string; readonly request: string },
  key: string,
): OwnAnswer {
  const { store, conversationId, now } = options;
  // A step that is repeated after a crash sets no second one.
  const id = `reminder-${sha256(key).slice(0, 12)}`;
  const isThere = own(options).some((one) => one.id === id);
  const next = nextMoment(when, now());
  if (typeof next === 'string') return { text: next, isError: true };
  if (!isThere && own(options).length >= REMINDERS_MAX) {
    return { text: `There are ${REMINDERS_MAX} reminders already. Cancel one.`, isError: true };
  }
  // The words are the agent's, not the user's.
  if (!isThere) store.addSchedule({ id, when, request, askedBy: 'agent', conversationId });
  return { text: `${id} is set; it is due at ${next.toISOString()}.`, structured: { id } };
}

/** When it is due next; a text says why it never is. */
function nextMoment(when: string, now: Date): Date | string {
  if (isMoment(when)) {
    const moment = new Date(when);
    if (Number.isNaN(moment.getTime())) return `${quote(when)} is no moment.`;
    return moment > now ? moment : `${quote(when)} is over; it is ${now.toISOString()} now.`;
  }
  const times = patternTimes(when, now, LOOKED_AT);
  if (times === undefined) {
    return `${quote(when)} is neither a moment with its zone nor a pattern of cron.`;
  }
  const [first] = times;
  if (first === undefined) return `${quote(when)} never comes.`;
  const isOften = times.some((time, index) => {
    const before = times[index - 1];
    return before !== undefined && time.getTime() - before.getTime() < INTERVAL_MS_MIN;
  });
  return isOften ? `${quote(when)} comes more often than once an hour.` : first;
}

function list(options: RemindersServerOptions, search: string): OwnAnswer {
  const found = own(options).filter(({ request }) => {
    return request.toLowerCase().includes(search.toLowerCase());
  });
  const lines = found.map(({ id, when, request }) => {
    return `${id} ${when}: ${visible(request, SHOWN_LENGTH_MAX)}`;
  });
  return { text: lines.join('\n') || 'There are no reminders.' };
}

function cancel(options: RemindersServerOptions, id: string): OwnAnswer {
  const isOwn = own(options).some((one) => one.id === id);
  if (!isOwn || !options.store.removeSchedule(id)) {
    return { text: `There is no reminder ${quote(id)}.`, isError: true };
  }
  return { text: `${id} is cancelled.` };
}
