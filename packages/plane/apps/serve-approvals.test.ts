// Calls over HTTP that wait for a person: what becomes of them, and of their streams.
import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { openDesk } from '../stores/approvals/index.ts';
import {
  begin,
  call,
  eventsIn,
  messagesOf,
  modern,
  post,
  served,
  textOf,
} from './testing/served.ts';

const POLICY = `
policy_id: serve-approvals
version: "1"
mode: control
rules:
  - rule_id: ask
    kind: approval
    match: { tool_name: { glob: ["echo"] } }
    effect: { approval: { wait: hold } }
`;

/** A service that asks before each call of `echo`, and the person who is asked. */
async function asking() {
  const { url, paths, eventsOf } = await served({
    policy: POLICY,
    flags: { profile: 'production' },
  });
  const opened = openDesk({ home: paths.home, ports: { nowMs: Date.now, uuid: uuidv7 } });
  if (isFailure(opened)) throw new Error(opened.message);
  const listed = () => {
    const all = opened.queue.list();
    return isFailure(all) ? [] : all.found;
  };
  const pending = async (): Promise<string> => {
    await expect.poll(() => listed().map(({ state }) => state)).toEqual(['pending']);
    return listed()[0]?.request.id ?? '';
  };
  const decide = (id: string, state: 'approved' | 'rejected') =>
    opened.decide(id, { state, by: 'test', channel: 'cli' });
  return { url, eventsOf, pending, decide, states: () => listed().map(({ state }) => state) };
}

test('a call that waits for a person keeps its stream alive until it is approved', async () => {
  const { url, pending, decide } = await asking();
  const session = await begin(url());
  const response = await post(url(), call(1, 'echo', { message: 'approved' }), session);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  decide(await pending(), 'approved');
  const messages = await messagesOf(response);
  expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'approved' }] } });
}, 15_000);

test('a call that a person rejects is answered with an error, in both eras', async () => {
  const { url, pending, decide } = await asking();
  const session = await begin(url());
  const rejected = post(url(), call(1, 'echo', { message: 'no' }), session);
  decide(await pending(), 'rejected');
  expect(JSON.stringify(await messagesOf(await rejected))).toContain('APPROVAL_REJECTED');
  const other = await asking();
  const modernly = modern(other.url(), 2, 'echo', { args: { message: 'no' } });
  other.decide(await other.pending(), 'rejected');
  expect(JSON.stringify(await messagesOf(await modernly))).toContain('APPROVAL_REJECTED');
});

test('a held call goes on when its connection breaks, and its answer waits in its stream', async () => {
  const { url, pending, decide } = await asking();
  const session = await begin(url());
  const broken = new AbortController();
  const held = await fetch(url(), {
    method: 'POST',
    headers: {
      ...session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: call(1, 'echo', { message: 'later' }),
    signal: broken.signal,
  });
  const first = String((await eventsIn(held).next()).value);
  const lastEventId = /^id: (\S+)/m.exec(first)?.[1] ?? '';
  broken.abort();
  decide(await pending(), 'approved');
  const headers = { ...session, accept: 'text/event-stream', 'last-event-id': lastEventId };
  const resumed = await fetch(url(), { headers });
  expect(await textOf(resumed)).toBe('later');
}, 15_000);

test('a held call of 2026-07-28 is withdrawn when its client closes its stream, and never made', async () => {
  const { url, eventsOf, pending, decide, states } = await asking();
  const closing = new AbortController();
  const held = modern(url(), 1, 'echo', { args: { message: 'x' }, signal: closing.signal });
  const id = await pending();
  closing.abort();
  await expect(held).rejects.toThrow('abort');
  await expect.poll(states).toEqual(['cancelled']);
  decide(id, 'approved');
  expect(states()).toEqual(['cancelled']);
  expect(await textOf(await modern(url(), 2, 'pid'))).toMatch(/^\d+$/);
  await expect.poll(() => eventsOf('tool_call_end').length).toBe(2);
  expect(JSON.stringify(eventsOf('tool_call_decision')[0])).not.toContain('"action":"ALLOW"');
});
