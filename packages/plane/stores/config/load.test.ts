import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatConfigFailure } from './config-failure.ts';
import { loadConfig } from './load.ts';
import { SETTING_KEYS, SETTINGS } from './settings.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-config-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Options = Partial<Parameters<typeof loadConfig>[0]>;

function load({ env = {}, ...options }: Options = {}) {
  return loadConfig({
    env: { SUB_HOME: dir, HOME: '/users/ada', ...env },
    cwd: '/job',
    ...options,
  });
}

async function loaded(options: Options = {}) {
  const result = await load(options);
  if (!result.ok) throw new Error(result.problems.map(formatConfigFailure).join('\n'));
  return result;
}

async function problems(options: Options = {}): Promise<string[]> {
  const result = await load(options);
  if (result.ok) throw new Error('expected problems');
  return result.problems.map((problem) => formatConfigFailure(problem).replaceAll(`${dir}/`, ''));
}

function write(text: string | Uint8Array): void {
  writeFileSync(join(dir, 'config.toml'), text);
}

test('has a value for every setting without any file', async () => {
  const { config, origins } = await loaded();
  expect(Object.keys(config).toSorted()).toEqual(SETTING_KEYS.toSorted());
  expect(new Set(Object.values(origins))).toEqual(new Set(['default']));
  expect(config).toMatchObject({
    'limits.max_inspect_bytes': 1_048_576,
    'events.sink': { kind: 'ledger' },
    'ledger.path': join(dir, 'ledger.db'),
    'ledger.socket': join(dir, 'run', 'ledger.sock'),
    'policy.path': null,
    profile: 'production',
    'previews.enabled': true,
    'redact.extra_patterns': [],
  });
});

test('lets the environment win over the file, and flags over both', async () => {
  write('profile = "development"\n[shutdown]\ngrace_ms = 1\n[policy]\npath = "a.yaml"\n');
  const env = { SUB_GRACE_MS: '2_000', SUB_POLICY: 'b.yaml', SUB_PROFILE: '' };
  const { config, origins } = await loaded({
    env,
    flags: { policy: 'c.yaml', profile: undefined },
  });
  expect(config.profile).toBe('development');
  expect(config['shutdown.grace_ms']).toBe(2_000);
  expect(config['policy.path']).toBe('/job/c.yaml');
  expect(origins).toMatchObject({
    profile: 'file',
    'shutdown.grace_ms': 'env',
    'policy.path': 'flag',
    'ledger.path': 'default',
  });
});

test('reads every kind of value from a file', async () => {
  write(`
    events.sink = "file:out/events.jsonl"
    [previews]
    enabled = false
    [ledger]
    path = "~/x.db"
    [redact]
    extra_patterns = ["acme-[0-9a-f]{32}"]
  `);
  const { config } = await loaded();
  expect(config).toMatchObject({
    'events.sink': { kind: 'file', path: join(dir, 'out/events.jsonl') },
    'previews.enabled': false,
    'ledger.path': '/users/ada/x.db',
    'redact.extra_patterns': ['acme-[0-9a-f]{32}'],
  });
});

test('reads every kind of value from the environment', async () => {
  const { config } = await loaded({
    env: {
      SUB_EVENTS: 'file:events.jsonl',
      SUB_PREVIEWS: 'off',
      SUB_REDACT_EXTRA_PATTERNS: '["a+"]',
    },
  });
  expect(config).toMatchObject({
    'events.sink': { kind: 'file', path: '/job/events.jsonl' },
    'previews.enabled': false,
    'redact.extra_patterns': ['a+'],
  });
});

