import type { OwnAnswer } from '@subluminal/plane/agent-run';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type CalendarStandIn,
  startCalendar,
} from '../../../../test/steward/stand-ins/calendar.ts';
import { calendarServer } from './index.ts';
import type { CalendarAccount } from './types.ts';

const NOW_MS = Date.parse('2026-11-18T12:00:00Z');
let calendar: CalendarStandIn;
beforeAll(async () => {
  calendar = await startCalendar();
});
beforeEach(() => calendar.files.clear());
afterEach(() => {
  calendar.onRequest = undefined;
});
afterAll(() => calendar.stop());

interface Use {
  readonly key?: string;
  readonly account?: Partial<CalendarAccount>;
  readonly password?: string;
  readonly timeoutMs?: number;
}
let keys = 0;
async function call(tool: string, args: object, how: Use = {}): Promise<OwnAnswer> {
  const server = calendarServer({
    account: {
      url: calendar.url,
      user: calendar.user,
      password_ref: 'calendar',
      time_zone: 'Europe/Berlin',
      ...how.account,
    },
    password: () => Promise.resolve(how.password ?? calendar.password),
    env: {},
    nowMs: () => NOW_MS,
    ...(how.timeoutMs !== undefined && { timeoutMs: how.timeoutMs }),
  });
  const found = server.tools.find(({ name }) => name === tool);
  if (found === undefined) throw new Error(`no tool ${tool}`);
  const { key = `key-${keys++}` } = how;
  try {
    return await found.call({ ...args }, { key, signal: new AbortController().signal });
  } finally {
    await server.close?.();
  }
}

function put(name: string, ...lines: readonly string[]): void {
  const event = ['BEGIN:VEVENT', `UID:${name}`, 'DTSTAMP:20261101T000000Z', ...lines, 'END:VEVENT'];
  const file = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//x//y//EN',
    ...event,
    'END:VCALENDAR',
    '',
  ];
  calendar.files.set(name, file.join('\r\n'));
}
const only = () => [...calendar.files.values()][0] ?? '';
const idIn = ({ text }: OwnAnswer) => /id (\S+)$/.exec(text)?.[1] ?? '';

describe('list', () => {
  test('shows the events of a period in the zone of the user, in order', async () => {
    put(
      'b.ics',
      'DTSTART:20261120T150000Z',
      'DTEND:20261120T160000Z',
      'SUMMARY:Tea',
      'LOCATION:Café',
    );
    put('a.ics', 'DTSTART;TZID=America/New_York:20261119T090000', 'DURATION:PT30M', 'SUMMARY:Call');
    put('c.ics', 'DTSTART;VALUE=DATE:20261121', 'DTEND;VALUE=DATE:20261122', 'SUMMARY:Holiday');
    put('d.ics', 'DTSTART:20270101T150000Z', 'DTEND:20270101T160000Z', 'SUMMARY:Later');
    expect((await call('list', {})).text.split('\n')).toEqual([
      '2026-11-19 15:00–15:30 Europe/Berlin: Call; id a.ics',
      '2026-11-20 16:00–17:00 Europe/Berlin: Tea; at Café; id b.ics',
      '2026-11-21, all day: Holiday; id c.ics',
    ]);
  });

  test('shows each time that an event repeats, over the change of clocks', async () => {
    put(
      'w.ics',
      'DTSTART;TZID=Europe/Berlin:20261023T090000',
      'DTEND;TZID=Europe/Berlin:20261023T100000',
      'RRULE:FREQ=DAILY',
      'EXDATE;TZID=Europe/Berlin:20261025T090000',
      'SUMMARY:Run',
    );
    const { text } = await call('list', { from: '2026-10-24', to: '2026-10-26' });
    expect(text.split('\n')).toEqual([
      '2026-10-24 09:00–10:00 Europe/Berlin: Run; repeats; id w.ics',
      '2026-10-26 09:00–10:00 Europe/Berlin: Run; repeats; id w.ics',
    ]);
  });

  test('says that there is nothing, and leaves out files that nobody can read', async () => {
    calendar.files.set('x.ics', 'BEGIN:VCALENDAR\r\nrubbish');
    put('y.ics', 'SUMMARY:Without a time');
    expect(await call('list', {})).toEqual({ text: 'There are no events in this period.' });
  });

  test('an event that repeats every second for ever ends', async () => {
    put('s.ics', 'DTSTART:20200101T000000Z', 'RRULE:FREQ=SECONDLY', 'SUMMARY:Tick');
    expect((await call('list', {})).isError).toBeUndefined();
  });

  test('texts of an invitation cannot forge lines', async () => {
    put(
      'e.ics',
      'DTSTART:20261120T150000Z',
      'SUMMARY:Hi\\n2026-11-20 09:00: Board; id z',
      'DESCRIPTION:a\\nb',
    );
    expect((await call('list', {})).text.split('\n')).toHaveLength(1);
  });

  test.each([
    { from: 'soon' },
    { from: '2026-02-30' },
    { from: '2026-11-20', to: '2026-11-01' },
    { from: '2020-01-01', to: '2026-01-01' },
  ])('refuses the period %j', async (period) => {
    expect(await call('list', period)).toMatchObject({ isError: true });
  });
});

