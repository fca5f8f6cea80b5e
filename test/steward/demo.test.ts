// The demo task as a newcomer tries it: two commands in a fresh home, a terminal, and no account.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_ENDPOINTS } from '@subluminal/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type DemoHome, type DemoWorld, openDemoWorld, REQUEST, SUB } from './demo-task.ts';

const TIMEOUT_MS = 60_000;
const ANSWER_EVERY_MS = 200;

let world: DemoWorld;
beforeAll(async () => {
  world = await openDemoWorld();
}, TIMEOUT_MS);
afterAll(() => world.close(), TIMEOUT_MS);

/** A person at a terminal: makes the request, says yes to each question, and leaves when the answer is there. */
async function talk({ env }: DemoHome): Promise<void> {
  const command = `exec '${process.execPath}' '${SUB}' steward chat`;
  const terminal = spawn('setsid', ['script', '-qfec', command, '/dev/null'], { env });
  const ended = once(terminal, 'exit');
  let seen = '';
  let hasAsked = false;
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    if (seen.includes('> ') && !hasAsked) {
      hasAsked = true;
      terminal.stdin.write(`${REQUEST}\n`);
    }
    if (/^That is all\..*^> $/ms.test(seen)) terminal.stdin.write('/quit\n');
  });
  // An answer that comes before anybody can have read the question is not taken, and the question comes again.
  const answers = setInterval(() => {
    if (/Allow this\?[^\n]*$/.test(seen)) terminal.stdin.write('y\n');
  }, ANSWER_EVERY_MS);
  await ended;
  clearInterval(answers);
  expect(terminal.exitCode, seen).toBe(0);
}

/** The calls of tools as the page gets them, the oldest first. */
async function callsOnPage({ subHome }: DemoHome) {
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
