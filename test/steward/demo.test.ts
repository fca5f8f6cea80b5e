// The demo task as a newcomer tries it: two commands in a fresh home, a terminal, and no account.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ENDPOINTS } from '@subluminal/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type DemoWorld, openDemoWorld, REQUEST } from './demo-task.ts';
import type { StewardHome } from './steward-home.ts';
import { Terminal } from './terminal.ts';

const TIMEOUT_MS = 60_000;

let world: DemoWorld;
beforeAll(async () => {
  world = await openDemoWorld();
}, TIMEOUT_MS);
afterAll(() => world.close(), TIMEOUT_MS);

/** A person makes the request, says yes to each question, and leaves when the answer is there. */
async function talk({ env }: StewardHome): Promise<void> {
  const chat = new Terminal(env, ['steward', 'chat']);
  await chat.sees(/> /);
  chat.type(REQUEST);
  for (const next of [/✓ calendar\.create/, /✓ email\.send/]) {
    await chat.sees(/Allow this\?[^\n]*: /);
    await chat.answers('y', next);
  }
  await chat.sees(/^That is all\.[^]*^> $/m);
  chat.type('/quit');
  const { code, seen } = await chat.end();
  expect(code, seen).toBe(0);
}

/** The calls of tools as the page gets them, the oldest first. */
async function callsOnPage({ subHome }: StewardHome) {
  const served = readFileSync(join(subHome, 'run', 'ledger.json'), 'utf8');
  const { url, token } = JSON.parse(served) as { url: string; token: string };
  const target = `${url}${API_ENDPOINTS.calls.path}?agent_id=steward&limit=100`;
  const answer = await fetch(target, { headers: { authorization: `Bearer ${token}` } });
  const { rows } = (await answer.json()) as { rows: readonly CallOnPage[] };
  return rows.toReversed();
}

interface CallOnPage {
  readonly kind: string;
  readonly server_name?: string;
  readonly tool_name?: string;
  readonly decision: string;
  readonly approved_by: readonly string[];
}

test(
  'reads a mail, puts its date into the calendar and answers, with two confirmations',
  async () => {
    verifies('ST-6.1', 'ST-9.1');
    const { home, mail, calendar } = world;
    await talk(home);
    expect(mail.received).toMatchObject([{ from: mail.user, to: ['ann@example.com'] }]);
    expect(mail.received[0]?.raw).toContain('In-Reply-To: <meeting@example.com>');
    expect([...calendar.files.values()].join('')).toContain('DTSTART:20261126T150000Z');
    expect(mail.folder('Sent')).toHaveLength(1);

    const calls = await callsOnPage(home);
    const turns = calls.filter(({ kind }) => kind === 'turn');
    const uses = calls.filter(({ kind }) => kind === 'tool_call');
    expect(
      uses.map(({ server_name, tool_name, approved_by }) => [
        `${server_name}.${tool_name}`,
        approved_by.length,
      ]),
    ).toEqual([
      ['email.search', 0],
      ['email.read', 0],
      ['calendar.create', 1],
      ['email.send', 1],
    ]);
    expect(calls.every(({ decision }) => decision === 'ALLOW')).toBe(true);
    // Five of the agent, and the guardian's about what is not only read.
    expect(turns).toHaveLength(7);
    expect((await home.sub('ledger', 'verify')).code).toBe(0);
  },
  TIMEOUT_MS,
);