describe('says where and how to mend', () => {
  test.each([
    [
      'an unknown key',
      '\n[limits]\nmax_inspekt_bytes = 1',
      '3:1',
      'Did you mean `limits.max_inspect_bytes`?',
    ],
    ['a table that is none', 'limits = 3', '1:1', '`limits` is a table of settings'],
    ['a table that is a list', 'limits = [3]', '1:1', 'Write [limits], and `'],
    ['an unknown key without a table', 'grace = 5', '1:1', 'unknown key `grace`'],
    [
      'an unknown table',
      '[limts]\nqueue_bytes = 70000',
      '2:1',
      'Did you mean `limits.queue_bytes`?',
    ],
    ['an unknown empty table', 'profile = "production"\n  [x]', '2:4', 'unknown key `x`'],
    ['a key too deep', '[profile]\nname = "production"', '2:1', 'unknown key `profile.name`'],
    [
      'a dotted key',
      'a.b = 1\nlimits . "queue_byte" = 1',
      '2:1',
      'Did you mean `limits.queue_bytes`?',
    ],
    ['a wrong type', '[limits]\n  queue_bytes = "8 MB"', '2:3', 'a whole number from 65536'],
    ['a fraction', 'shutdown.grace_ms = 1.5', '1:1', 'expected a whole number'],
    ['a number out of range', 'shutdown.grace_ms = -1', '1:1', 'from 0 to 600000, got -1'],
    ['a date', 'profile = 2026-01-01', '1:1', 'expected `production` or `development`'],
    ['a misspelt choice', 'profile = "prodution"', '1:1', 'Did you mean `production`?'],
    ['a misspelt sink', 'events.sink = "ledgr"', '1:1', 'Did you mean `ledger`?'],
    ['a sink without a path', 'events.sink = "file:"', '1:1', '`file:PATH`'],
    ['a sink that is a list', 'events.sink = ["file:/tmp/x.jsonl"]', '1:1', '`file:PATH`'],
    ['an empty path', 'ledger.path = ""', '1:1', 'expected a path'],
    ['a backreference', 'redact.extra_patterns = ["(a)\\\\1"]', '1:1', 'Write it in RE2 syntax.'],
    ['a pattern that is none', 'redact.extra_patterns = [1]', '1:1', 'regular expressions'],
    ['broken text', 'profile = "production"\nx = ', '2:', '[SUB_CONFIG_SYNTAX]'],
    ['a key twice', 'profile = "production"\nprofile = "development"', '2:', '[SUB_CONFIG_SYNTAX]'],
    ['a key of the language', '__proto__ = 1', '1:1', 'unknown key'],
  ])('%s', async (_, text, place, words) => {
    write(text);
    const found = await problems();
    const last = found.at(-1) ?? '';
    expect(last.slice(0, `config.toml:${place}`.length)).toBe(`config.toml:${place}`);
    expect(last).toContain(words);
  });

  test('of a variable and of a flag', async () => {
    const found = await problems({
      env: { SUB_QUEUE_BYTES: 'many', SUB_PREVIEWS: 'maybe' },
      flags: { profile: 'dev' },
    });
    expect(found).toEqual([
      expect.stringMatching(/^SUB_QUEUE_BYTES: .*whole number/),
      expect.stringMatching(/^--profile: /),
      expect.stringMatching(/^SUB_PREVIEWS: .*true or false/),
    ]);
  });

  test('all problems at once', async () => {
    write('a = 1\nb = 2\nprofile = 3\n');
    expect(await problems()).toHaveLength(3);
  });

  test('of a home whose socket path is too long, until another one is named', async () => {
    const home = join(dir, 'x'.repeat(100));
    const [problem] = await problems({ env: { SUB_HOME: home } });
    expect(problem).toContain('SUB_LEDGER_SOCKET');
    const env = { SUB_HOME: home, SUB_LEDGER_SOCKET: '/run/sub.sock' };
    expect((await loaded({ env })).config['ledger.socket']).toBe('/run/sub.sock');
  });
});

describe('the file', () => {
  test('may not be a folder', async () => {
    mkdirSync(join(dir, 'config.toml'));
    expect(await problems()).toEqual([expect.stringContaining('is a directory')]);
  });

  test.skipIf(process.getuid?.() === 0)('must be readable', async () => {
    write('');
    chmodSync(join(dir, 'config.toml'), 0);
    expect(await problems()).toEqual([expect.stringContaining('EACCES')]);
  });

  test('must be UTF-8', async () => {
    write(Uint8Array.of(0x70, 0xff));
    expect(await problems()).toEqual([expect.stringContaining('UTF-8')]);
  });

  test('must not be endless', async () => {
    write('#'.repeat(1_048_577));
    expect(await problems()).toEqual([expect.stringContaining('larger than')]);
  });

  test('may hold anything without breaking the reader', async () => {
    const part = fc.constantFrom(
      '[',
      ']',
      '=',
      '.',
      '"',
      "'",
      '\n',
      'profile',
      'limits',
      '1',
      '{',
      '}',
      '#',
      ' ',
      '\u0007',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        write(parts.join(''));
        const result = await load();
        expect(result.ok || result.problems.every(({ where }) => where !== '')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

test('no two settings share a variable or a flag', () => {
  const names = SETTING_KEYS.flatMap((key) => [SETTINGS[key].env, SETTINGS[key].flag ?? key]);
  expect(new Set(names).size).toBe(names.length);
});

test('reads the prices of the user', async () => {
  expect((await loaded()).prices).toEqual([]);
  write(`[[prices]]
provider = "openai"
model = "my-model"
input_cents_per_mtok = 12.5
output_cents_per_mtok = 100
`);
  expect((await loaded()).prices).toEqual([
    {
      provider: 'openai',
      model: 'my-model',
      input_cents_per_mtok: 12.5,
      output_cents_per_mtok: 100,
    },
  ]);
});

test.each([
  ['a price of nobody', 'provider = "else"', 'prices.0.provider'],
  ['a price below zero', 'input_cents_per_mtok = -1', 'prices.0.input_cents_per_mtok'],
  ['a key that no price has', 'inptu = 1', 'unknown key `prices.0.inptu`'],
  ['a price without its model', '', 'prices.0.model'],
])('refuses %s', async (_, line, message) => {
  write(`profile = "production"\n[[prices]]\n${line}\n`);
  const found = await problems();
  expect(found.some((one) => one.includes(message))).toBe(true);
  expect(found[0]).toMatch(/^config.toml:[23]:/);
});
