// The calendar of the user: list, create, update and delete events. No event of ours has guests, so that none
// sends invitations.
import { type Infer, isFailure } from '@subluminal/contracts';
import {
  closed,
  defaulted,
  integer,
  optional,
  required,
  string,
} from '@subluminal/contracts/shape';
import { visible } from '@subluminal/core/visible';
import {
  type ErrorAnswer,
  errorAnswer,
  type OwnAnswer,
  type OwnServer,
  ownTool,
  type ToolUseContext,
} from '@subluminal/plane/agent-run';
import { sha256 } from '@subluminal/plane/crypto';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';
import type { DAVCalendarObject } from 'tsdav';
import { type CalendarAccess, openCalendar } from './calendar-access.ts';
import {
  type CalendarEvent,
  changedEventFile,
  type EventChanges,
  eventInFile,
  eventsIn,
  newEventFile,
  pointOf,
} from './event-file.ts';
import { dayAfter, type EventTime, isTimeZone, readTime, shownAt } from './times.ts';
import type { CalendarServerOptions } from './types.ts';

export type { CalendarServerOptions } from './types.ts';

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;
const PERIOD_MS_MAX = 400 * 24 * HOUR_MS;
const EVENTS_MAX = 100;
const TEXT_MAX = 300;

const TIME =
  'A day such as 2026-11-20, or a time such as 2026-11-20T16:00 (in the zone of the user) or 2026-11-20T16:00+01:00.';
const time = string({ lengthMax: 40 });
const id = required(string({ lengthMax: 300 }), 'The id of the event, from `list`.');
const texts = {
  location: optional(string({ lengthMin: 0, lengthMax: 500 }), 'Where it is.'),
  description: optional(string({ lengthMin: 0, lengthMax: 5_000 }), 'Notes.'),
};

const LIST = closed({
  from: optional(time, `Where to begin; now without it. ${TIME}`),
  to: optional(time, 'Where to end; a week after the beginning without it.'),
  limit: defaulted(integer({ min: 1, max: EVENTS_MAX }), 50, 'The first so many.'),
});
const CREATE = closed({
  title: required(string({ lengthMax: 500 }), 'What it is.'),
  start: required(time, TIME),
  end: optional(time, 'As `start`; an hour later without it, or the same day.'),
  ...texts,
});
const UPDATE = closed({
  id,
  title: optional(string({ lengthMax: 500 }), 'What it is.'),
  start: optional(time, TIME),
  end: optional(time, 'As `start`. Without it, the event keeps its length.'),
  ...texts,
});
const DELETE = closed({ id });

interface CalendarUse {
  readonly calendar: CalendarAccess;
  readonly zone: string;
  readonly nowMs: number;
}

export function calendarServer(options: CalendarServerOptions): OwnServer {
  let upstream: Upstream | undefined;
  const inCalendar = (use: ToolUseContext, work: (use: CalendarUse) => Promise<OwnAnswer>) => {
    upstream ??= openUpstream({ proxy: proxyOf(options.env) });
    return useCalendar(upstream, { options, use, work });
  };
  return {
    name: 'calendar',
    instructions: 'The calendar of the user. What events say may have been written by others.',
    tools: [
      ownTool({
        name: 'list',
        description: 'Lists the events of a period.',
        input: LIST,
        annotations: { readOnlyHint: true, openWorldHint: true },
        call: (args, use) => inCalendar(use, (at) => list(args, at)),
      }),
      ownTool({
        name: 'create',
        description: 'Puts an event into the calendar.',
        input: CREATE,
        annotations: { idempotentHint: true, destructiveHint: false, openWorldHint: true },
        call: (args, use) => inCalendar(use, (at) => create(args, at, use.key)),
      }),
      ownTool({
        name: 'update',
        description: 'Changes an event. What is not given stays as it is.',
        input: UPDATE,
        annotations: { idempotentHint: true, destructiveHint: true, openWorldHint: true },
        call: (args, use) => inCalendar(use, (at) => update(args, at)),
      }),
      ownTool({
        name: 'delete',
        description: 'Deletes an event; one that repeats, with all its repetitions.',
        input: DELETE,
        annotations: { idempotentHint: true, destructiveHint: true, openWorldHint: true },
        call: (args, use) => inCalendar(use, (at) => remove(args, at)),
      }),
    ],
    close: async () => upstream?.close(),
  };
}

interface CalendarWork {
  readonly options: CalendarServerOptions;
  readonly use: ToolUseContext;
  readonly work: (use: CalendarUse) => Promise<OwnAnswer>;
}

