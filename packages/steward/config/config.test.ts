// The configuration folder: the example is right, mistakes are named, and a change is in force while Steward runs.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import { formatProblem, type Problem } from '@subluminal/core/source';
import { compileManifest, type Tier, toolRule } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { afterAll, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { tierOf } from '../permissions/index.ts';
import { followStewardConfig } from './live-config.ts';
import { type ChangedFiles, readStewardConfig } from './read-config.ts';
import type { StewardConfig } from './types.ts';
import { writeStewardConfig } from './write-config.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/steward', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'steward-config-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let count = 0;
async function newFolder(): Promise<string> {
  const folder = join(home, `config-${++count}`);
  const written = await writeStewardConfig({
    folder,
    example: EXAMPLE,
    models: { agent: [{ provider: 'anthropic', model: 'some-model' }] },
  });
  if (isFailure(written)) throw new Error(written.message);
  return folder;
}

async function problemsOf(folder: string, changed?: ChangedFiles): Promise<string> {
  const read = await readStewardConfig(folder, changed);
  const problems = read.kind === 'broken' ? read.problems : read.warnings;
  return problems.map(formatProblem).join('\n');
}

async function configOf(folder: string): Promise<StewardConfig> {
  const read = await readStewardConfig(folder);
  if (read.kind === 'config') return read;
  throw new Error(read.problems.map(formatProblem).join('\n'));
}

test('a new folder is right, private and committed, with the models that were chosen', async () => {
  verifies('ST-5.7');
  const folder = await newFolder();
  const config = await configOf(folder);
  expect(config.warnings).toEqual([]);
  expect(config.integrations.models.agent).toEqual([
    { provider: 'anthropic', model: 'some-model', timeout_s: 120 },
  ]);
  expect(config.identity).toContain('You are Steward');
  const integrations = readFileSync(join(folder, 'integrations.yaml'), 'utf8');
  for (const comment of ['# email:', '# - { provider: openai,', '# Folders that']) {
    expect(integrations).toContain(comment);
  }
  expect(statSync(join(folder, 'permissions.yaml')).mode & 0o777).toBe(0o600);
  const log = execFileSync('git', ['-C', folder, 'log', '--format=%s'], { encoding: 'utf8' });
  expect(log).toBe('Start the configuration of Steward\n');
  const status = execFileSync('git', ['-C', folder, 'status', '--porcelain'], { encoding: 'utf8' });
  expect(status).toBe('');
  const again = await writeStewardConfig({ folder, example: EXAMPLE });
  expect(again).toMatchObject({ code: 'SUB_STEWARD_FILE' });
});

test('without git, nothing is written', async () => {
  const folder = join(home, 'no-git');
  const path = process.env['PATH'];
  process.env['PATH'] = '/nonexistent';
  try {
    const written = await writeStewardConfig({ folder, example: EXAMPLE });
    expect(written).toMatchObject({ code: 'SUB_STEWARD_GIT', fix: 'Install git.' });
  } finally {
    process.env['PATH'] = path;
  }
  expect(await problemsOf(folder)).toContain('permissions.yaml:1:1: error: the file is missing');
});

const MODELS = 'models: { agent: [{ provider: anthropic, model: m }] }';

test.each([
  [
    'permissions.yaml',
    'tiers: { auto_execute: { actions: [all] } }',
    'not of the form `SERVER.TOOL`',
  ],
  ['integrations.yaml', 'servers: {}', 'missing'],
  [
    'integrations.yaml',
    'models: { agent: [{ provider: openai_compat, model: m }] }',
    '`base_url` is missing',
  ],
  [
    'integrations.yaml',
    'models: { agent: [{ provider: gateway, model: m, key_ref: env://K }] }',
    'means nothing for the gateway',
  ],
  [
    'integrations.yaml',
    `${MODELS}\nemail: { address: a@example.com, password_ref: hunter2, imap: { host: h }, smtp: { host: h } }`,
    'expected a reference to a secret',
  ],
  [
    'integrations.yaml',
    `${MODELS}\nemail: { address: a@example.com, password_ref: sub://p, imap: { host: mail.example.com, tls: none }, smtp: { host: h } }`,
    'would travel unencrypted',
  ],
  ['integrations.yaml', `${MODELS}\nservers: { email: { command: [x] } }`, 'of its own'],
  ['integrations.yaml', `${MODELS}\nservers: { a.b: { command: [x] } }`, 'no name of a server'],
  ['integrations.yaml', `${MODELS}\nservers: { a: {} }`, 'either `url` or `command`'],
  ['integrations.yaml', `${MODELS}\nweb: { search: { provider: searxng } }`, '`url` is missing'],
  ['integrations.yaml', `${MODELS}\nwebhooks: { listen: "8791" }`, 'is no address'],
  ['integrations.yaml', `${MODELS}\nfiles: { folders: [~/notes] }`, 'is no absolute path'],
  [
    'integrations.yaml',
    `${MODELS}\nservers: { a: { command: [npx], args: [x] } }`,
    'Put its values into `command`',
  ],
  ['integrations.yaml', '', 'the file holds no configuration'],
  ['integrations.yaml', `${MODELS}\nmail: {}`, 'did you mean `email`?'],
  ['guardrails.yaml', 'circuit_breaker: { actions: many }', '`actions` is no rate'],
  ['guardrails.yaml', 'heartbeat: { every: now }', '`every` is no duration'],
  ['guardrails.yaml', 'forbidden_patterns: [{ pattern: "(" }]', 'does not compile'],
  ['guardrails.yaml', 'monitor: { quiet_hours: { from: "x", to: "y" } }', '`from` is no time'],
  ['guardrails.yaml', 'egress: { hosts: ["[a"] }', 'is no pattern'],
  ['mcp-manifests/gmail.yaml', 'server: other', 'not named after its `server`'],
  ['mcp-manifests/gmail.yaml', 'server: gmail\nallow: []', 'unknown field `allow`'],
])('%s: %s', async (name, text, words) => {
  const problems = await problemsOf(EXAMPLE, new Map([[name, Buffer.from(text)]]));
  expect(problems).toContain(words);
  expect(problems).toContain(`${name}:`);
});

test('a file that nothing reads is told', async () => {
  const folder = await newFolder();
  writeFileSync(join(folder, 'guardrail.yaml'), 'task: {}', { mode: 0o600 });
  expect(await problemsOf(folder)).toContain('did you mean `guardrails.yaml`?');
});

test('permissions that are too many for one policy are refused', async () => {
  const limits = Array.from({ length: 600 }, (_, at) => {
    return `  s${at}.x: { cooldown: 1s, rate_limit: 1/minute }`;
  });
  const text = Buffer.from(`limits:\n${limits.join('\n')}\n`);
  const problems = await problemsOf(EXAMPLE, new Map([['permissions.yaml', text]]));
  expect(problems).toContain('cannot be compiled for the channel terminal');
});

test('a secret in a file is refused, and shown nowhere', async () => {
  const secret = `sk-ant-api03-${'Ab1'.repeat(31)}-Ab1CdAA`;
  const text = `models: { agent: [{ provider: anthropic, model: m, key_ref: ${secret} }] }`;
  const problems = await problemsOf(EXAMPLE, new Map([['integrations.yaml', Buffer.from(text)]]));
  expect(problems).toContain('expected a reference to a secret');
  expect(problems).not.toContain(secret);
});

test('a file that others can change is refused', async () => {
  const folder = await newFolder();
  chmodSync(join(folder, 'permissions.yaml'), 0o666);
  expect(await problemsOf(folder)).toContain('chmod');
});

test('a change is in force at once, and a broken one leaves the last good one', async () => {
  verifies('ST-5.7');
  const folder = await newFolder();
  const events: string[] = [];
  let heard: (() => void) | undefined;
  const hear = (word: string): void => {
    events.push(word);
    heard?.();
  };
  const live = await followStewardConfig({
    folder,
    changed: (config) => hear(`changed ${config.identity.trim()}`),
    rejected: (problems: readonly Problem[]) => hear(`rejected ${problems[0]?.file ?? ''}`),
    everyMs: 20,
  });
  if (live.kind === 'broken') throw new Error('broken');
  const write = (name: string, text: string): Promise<void> =>
    new Promise((resolve) => {
      heard = resolve;
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    });
  await write('identity.md', 'one');
  await write('permissions.yaml', 'tiers: { wrong: {} }');
  expect(live.current().identity).toBe('one');
  expect(live.problems().map(formatProblem).join()).toContain('unknown field `wrong`');
  await write('permissions.yaml', 'tiers: {}\n');
  expect(events).toEqual(['changed one', 'rejected permissions.yaml', 'changed one']);
  expect(live.problems()).toEqual([]);
  live.stop();
});

/** What specification and manifests say of tools that such servers have. */
const FIRST_WAVE: readonly (readonly [server: string, tool: string, tier: Tier])[] = [
  ['gmail', 'search_emails', 'auto_execute'],
  ['gmail', 'read_email', 'auto_execute'],
  ['gmail', 'send_email', 'human_approval'],
  ['gmail', 'draft_email', 'human_approval'],
  ['gmail', 'modify_label', 'human_approval'],
  ['gmail', 'delete_email', 'forbidden'],
  ['gmail', 'create_filter', 'forbidden'],
  ['google-calendar', 'list-events', 'auto_execute'],
  ['google-calendar', 'create-event', 'human_approval'],
  ['google-calendar', 'delete-event', 'human_approval'],
  ['google-docs', 'read_document', 'auto_execute'],
  ['google-docs', 'update_sheet', 'log_and_execute'],
  ['google-docs', 'share_document', 'forbidden'],
  ['spotify', 'play', 'auto_execute'],
  ['home-assistant', 'get_state', 'auto_execute'],
  ['home-assistant', 'turn_on', 'log_and_execute'],
  ['home-assistant', 'unlock_door', 'human_approval'],
];
const ORDER: readonly Tier[] = ['auto_execute', 'log_and_execute', 'human_approval', 'forbidden'];

test.each(FIRST_WAVE)(
  '%s.%s is %s by its manifest and its permissions',
  async (server, tool, tier) => {
    verifies('ST-9.2');
    const file = `mcp-manifests/${server}.yaml`;
    const bytes = readFileSync(join(EXAMPLE, file));
    const compiled = await compileManifest({ file, bytes }, { sha256 });
    if (!compiled.ok) throw new Error(compiled.problems.map(formatProblem).join('\n'));
    const { permissions } = await configOf(EXAMPLE);
    const tiers = [
      toolRule(compiled.manifest, tool).tier,
      tierOf(permissions, { server, tool, channel: 'terminal' }),
    ];
    expect(ORDER.find((_, at) => tiers.every((one) => ORDER.indexOf(one) <= at))).toBe(tier);
  },
);

test('the example asks for nothing but what the built-in tools need', async () => {
  const { permissions } = await configOf(EXAMPLE);
  const tier = (action: string) => {
    const [server = '', tool = ''] = action.split('.');
    return tierOf(permissions, { server, tool, channel: 'terminal' });
  };
  const reads = ['files.read', 'web.fetch', 'email.read', 'calendar.list', 'memory.search'];
  expect(reads.map(tier)).toEqual(reads.map(() => 'auto_execute'));
  const logged = ['files.propose_write', 'email.draft', 'memory.remember', 'config.propose'];
  expect(logged.map(tier)).toEqual(logged.map(() => 'log_and_execute'));
  const asked = ['email.send', 'calendar.create', 'shell.run', 'new.thing'];
  expect(asked.map(tier)).toEqual(asked.map(() => 'human_approval'));
  expect(tier('credentials.read_raw')).toBe('forbidden');
});

test.each(['mail-and-calendar', 'steward-channels', 'steward-expansion', 'steward-sub-agents'])(
  'the configuration in the guide %s is right',
  async (guide) => {
    const page = new URL(`../../../docs/guides/${guide}.md`, import.meta.url);
    const blocks = [...readFileSync(page, 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)];
    expect(blocks).not.toEqual([]);
    const folder = await newFolder();
    for (const [, block = ''] of blocks) {
      const isLimit = block.startsWith('expansion:');
      const models = 'models: { agent: [{ provider: anthropic, model: some-model }] }';
      const file = isLimit ? 'guardrails.yaml' : 'integrations.yaml';
      const text = Buffer.from(isLimit ? block : `${models}\n${block}`);
      expect(await problemsOf(folder, new Map([[file, text]])), block).toBe('');
    }
  },
);