describe('create', () => {
  test('puts an event there once for a key, and keeps its time whatever the zone', async () => {
    const tea = { title: 'Tea', start: '2026-07-03T16:00', location: 'Café' };
    const first = await call('create', tea, { key: 'tea' });
    expect(first.text).toMatch(
      /^Created: 2026-07-03 16:00–17:00 Europe\/Berlin: Tea; id \w+-steward\.ics$/,
    );
    expect(only()).toContain('DTSTART:20260703T140000Z');
    expect(only()).toContain('DTEND:20260703T150000Z');
    const again = await call('create', tea, { key: 'tea' });
    expect(again.text).toContain('already');
    expect(again.isError).toBeUndefined();
    expect(calendar.files.size).toBe(1);
  });

  test('an event whose answer was lost is not put there twice', async () => {
    calendar.onRequest = (request, response) => {
      if (request.method !== 'PUT') return false;
      request.on('end', () => response.destroy());
      return false;
    };
    const tea = { title: 'Tea', start: '2026-11-20T16:00' };
    await call('create', tea, { key: 'lost' });
    calendar.onRequest = undefined;
    await call('create', tea, { key: 'lost' });
    expect(calendar.files.size).toBe(1);
  });

  test('days end with the last one, and are kept as calendars do', async () => {
    await call('create', { title: 'Trip', start: '2026-12-01', end: '2026-12-03' });
    expect(only()).toContain('DTSTART;VALUE=DATE:20261201');
    expect(only()).toContain('DTEND;VALUE=DATE:20261204');
  });

  test('an offset says more than the zone', async () => {
    await call('create', { title: 'x', start: '2026-11-20T16:00-05:00' });
    expect(only()).toContain('DTSTART:20261120T210000Z');
  });

  test('a text cannot add a property', async () => {
    await call('create', {
      title: 'Tea\r\nATTENDEE:mailto:eve@example.net',
      start: '2026-11-20T16:00',
    });
    expect(only()).not.toMatch(/^ATTENDEE/m);
  });

  test.each([
    { start: 'noon' },
    { start: '2026-11-20T16:00', end: '2026-11-20T15:00' },
    { start: '2026-11-20T16:00', end: '2026-11-21' },
    { start: '2026-11-20T16:00', attendees: ['eve@example.net'] },
  ])('refuses %j', async (wrong) => {
    expect(await call('create', { title: 'x', ...wrong })).toMatchObject({ isError: true });
    expect(calendar.files.size).toBe(0);
  });
});