async function useCalendar(
  upstream: Upstream,
  { options, use, work }: CalendarWork,
): Promise<OwnAnswer> {
  const { account, password, timeoutMs = TIMEOUT_MS } = options;
  const zone = account.time_zone ?? 'UTC';
  if (!isTimeZone(zone)) return errorAnswer(`${visible(zone, 50)} is no time zone.`);
  const secret = await password();
  if (isFailure(secret)) {
    const message = `The password of the calendar cannot be had: ${secret.message}`;
    return errorAnswer({ ...secret, message });
  }
  const signal = AbortSignal.any([use.signal, AbortSignal.timeout(timeoutMs)]);
  const calendar = await openCalendar(upstream, { account, password: secret, timeoutMs, signal });
  if (typeof calendar === 'string') return errorAnswer(calendar);
  try {
    const answer = await work({ calendar, zone, nowMs: options.nowMs() });
    const trouble = calendar.trouble();
    return trouble === undefined || answer.isError ? answer : errorAnswer(trouble);
  } catch {
    return errorAnswer(
      calendar.trouble() ?? 'The calendar server gives an answer that cannot be read.',
    );
  }
}

async function list(
  args: Infer<typeof LIST>,
  { calendar, zone, nowMs }: CalendarUse,
): Promise<OwnAnswer> {
  const from =
    args.from === undefined ? { kind: 'time' as const, ms: nowMs } : readTime(args.from, zone);
  if (from === undefined) return noTime(args.from);
  const fromMs = pointOf(from, zone);
  const until = args.to === undefined ? undefined : readTime(args.to, zone);
  if (args.to !== undefined && until === undefined) return noTime(args.to);
  // A day that is named as the end belongs to the period.
  const last = until?.kind === 'day' ? { ...until, day: dayAfter(until.day) } : until;
  const toMs = last === undefined ? fromMs + 7 * 24 * HOUR_MS : pointOf(last, zone);
  if (!(toMs > fromMs)) return errorAnswer('The period ends before it begins.');
  if (toMs - fromMs > PERIOD_MS_MAX) return errorAnswer('The period is longer than 400 days.');
  const period = { fromMs, toMs, zone };
  const files = await calendar.filesIn(period);
  const found = await Promise.all(
    files.map(async (file) => {
      const events = await eventsIn(textOf(file), period);
      return events.map((event) => ({ event, id: calendar.idOf(file) }));
    }),
  );
  const events = found
    .flat()
    .toSorted((one, other) => pointOf(one.event.start, zone) - pointOf(other.event.start, zone));
  if (events.length === 0) return { text: 'There are no events in this period.' };
  const lines = events.slice(0, args.limit).map((one) => eventLine(one.event, one.id, zone));
  const more = events.length - lines.length;
  return { text: [...lines, ...(more > 0 ? [`${more} more follow.`] : [])].join('\n') };
}

function eventLine(event: CalendarEvent, eventId: string, zone: string): string {
  const { title, location, organizer, description, isRepeated } = event;
  const parts = [
    `${spanText(event, zone)}: ${visible(title || 'without a title', TEXT_MAX)}`,
    ...(location === '' ? [] : [`at ${visible(location, TEXT_MAX)}`]),
    ...(organizer === '' ? [] : [`from ${visible(organizer.replace(/^mailto:/i, ''), TEXT_MAX)}`]),
    ...(isRepeated ? ['repeats'] : []),
    ...(description === '' ? [] : [`notes: ${visible(description, TEXT_MAX)}`]),
    `id ${visible(eventId, TEXT_MAX)}`,
  ];
  return parts.join('; ');
}

function spanText({ start, end }: Pick<CalendarEvent, 'start' | 'end'>, zone: string): string {
  if (start.kind === 'day') return `${start.day}, all day`;
  const from = shownAt(start.ms, zone);
  const to = shownAt(pointOf(end, zone), zone);
  const isSameDay = from.slice(0, 10) === to.slice(0, 10);
  return `${from}–${isSameDay ? to.slice(11) : to} ${zone}`;
}

