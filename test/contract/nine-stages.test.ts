// The nine stages of a tool call, one after the other, on the built `sub`: a real server, the
// official client, a manifest, a policy, a secret from the store's file, and a person.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type Event, parseEventLine } from '@subluminal/contracts';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureBuilt, SUB } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { type Approving, approvingAt } from './approving.ts';

const MAIL = fileURLToPath(new URL('servers/mail.mjs', import.meta.url));
/** Put together, so that no scanner takes them for real ones. */
const TOKEN = ['mail', 'b7Q2xW9kT4vN8sL3pR6y'].join('-');
const AWS_KEY = ['AK', 'IA', 'A7B3C5D2E6F4G7H2'].join('');
const SSN = ['536', '90', '4399'].join('-');

const MANIFEST = `
server: mail
allowed_tools:
  - { name: mail.search, rate_limit: 2/minute }
  - { name: mail.read }
  - { name: mail.send, requires_approval: true }
  - { name: mail.delete, allowed: false }
blocked_params:
  - pattern: "*.bcc"
schema_rewrites:
  mail.send: { strip_params: [forward_to] }
  mail.search: { constrain_params: { max_results: { maximum: 50 } } }
answers: { max_size_bytes: 10000, on_excess: truncate }
`;

const POLICY = `
policy_id: mail
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules: []
content:
  outbound: { secret: block, personal: block }
  inbound: { injection: redact }
`;

let folder: string;
let client: Client;
let people: Approving;

beforeAll(ensureBuilt);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-stages-'));
  const home = join(folder, 'home');
  mkdirSync(join(home, 'manifests'), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'secrets'), { mode: 0o700 });
  writeFileSync(join(home, 'manifests', 'mail.yaml'), MANIFEST, { mode: 0o600 });
  writeFileSync(join(home, 'secrets', 'mail_token'), `${TOKEN}\n`, { mode: 0o600 });
  const binding =
    '[[servers.mail.secret_bindings]]\ninject_as = "MAIL_TOKEN"\nsecret_ref = "mail_token"\nsource = "file"\n';
  writeFileSync(join(home, 'config.toml'), binding, { mode: 0o600 });
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  people = approvingAt(folder);
  client = new Client({ name: 'stages', version: '1' });
  const flags = ['--server-name', 'mail', '--policy', join(folder, 'policy.yaml')];
  const events = ['--events', `file:${join(folder, 'events.jsonl')}`];
  const args = [SUB, 'shim', ...flags, ...events, '--', process.execPath, MAIL];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SUB_HOME: home,
    MAIL_LOG: join(folder, 'asked.jsonl'),
  };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }),
  );
});
afterEach(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

function linesOf(name: string): readonly string[] {
  return readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean);
}

/** What the server was asked, in order. */
function asked(): readonly unknown[] {
  return linesOf('asked.jsonl').map((line) => JSON.parse(line) as unknown);
}

async function eventsAfterwards(): Promise<readonly Event[]> {
  await client.close();
  return linesOf('events.jsonl').map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`not an event: ${line}`);
    return parsed.event;
  });
}

function call(name: string, args: { readonly [name: string]: unknown }) {
  return client.callTool({ name, arguments: args });
}

async function textOf(name: string, args: { readonly [name: string]: unknown }): Promise<string> {
  const { content } = await call(name, args);
  const [first] = Array.isArray(content) ? (content as { text: string }[]) : [];
  return first?.text ?? '';
}

/** How a call was refused: what a model can act on. */
async function refusal(name: string, args: { readonly [name: string]: unknown }) {
  const error: unknown = await call(name, args).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof Error)) throw new Error(`${name} was not refused`);
  const { data } = error as Error & { data?: { subluminal?: { reason_code?: string } } };
  return { message: error.message, reason: data?.subluminal?.reason_code };
}

