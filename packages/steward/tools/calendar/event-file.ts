// Events in the form that calendars keep them (iCalendar). Their texts were written by whoever sent the invitation.
import { isObject } from '@subluminal/contracts';
import type ICALModule from 'ical.js';
import { type EventTime, isTimeZone, zonedMs } from './times.ts';

type ICAL = typeof ICALModule;
type Component = InstanceType<ICAL['Component']>;
type Time = InstanceType<ICAL['Time']>;

export interface CalendarEvent {
  readonly title: string;
  readonly start: EventTime;
  readonly end: EventTime;
  readonly location: string;
  readonly description: string;
  readonly organizer: string;
  readonly isRepeated: boolean;
}

export interface EventChanges {
  readonly title?: string | undefined;
  readonly start?: EventTime | undefined;
  readonly end?: EventTime | undefined;
  readonly location?: string | undefined;
  readonly description?: string | undefined;
}

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
  /** The zone of times that name none. */
  readonly zone: string;
}

const FILE_CHARS_MAX = 1_000_000;
const OCCURRENCES_MAX = 200;
/** A daily event of ten years. */
const ITERATIONS_MAX = 4_000;
const PRODUCT = '-//Subluminal//Steward//EN';

async function load(): Promise<ICAL> {
  return (await import('ical.js')).default;
}

async function readCalendar(text: string): Promise<Component | undefined> {
  if (text.length > FILE_CHARS_MAX) return undefined;
  const ical = await load();
  try {
    const root = ical.Component.fromString(text);
    return root.name === 'vcalendar' ? root : undefined;
  } catch {
    return undefined;
  }
}

/** What of this file lies in the period, with each time that an event repeats. */
export async function eventsIn(text: string, period: Period): Promise<readonly CalendarEvent[]> {
  const root = await readCalendar(text);
  if (root === undefined) return [];
  const { Event } = await load();
  try {
    const parts = root.getAllSubcomponents('vevent');
    const first = parts.find((part) => !part.hasProperty('recurrence-id'));
    if (first === undefined) return [];
    const exceptions = parts.filter((part) => part.hasProperty('recurrence-id'));
    const event = new Event(first, { exceptions, strictExceptions: false });
    const zone = zoneOf(first) ?? period.zone;
    const found: CalendarEvent[] = [];
    if (!event.isRecurring()) {
      const one = read(event, { start: event.startDate, end: event.endDate, zone });
      return overlaps(one, period) ? [one] : [];
    }
    const iterator = event.iterator();
    for (let count = 0; count < ITERATIONS_MAX && found.length < OCCURRENCES_MAX; count++) {
      const next = iterator.next();
      // The types leave out how it ends.
      if (!next || pointOf(readIcalTime(next, zone), period.zone) > period.toMs) break;
      const details: unknown = event.getOccurrenceDetails(next);
      if (!isOccurrence(details)) break;
      const { item, startDate: start, endDate: end } = details;
      const one = read(item, { start, end, zone });
      if (overlaps(one, period)) found.push(one);
    }
    return found;
  } catch {
    // A file that cannot be read is no reason to show none of the others.
    return [];
  }
}

interface Occurrence {
  readonly item: InstanceType<ICAL['Event']>;
  readonly startDate: Time;
  readonly endDate: Time;
}

/** Its types do not say. */
function isOccurrence(value: unknown): value is Occurrence {
  return isObject(value) && 'item' in value && 'startDate' in value && 'endDate' in value;
}

interface IcalSpan {
  readonly start: Time;
  readonly end: Time;
  readonly zone: string;
}

function read(event: InstanceType<ICAL['Event']>, { start, end, zone }: IcalSpan): CalendarEvent {
  return {
    title: event.summary ?? '',
    start: readIcalTime(start, zone),
    end: readIcalTime(end ?? start, zone),
    location: event.location ?? '',
    description: event.description ?? '',
    organizer: event.organizer ?? '',
    isRepeated: event.isRecurring() || event.isRecurrenceException(),
  };
}