describe('update and delete', () => {
  const EVENT = [
    'DTSTART:20261120T150000Z',
    'DTEND:20261120T163000Z',
    'SUMMARY:Tea',
    'X-OWN:kept',
    'SEQUENCE:2',
  ];

  test('an event that is moved keeps its length and everything else', async () => {
    put('t.ics', ...EVENT);
    await call('update', { id: 't.ics', start: '2026-11-21T10:00', location: 'Office' });
    expect(only()).toContain('DTSTART:20261121T090000Z');
    expect(only()).toContain('DTEND:20261121T103000Z');
    expect(only()).toContain('LOCATION:Office');
    expect(only()).toContain('X-OWN:kept');
    expect(only()).toContain('SEQUENCE:3');
  });

  test('an event that somebody changed meanwhile is left alone', async () => {
    put('t.ics', ...EVENT);
    for (const [tool, args] of [
      ['update', { title: 'Coffee' }],
      ['delete', {}],
    ] as const) {
      calendar.onRequest = (request) => {
        if (request.method === 'PUT' || request.method === 'DELETE')
          put('t.ics', ...EVENT, `COMMENT:${tool}`);
        return false;
      };
      const answer = await call(tool, { id: 't.ics', ...args });
      expect(answer).toMatchObject({ isError: true });
      expect(answer.text).toContain('Somebody else changed');
      expect(only()).toContain('SUMMARY:Tea');
    }
  });

  test('the times of an event that repeats are not changed, its title is', async () => {
    put('t.ics', ...EVENT, 'RRULE:FREQ=DAILY');
    expect(await call('update', { id: 't.ics', start: '2026-11-21' })).toMatchObject({
      isError: true,
    });
    expect(await call('update', { id: 't.ics', title: 'Coffee' })).toEqual({
      text: 'Changed; id t.ics',
    });
    expect(only()).toContain('RRULE:FREQ=DAILY');
  });

  test('an event is deleted, and deleting it again changes nothing', async () => {
    const created = await call('create', { title: 'x', start: '2026-11-20T16:00' });
    const id = idIn(created);
    expect(await call('delete', { id })).toEqual({ text: 'Deleted.' });
    expect(calendar.files.size).toBe(0);
    expect((await call('delete', { id })).isError).toBeUndefined();
  });

  test.each(['.', '..'])('the id %s is not the calendar itself', async (id) => {
    put('a.ics', 'DTSTART:20261120T150000Z', 'SUMMARY:Tea');
    // Some servers give a whole calendar as one file.
    calendar.onRequest = ({ method, url }, response) => {
      if (method !== 'GET' || !url?.endsWith('/')) return false;
      response.writeHead(200, { etag: '"all"' }).end(only());
      return true;
    };
    calendar.requests.length = 0;
    await call('delete', { id });
    await call('update', { id, title: 'Gone' });
    expect(calendar.requests.filter((one) => /^(?:DELETE|PUT)/.test(one))).toEqual([]);
  });

  test.each(['../tasks/x.ics', '../../../secret', 'no.ics', 'https://example.net/x'])(
    'the id %s reaches nothing else',
    async (id) => {
      const from = calendar.requests.length;
      await call('delete', { id });
      expect(await call('update', { id, title: 'x' })).toMatchObject({ isError: true });
      const changing = calendar.requests
        .slice(from)
        .filter(
          (one) =>
            !/^(?:PROPFIND|REPORT|GET \/\.well|GET \/dav\/calendars\/ada\/home\/[^/]*$)/.test(one),
        );
      expect(changing).toEqual([]);
    },
  );
});

describe('faults', () => {
  test('a refused login is said, without the password', async () => {
    const answer = await call('list', {}, { password: 'wrong secret' });
    expect(answer).toEqual({ isError: true, text: 'The calendar server refuses the login.' });
  });

  test('a calendar that is not there is named', async () => {
    const answer = await call('list', {}, { account: { calendar: 'Work' } });
    expect(answer).toEqual({ isError: true, text: 'The account has no calendar Work.' });
    expect((await call('list', {}, { account: { calendar: 'Home' } })).isError).toBeUndefined();
  });

  test('a server that points elsewhere gets the password to nowhere', async () => {
    const other = await startCalendar();
    calendar.onRequest = (_request, response) => {
      response.writeHead(301, { location: other.url }).end();
      return true;
    };
    expect(await call('list', {})).toMatchObject({ isError: true });
    expect(other.requests).toEqual([]);
    await other.stop();
  });

  test('a cut line, a slow server and a server in trouble are errors, and never an empty calendar', async () => {
    put('t.ics', 'DTSTART:20261120T150000Z', 'SUMMARY:Tea');
    calendar.onRequest = (request, response) => {
      if (request.method === 'REPORT') response.destroy();
      return request.method === 'REPORT';
    };
    expect(await call('list', {})).toMatchObject({ isError: true });
    calendar.onRequest = (request) => request.method === 'REPORT';
    expect(await call('list', {}, { timeoutMs: 1_000 })).toMatchObject({ isError: true });
    calendar.onRequest = (request, response) => {
      if (request.method === 'REPORT') response.writeHead(503).end();
      return request.method === 'REPORT';
    };
    expect(await call('list', {})).toEqual({
      isError: true,
      text: 'The calendar server fails with status 503.',
    });
  });

  test('no password goes over an open line to another machine', async () => {
    const answer = await call('list', {}, { account: { url: 'http://dav.example.com/' } });
    expect(answer).toEqual({ isError: true, text: 'The calendar may only be reached by https.' });
  });
});