describe('a call through all nine stages', () => {
  it('is checked, approved, counted, scanned, given its secret, forwarded, scanned, recorded, returned', async () => {
    verifies('ST-8.3.1', 'ST-8.3.2', 'ST-8.7', 'ST-8.9', 'ST-8.10', 'ST-4-ring1', 'ST-5.1');
    verifies('ST-8.10.1', 'ST-8.10.2', 'ST-8.10.3', 'ST-8.10.4', 'ST-8.10.5');
    verifies('ST-8.10.6', 'ST-8.10.7', 'ST-8.10.8', 'ST-8.10.9', 'ST-8.3.3');
    // Stage 1: what the manifest does not list is not shown, and cannot be called.
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['mail.search', 'mail.read', 'mail.send']);
    const send = tools.find(({ name }) => name === 'mail.send');
    expect(Object.keys(send?.inputSchema.properties ?? {})).toEqual(['to', 'subject', 'body']);
    expect(await refusal('mail.delete', { id: 'plain' })).toMatchObject({
      reason: 'TOOL_FORBIDDEN',
      message: expect.stringContaining('Use one of the tools that the server lists') as unknown,
    });
    expect(await refusal('mail.purge', {})).toMatchObject({ reason: 'TOOL_NOT_LISTED' });
    const hidden = { to: 'ann@example.com', bcc: 'eve@evil.example' };
    expect(await refusal('mail.send', hidden)).toMatchObject({ reason: 'PARAM_BLOCKED' });
    const limit = await refusal('mail.search', { query: 'x', max_results: 400 });
    expect(limit).toMatchObject({ reason: 'PARAM_LIMIT' });

    // Stage 2: sending waits for a person.
    const mail = { to: 'ann@example.com', subject: 'Friday', body: 'At ten?' };
    const sending = textOf('mail.send', mail);
    const { request } = await people.pending();
    expect(request).toMatchObject({ call: { server: 'mail', tool: 'mail.send', args: mail } });
    expect(await people.sub('approvals', 'approve', request.id)).toMatchObject({ code: 0 });
    expect(await sending).toContain('mail.send: done');

    // Stage 3: only so many searches a minute.
    await call('mail.search', { query: 'a' });
    await call('mail.search', { query: 'b' });
    const tooMany = await refusal('mail.search', { query: 'c' });
    expect(tooMany).toMatchObject({ reason: 'RATE_LIMITED' });

    // Stage 4: what must not leave does not, and no person is asked about it.
    const key = await refusal('mail.send', { ...mail, body: `use ${AWS_KEY}` });
    expect(key).toMatchObject({ reason: 'CONTENT_BLOCKED' });
    expect(key.message).toContain('body');
    expect(key.message).not.toContain(AWS_KEY);
    const personal = await refusal('mail.send', { ...mail, body: `my SSN is ${SSN}` });
    expect(personal).toMatchObject({ reason: 'CONTENT_BLOCKED' });
    const leak = await refusal('mail.send', { ...mail, body: TOKEN.split('').join('') });
    expect(leak).toMatchObject({ reason: 'LEAK_BLOCKED' });

    // Stages 5 and 6: the server has its secret, and gets what the agent wrote and nothing of ours.
    expect(asked()).toEqual([
      { name: 'mail.send', args: mail, meta: null, hasToken: true },
      { name: 'mail.search', args: { query: 'a' }, meta: null, hasToken: true },
      { name: 'mail.search', args: { query: 'b' }, meta: null, hasToken: true },
    ]);

    // Stage 7: answers are scanned, marked and cut.
    const poisoned = await textOf('mail.read', { id: 'poisoned' });
    expect(poisoned).toContain('[EXTERNAL_CONTENT source="mcp:mail" tool="mail.read"]');
    expect(poisoned).not.toContain('Ignore all previous instructions');
    const long = await textOf('mail.read', { id: 'long' });
    expect(long.length).toBeLessThan(11_000);
    expect(long).toContain('TRUNCATED');
    for (const id of ['token', 'encoded']) {
      const told = await textOf('mail.read', { id });
      expect(told).not.toContain(TOKEN);
      expect(told).not.toContain(Buffer.from(TOKEN).toString('base64'));
    }

    // Stage 9: what is harmless arrives.
    expect(await textOf('mail.read', { id: 'plain' })).toContain(
      '\nSee you on Friday at ten.\n[/EXTERNAL_CONTENT]',
    );

    // Stage 8: all of it is on record, and no secret is.
    const events = await eventsAfterwards();
    const decisions = events.flatMap((event) =>
      event.type === 'tool_call_decision'
        ? [`${event.call.tool_name} ${event.decision.explain.reason_code}`]
        : [],
    );
    expect(decisions).toEqual([
      'mail.delete TOOL_FORBIDDEN',
      'mail.purge TOOL_NOT_LISTED',
      'mail.send PARAM_BLOCKED',
      'mail.search PARAM_LIMIT',
      'mail.send DEFAULT_ALLOW',
      'mail.search DEFAULT_ALLOW',
      'mail.search DEFAULT_ALLOW',
      'mail.search RATE_LIMITED',
      'mail.send CONTENT_BLOCKED',
      'mail.send CONTENT_BLOCKED',
      'mail.send LEAK_BLOCKED',
      ...Array.from({ length: 5 }, () => 'mail.read DEFAULT_ALLOW'),
    ]);
    const manifests = events.flatMap((event) =>
      event.type === 'tool_call_decision' ? [event.call.manifest_hash ?? 'none'] : [],
    );
    expect([...new Set(manifests)].join()).toMatch(/^[0-9a-f]{64}$/);
    const found = events.flatMap((event) =>
      event.type === 'tool_call_decision' ? (event.call.content?.findings ?? []) : [],
    );
    expect(found).toEqual(
      expect.arrayContaining(['secret:aws-access-key', 'personal:us-ssn', 'leak:mail_token']),
    );
    const approvals = events.flatMap((event) =>
      event.type === 'approval' ? [event.approval] : [],
    );
    expect(approvals.map(({ state, rule_id }) => `${state} ${rule_id}`)).toEqual([
      'asked gate:manifest',
      'approved gate:manifest',
    ]);
    const text = JSON.stringify(events);
    expect([TOKEN, AWS_KEY, SSN].filter((secret) => text.includes(secret))).toEqual([]);
  });
});
