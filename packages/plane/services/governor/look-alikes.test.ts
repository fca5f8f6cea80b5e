import type { Command, Report } from '@subluminal/core/session';
import { expect, test } from 'vitest';
import { joinLookAlikes } from './look-alikes.ts';

type Emitted = Extract<Command, { readonly do: 'emit' }>;

function notice(name: string, other: string, what: 'look_alike' | 'tool_changed' = 'look_alike') {
  const detail = `It has the same name as \`${other}/${name}\`.`;
  const surface = {
    what,
    enforced: false,
    server_name: 'files',
    name,
    reason_code: 'LOOK_ALIKE',
    detail,
  };
  const emit: Emitted = { do: 'emit', type: 'surface', durability: 'durable', body: { surface } };
  const report: Report = {
    what: 'NOTICED',
    from: 'server',
    reason: 'surface',
    detail: `${name}: ${detail}`,
    bytes: 0,
  };
  return { emit, report };
}

async function told(notices: readonly ReturnType<typeof notice>[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const joined = joinLookAlikes((text) => lines.push(text));
  for (const { emit, report } of notices) {
    joined.noticed(emit);
    expect(joined.holds(report)).toBe(true);
  }
  await new Promise((resolve) => setImmediate(resolve));
  return lines;
}

test('tools with the names of another server’s are reported in one line, with the fix', async () => {
  expect(await told([notice('read', 'old'), notice('write', 'old')])).toEqual([
    'read: It has the same name as `old/read`. write: It has the same name as `old/write`. If old is not used any more, forget its tools: sub pins forget old',
  ]);
});

test('a line names a few of many tools, and their number', async () => {
  const many = Array.from({ length: 20 }, (_, at) => notice(`tool-${at}`, `server-${at % 2}`));
  const [line = '', ...rest] = await told(many);
  expect(rest).toEqual([]);
  expect(line).toMatch(/^20 tools have names of tools of other servers\. tool-0: /);
  expect(line).toContain(' And 15 more. If one of them is not used any more');
  expect(line).toContain('sub pins forget SERVER');
});

test('a later report has a line of its own, and all other notices stay as they are', async () => {
  const lines: string[] = [];
  const joined = joinLookAlikes((text) => lines.push(text));
  const changed = notice('read', 'old', 'tool_changed');
  joined.noticed(changed.emit);
  expect(joined.holds(changed.report)).toBe(false);
  for (const name of ['read', 'write']) {
    const { emit, report } = notice(name, 'old');
    joined.noticed(emit);
    joined.holds(report);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(lines).toHaveLength(2);
});
