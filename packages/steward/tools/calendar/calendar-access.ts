// The one calendar that is configured, found by its account and spoken to by tsdav.
import { visible } from '@subluminal/core/visible';
import { isLoopbackHost } from '@subluminal/plane/os';
import type { Upstream } from '@subluminal/plane/upstream';
import type { DAVCalendar, DAVCalendarObject } from 'tsdav';
import { type DavFetch, davFetch } from './dav-fetch.ts';
import type { CalendarAccount } from './types.ts';

export interface CalendarAccess {
  filesIn(period: {
    readonly fromMs: number;
    readonly toMs: number;
  }): Promise<readonly DAVCalendarObject[]>;
  file(id: string): Promise<DAVCalendarObject | undefined>;
  /** The name of the file in its calendar. */
  idOf(file: DAVCalendarObject): string;
  /** Unless there is one of that name. */
  create(fileName: string, text: string): Promise<WriteOutcome>;
  /** Only if it is still what it was. */
  replace(file: DAVCalendarObject, text: string): Promise<WriteOutcome>;
  remove(file: DAVCalendarObject): Promise<WriteOutcome>;
  trouble(): string | undefined;
}

/** In conflict: it is there already, or is not any more what it was. */
export type WriteOutcome = 'done' | 'conflict' | { readonly problem: string };

interface CalendarLogin {
  readonly account: CalendarAccount;
  readonly password: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Dots alone would be the calendar itself, or all calendars. */
const FILE_NAME = /^(?!\.{1,2}$)[^/\\]+$/;

/** A text says why not. */
export async function openCalendar(
  upstream: Upstream,
  login: CalendarLogin,
): Promise<CalendarAccess | string> {
  const { account, password, timeoutMs, signal } = login;
  const { url, user } = account;
  if (!URL.canParse(url)) return 'The address of the calendar is no URL.';
  const { protocol, hostname } = new URL(url);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
  if (!isSafe) return 'The calendar may only be reached by https.';
  const dav = davFetch(upstream, { url, user, password, timeoutMs, signal });
  const found = await findCalendar(account, dav);
  return typeof found === 'string' ? found : accessTo(found, dav);
}

async function findCalendar(
  { url, calendar: wanted }: CalendarAccount,
  dav: DavFetch,
): Promise<DAVCalendar | string> {
  const { createAccount, fetchCalendars } = await import('tsdav');
  const { fetch } = dav;
  try {
    const account = await createAccount({
      account: { serverUrl: url, accountType: 'caldav' },
      fetch,
    });
    const all = await fetchCalendars({ account, fetch });
    const events = all.filter(
      ({ components }) =>
        components === undefined || components.length === 0 || components.includes('VEVENT'),
    );
    const found =
      wanted === undefined ? events[0] : events.find(({ displayName }) => displayName === wanted);
    if (found !== undefined) return found;
    return wanted === undefined
      ? 'The account has no calendar.'
      : `The account has no calendar ${visible(wanted, 100)}.`;
  } catch {
    return dav.trouble() ?? 'There is no calendar at the address that is configured.';
  }
}

function accessTo(calendar: DAVCalendar, dav: DavFetch): CalendarAccess {
  const { fetch } = dav;
  const base = calendar.url.endsWith('/') ? calendar.url : `${calendar.url}/`;
  const load = () => import('tsdav');
  return {
    trouble: () => dav.trouble(),
    idOf: ({ url }) => (url.startsWith(base) ? decodeURIComponent(url.slice(base.length)) : url),
    filesIn: async ({ fromMs, toMs }) => {
      const { fetchCalendarObjects } = await load();
      const timeRange = {
        start: new Date(fromMs).toISOString(),
        end: new Date(toMs).toISOString(),
      };
      return fetchCalendarObjects({ calendar, timeRange, urlFilter: () => true, fetch });
    },
    file: async (id) => {
      if (!FILE_NAME.test(id)) return undefined;
      const url = base + encodeURIComponent(id);
      const answer = await fetch(url);
      const etag = answer.headers.get('etag');
      // Without a tag nobody could tell whether it was changed meanwhile.
      if (!answer.ok || etag === null) return undefined;
      return { url, etag, data: await answer.text() };
    },
    create: async (filename, iCalString) => {
      const { createCalendarObject } = await load();
      const { status, ok } = await createCalendarObject({ calendar, iCalString, filename, fetch });
      return outcomeOf(status, ok);
    },
    replace: async (file, data) => {
      const { updateCalendarObject } = await load();
      const { status, ok } = await updateCalendarObject({
        calendarObject: { ...file, data },
        fetch,
      });
      return outcomeOf(status, ok);
    },
    remove: async (calendarObject) => {
      const { deleteCalendarObject } = await load();
      const { status, ok } = await deleteCalendarObject({ calendarObject, fetch });
      return outcomeOf(status, ok || status === 404);
    },
  };
}

function outcomeOf(status: number, isDone: boolean): WriteOutcome {
  if (status === 412) return 'conflict';
  return isDone ? 'done' : { problem: `The calendar server refuses it with status ${status}.` };
}