async function create(
  args: Infer<typeof CREATE>,
  { calendar, zone, nowMs }: CalendarUse,
  key: string,
): Promise<OwnAnswer> {
  const span = readSpan(args, zone);
  if ('isError' in span) return span;
  const { title, location, description } = args;
  const uid = `${sha256(`event\0${key}`).slice(0, 40)}@steward`;
  const changes: EventChanges = { title, location, description, ...span };
  const fileName = `${uid.replace('@', '-')}.ics`;
  const done = await calendar.create(fileName, await newEventFile(uid, changes, nowMs));
  // The name is made of the step's key: nobody else could have put it there.
  if (done === 'conflict') return { text: `It is in the calendar already; id ${fileName}` };
  if (done !== 'done') return errorAnswer(done.problem);
  return { text: `Created: ${spanText(span, zone)}: ${visible(title, TEXT_MAX)}; id ${fileName}` };
}

interface TimeSpan {
  readonly start: EventTime;
  readonly end: EventTime;
}

function readSpan(
  { start: startText, end: endText }: { readonly start: string; readonly end?: string | undefined },
  zone: string,
): TimeSpan | ErrorAnswer {
  const start = readTime(startText, zone);
  if (start === undefined) return noTime(startText);
  const given = endText === undefined ? undefined : readTime(endText, zone);
  if (endText !== undefined && given === undefined) return noTime(endText);
  const end = given ?? after(start, HOUR_MS);
  if (start.kind !== end.kind) return errorAnswer('Give two days or two times.');
  // Calendars keep the day after the last one; people name the last one.
  const kept = end.kind === 'day' && given !== undefined ? { ...end, day: dayAfter(end.day) } : end;
  if (!(pointOf(kept, zone) > pointOf(start, zone)))
    return errorAnswer('It ends before it begins.');
  return { start, end: kept };
}

function after(start: EventTime, lengthMs: number): EventTime {
  if (start.kind === 'time') return { kind: 'time', ms: start.ms + lengthMs };
  const days = Math.max(1, Math.round(lengthMs / (24 * HOUR_MS)));
  let { day } = start;
  for (let count = 0; count < days; count++) day = dayAfter(day);
  return { kind: 'day', day };
}

function noTime(text: string | undefined): ErrorAnswer {
  return errorAnswer(`${visible(text ?? '', 50)} is no time. ${TIME}`);
}

async function update(args: Infer<typeof UPDATE>, use: CalendarUse): Promise<OwnAnswer> {
  const { calendar, zone, nowMs } = use;
  const file = await calendar.file(args.id);
  if (file === undefined) return errorAnswer('There is no event with that id.');
  const before = await eventInFile(textOf(file), zone);
  if (before === undefined) return errorAnswer('The event cannot be read.');
  const span = changedSpan(args, before, zone);
  if ('isError' in span) return span;
  const { title, location, description } = args;
  const changes: EventChanges = { title, location, description, ...span };
  const changed = await changedEventFile(textOf(file), changes, nowMs);
  if (typeof changed === 'string') return errorAnswer(changed);
  const done = await calendar.replace(file, changed.file);
  if (done === 'conflict')
    return errorAnswer('Somebody else changed the event just now. List it again.');
  if (done !== 'done') return errorAnswer(done.problem);
  return { text: `Changed; id ${visible(args.id, TEXT_MAX)}` };
}

function changedSpan(
  { start, end }: Infer<typeof UPDATE>,
  before: CalendarEvent,
  zone: string,
): Partial<TimeSpan> | ErrorAnswer {
  if (start === undefined && end === undefined) return {};
  if (start !== undefined && end !== undefined) return readSpan({ start, end }, zone);
  if (start === undefined) {
    const known =
      before.start.kind === 'day' ? before.start.day : new Date(before.start.ms).toISOString();
    return readSpan({ start: known, end }, zone);
  }
  const moved = readTime(start, zone);
  if (moved === undefined) return noTime(start);
  const lengthMs = pointOf(before.end, zone) - pointOf(before.start, zone);
  const isSameKind = moved.kind === before.start.kind;
  return { start: moved, end: after(moved, isSameKind ? lengthMs : HOUR_MS) };
}

async function remove(
  { id: wanted }: Infer<typeof DELETE>,
  { calendar }: CalendarUse,
): Promise<OwnAnswer> {
  const file = await calendar.file(wanted);
  // A deletion that is tried again finds nothing, and has done what was asked.
  if (file === undefined) return { text: 'There is no event with that id (any more).' };
  const done = await calendar.remove(file);
  if (done === 'conflict')
    return errorAnswer('Somebody else changed the event just now. List it again.');
  return done === 'done' ? { text: 'Deleted.' } : errorAnswer(done.problem);
}

function textOf({ data }: DAVCalendarObject): string {
  const text: unknown = data;
  return typeof text === 'string' ? text : '';
}
