// A key of config.toml that nobody reads is a mistake, however deep it stands: what it was meant to
// tighten would silently not hold.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from './load.ts';
import { isSettingKey } from './settings.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-keys-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function faultsIn(text: string): Promise<readonly string[]> {
  writeFileSync(join(dir, 'config.toml'), text);
  const result = await loadConfig({ env: { SUB_HOME: dir, HOME: dir }, cwd: dir });
  if (result.ok) return [];
  return result.problems.map(
    ({ code, where, message, fix }) =>
      `${where.slice(join(dir, 'config.toml').length + 1)} ${code} ${message}. ${fix}`,
  );
}

const BINDING =
  '[[servers.x.secret_bindings]]\ninject_as = "A"\nsecret_ref = "a"\nsource = "env"\n';
const WEBHOOK = '[approvals.webhook]\nurl = "https://x.example"\nsecret = "env://A"\n';
const DEEP = 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r';

test.each([
  ['in a table of settings', '[limits]\nque_bytes = 1', '2:1', 'Did you mean `limits.queue_bytes`'],
  ['in a table of a wrong name', '[limit]\nqueue = 1', '2:1', 'Did you mean `limits`'],
  [
    'below a setting',
    '[policy.reload]\nmode = "off"',
    '2:1',
    'Known in [policy]: `path`, `reload`',
  ],
  ['far below the deepest table', `${DEEP} = 1`, '1:1', 'unknown key `a.b.c'],
  ['as a table far below', `profile = "production"\n[${DEEP}]`, '2:2', 'unknown key `a.b.c'],
  ['below a deep table', `[${DEEP.slice(0, 27)}]\n${DEEP} = 1`, '2:1', 'unknown key `a.b.c'],
  ['with its dots in quotes', '"pins.mode" = "strict"', '1:1', 'without the quotes'],
  ['of a server', '[servers.x]\nsecret_binding = []', '2:1', 'Did you mean `secret_bindings`'],
  ['of a binding', `${BINDING}redakt = true`, '5:1', 'Did you mean `redact`'],
  ['of a later binding', `${BINDING}${BINDING.replace('"A"', '"B"')}x = 1`, '9:1', 'Known here:'],
  ['below a binding', `${BINDING}extra.x = 1`, '5:1', 'unknown key `extra`'],
  ['in a table of a binding', `${BINDING}[servers.x.secret_bindings.y]`, '5:2', 'unknown key `y`'],
  ['of approvals', '[approvals]\nlisten_on = 1', '2:1', 'unknown key `listen_on`'],
  ['of a channel', '[approvals.desktop]\nenable = true', '2:1', 'Did you mean `enabled`'],
  ['below a channel', `${WEBHOOK}[approvals.webhook.headers]\nx = 1`, '4:2', '`headers`'],
])('a key %s is an error with its place and a fix', async (_, text, where, words) => {
  const [first = '', ...more] = await faultsIn(text);
  expect(more).toEqual([]);
  expect(first.startsWith(`${where} SUB_CONFIG_KEY unknown key`)).toBe(true);
  expect(first).toContain(words);
});

test.each([
  ['approvals = 1979-05-27', '`approvals` is not a table'],
  ['[approvals]\ndesktop = 1979-05-27', '`approvals.desktop` is not a table'],
  ['[[approvals.desktop]]\nenabled = true', '`approvals.desktop` is not a table'],
  ['[[limits]]\nqueue_bytes = 70000', '`limits` is a table of settings'],
])('%j is no table', async (text, words) => {
  expect((await faultsIn(text)).join('\n')).toContain(words);
});

test('no path of invented keys is ever ignored', async () => {
  const word = fc.stringMatching(/^[a-z_]{1,8}$/);
  const start = fc.constantFrom(
    [],
    ['limits'],
    ['policy', 'path'],
    ['approvals'],
    ['servers', 'x'],
  );
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.array(word, { minLength: 1, maxLength: 24 }),
      fc.constantFrom('value', 'table', 'list'),
      async (first, rest, form) => {
        const path = [...first, ...rest];
        const name = path.join('.');
        // A server may have any name, and may say nothing.
        fc.pre(!isSettingKey(name) && !['servers', 'approvals'].includes(path[0] ?? ''));
        const text = { value: `${name} = 1`, table: `[${name}]`, list: `[[${name}]]` }[form];
        expect(await faultsIn(text)).not.toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

test('no invented key of a server or of approvals is ever ignored', async () => {
  const word = fc.stringMatching(/^z[a-z_]{1,8}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('servers.x', 'approvals', 'approvals.desktop'),
      fc.array(word, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('value', 'table', 'list'),
      async (first, rest, form) => {
        const name = [first, ...rest].join('.');
        const text = { value: `${name} = 1`, table: `[${name}]`, list: `[[${name}]]` }[form];
        expect(await faultsIn(text)).not.toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
});