/** A zone that the file describes counts first, then the one that is given. */
function readIcalTime(time: Time, zone: string): EventTime {
  if (time.isDate) return { kind: 'day', day: time.toString() };
  const { tzid } = time.zone ?? {};
  const isFloating = tzid === undefined || tzid === 'floating';
  if (!isFloating) return { kind: 'time', ms: time.toJSDate().getTime() };
  const shown = Date.parse(`${time.toString().slice(0, 19)}Z`);
  return { kind: 'time', ms: zonedMs(shown, zone) ?? Number.NaN };
}

/** A zone that everybody knows and the file names without describing it. */
function zoneOf(event: Component): string | undefined {
  const tzid: unknown = event.getFirstProperty('dtstart')?.getFirstParameter('tzid');
  return typeof tzid === 'string' && isTimeZone(tzid) ? tzid : undefined;
}

function overlaps({ start, end }: CalendarEvent, { fromMs, toMs, zone }: Period): boolean {
  const [begins, ends] = [pointOf(start, zone), pointOf(end, zone)];
  return begins < toMs && (ends > fromMs || (begins === ends && begins >= fromMs));
}

export function pointOf(time: EventTime, zone: string): number {
  if (time.kind === 'time') return time.ms;
  return zonedMs(Date.parse(`${time.day}T00:00:00Z`), zone) ?? Number.NaN;
}

export async function newEventFile(
  uid: string,
  changes: EventChanges,
  nowMs: number,
): Promise<string> {
  const ical = await load();
  const root = new ical.Component('vcalendar');
  root.addPropertyWithValue('version', '2.0');
  root.addPropertyWithValue('prodid', PRODUCT);
  const event = new ical.Component('vevent');
  event.addPropertyWithValue('uid', uid);
  event.addPropertyWithValue('created', utcTime(ical, nowMs));
  root.addSubcomponent(event);
  apply(ical, event, { changes, nowMs });
  return root.toString();
}

/** The file with the changes and everything else as it was; a text says why not. */
export async function changedEventFile(
  text: string,
  changes: EventChanges,
  nowMs: number,
): Promise<{ readonly file: string } | string> {
  const root = await readCalendar(text);
  const events = root?.getAllSubcomponents('vevent') ?? [];
  const [event] = events;
  if (root === undefined || event === undefined) return 'It cannot be read.';
  const isRepeated = events.length > 1 || event.hasProperty('rrule') || event.hasProperty('rdate');
  if (isRepeated && (changes.start !== undefined || changes.end !== undefined)) {
    return 'It repeats. Its times can only be changed by the user.';
  }
  const ical = await load();
  apply(ical, event, { changes, nowMs });
  const sequence = Number(event.getFirstPropertyValue('sequence') ?? 0);
  event.updatePropertyWithValue('sequence', Number.isInteger(sequence) ? sequence + 1 : 1);
  return { file: root.toString() };
}

interface EventChange {
  readonly changes: EventChanges;
  readonly nowMs: number;
}

function apply(ical: ICAL, event: Component, { changes, nowMs }: EventChange): void {
  const { title, start, end, location, description } = changes;
  const set = (name: string, value: string | Time | undefined): void => {
    if (value === undefined) return;
    event.removeAllProperties(name);
    if (value !== '') event.addPropertyWithValue(name, value);
  };
  set('summary', title);
  set('location', location);
  set('description', description);
  set('dtstart', start && icalTime(ical, start));
  if (end !== undefined) event.removeAllProperties('duration');
  set('dtend', end && icalTime(ical, end));
  set('dtstamp', utcTime(ical, nowMs));
  set('last-modified', utcTime(ical, nowMs));
}

function icalTime(ical: ICAL, time: EventTime): Time {
  return time.kind === 'day' ? ical.Time.fromDateString(time.day) : utcTime(ical, time.ms);
}

function utcTime({ Time: Kind }: ICAL, ms: number): Time {
  return Kind.fromJSDate(new Date(ms), true);
}

/** The times and the kind of an event that is to be changed. */
export async function eventInFile(text: string, zone: string): Promise<CalendarEvent | undefined> {
  const root = await readCalendar(text);
  const part = root?.getFirstSubcomponent('vevent');
  if (!part) return undefined;
  const { Event } = await load();
  try {
    const event = new Event(part);
    const own = zoneOf(part) ?? zone;
    return read(event, { start: event.startDate, end: event.endDate, zone: own });
  } catch {
    return undefined;
  }
}
