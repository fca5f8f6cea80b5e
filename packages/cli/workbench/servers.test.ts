// Servers, pins and secrets over the API: a real home, real pins, a real ledger and a real server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ApiPinsDiff, isFailure } from '@subluminal/contracts';
import { EMPTY_PINS, reviewListing } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { openPins, savePins } from '@subluminal/plane/surface';
import { addSecret } from '@subluminal/plane/vault';
import { describe, expect, it } from 'vitest';
import { Shim } from '../../plane/stores/ledger/testing/events.ts';
import { type PageHome, pageHome } from './page-home.test-support.ts';

const SCRIPTED = fileURLToPath(new URL('../../../test/e2e/rug-pull-server.mjs', import.meta.url));
const SEND = { name: 'send', description: 'Sends mail.', inputSchema: { type: 'object' } };
const READ = { name: 'read', description: 'Reads mail.', inputSchema: { type: 'object' } };
const HOSTILE = { ...SEND, description: 'Sends mail. <img src=x onerror=alert(1)>\u001b[2J\u202e' };

/** What the server shows from now on; its client is Claude Code. */
function shows({ folder }: PageHome, tools: readonly object[], instructions = 'Be brief.'): void {
  const script = join(folder, 'mail.json');
  writeFileSync(script, JSON.stringify({ tools, instructions }));
  const entry = { command: process.execPath, args: [SCRIPTED, script] };
  writeFileSync(join(folder, '.claude.json'), JSON.stringify({ mcpServers: { mail: entry } }));
}

/** Pins what a session would pin at first sight. */
async function pinned({ home }: PageHome, tools: readonly object[]): Promise<void> {
  const listing = { tools, instructions: 'Be brief.', isComplete: true };
  const context = { server: 'mail', sha256, nowMs: Date.now() - 1_000 };
  const review = reviewListing({ ok: true, store: EMPTY_PINS }, listing, context);
  if (review.kind !== 'reviewed') throw new Error(review.message);
  await savePins(home, () => review.store);
}

function pins({ home }: PageHome) {
  const opened = openPins(home);
  if (isFailure(opened)) throw new Error(opened.message);
  return opened.store.servers.get('mail');
}

/** A server whose one tool is this text. */
function rawServer(tool: string): string {
  return `import { createInterface } from 'node:readline';
const about = '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize' ? about : '{"tools":[' + ${JSON.stringify(tool)} + ']}';
  console.log('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}');
});
`;
}

const surface = { server_name: 'mail', enforced: true, reason_code: 'PIN_CHANGED' } as const;

describe('the servers of the API', () => {
  it('are those that were called or are pinned, with their tools, pins, manifest and breaker', async () => {
    const page = await pageHome();
    const nowMs = Date.now();
    await pinned(page, [SEND, READ]);
    mkdirSync(join(page.home, 'manifests'), { mode: 0o700 });
    const manifest =
      'server: mail\nallowed_tools:\n  - name: send\n    permission_tier: human_approval\n';
    writeFileSync(join(page.home, 'manifests', 'mail.yaml'), manifest, { mode: 0o600 });
    const mail = new Shim('m', { run: 'run-1', server: 'mail', tool: 'send' }, nowMs);
    const web = new Shim('w', { run: 'run-2', server: 'we/b %', tool: 'get' }, nowMs);
    const paused = { what: 'server_state', state: 'paused', detail: 'paused' } as const;
    await page.live.ingest(
      mail.runStart(),
      mail.start('a', { risk_class: ['network'] }),
      mail.decision('a'),
      mail.end('a', { latency_ms: 40 }),
      mail.start('b'),
      mail.decision('b', { action: 'BLOCK', rule_id: 'no' }),
      mail.line('surface', {
        surface: { ...surface, what: 'tool_changed', name: 'send', detail: 'It has changed.' },
      }),
      mail.line('surface', { surface: { ...surface, ...paused } }),
      web.runStart(),
      ...web.call('c'),
      web.line('surface', { surface: { ...surface, ...paused, server_name: 'we/b %' } }),
      web.line('breaker_trip', {
        breaker: {
          rule_id: 'stop',
          scope: 'run',
          cause: 'errors',
          count: 3,
          window_ms: 1_000,
          action: 'BLOCK',
          server_name: 'we/b %',
          tool_name: 'get',
        },
      }),
      web.runEnd(),
    );
    const unknown = { state: 'unknown', detail: null, at_ms: null, run_id: null };
    expect(await page.get('servers', 'servers')).toMatchObject({
      cut: false,
      pins_problem: null,
      rows: [
        {
          server_name: 'mail',
          clients: ['claude'],
          calls: 2,
          refused: 1,
          errors: 0,
          tools_total: 2,
          tools: [
            {
              tool_name: 'send',
              description: 'Sends mail.',
              risk_class: [],
              tier: 'human_approval',
              pin: { accepted_at_ms: null },
              change: { detail: 'It has changed.', run_id: 'run-1' },
              calls: 2,
            },
            { tool_name: 'read', tier: 'forbidden', change: null, calls: 0, last_call_at_ms: null },
          ],
          changes: [{ tool_name: 'send', enforced: true }],
          manifest: { state: 'valid', problem: null },
          breaker: { state: 'open', run_id: 'run-1' },
          last_trip: null,
        },
        {
          server_name: 'we/b %',
          tools: [{ tool_name: 'get', pin: null, description: null, tier: null }],
          instructions_pin: null,
          manifest: { state: 'none' },
          // Its run has ended, and its shim with it.
          breaker: unknown,
          last_trip: { rule_id: 'stop', tool_name: 'get', detail: '3 errors in 1000 ms' },
        },
      ],
    });
    const answering = { what: 'server_state', state: 'answering', detail: 'well again' } as const;
    await page.live.ingest(mail.line('surface', { surface: { ...surface, ...answering } }));
    const one = await page.get('server', 'servers/mail');
    expect(one).toMatchObject({ breaker: { state: 'closed', detail: 'well again' } });
    expect(await page.get('server', `servers/${encodeURIComponent('we/b %')}`)).toMatchObject({
      calls: 1,
    });
    const later = { calls: 0, tools: [{ calls: 0 }, { calls: 0 }] };
    expect(await page.get('server', `servers/mail?from_ms=${nowMs + 60_000}`)).toMatchObject(later);
    await page.get('server', 'servers/none', 404);
    const range = `from_ms=${nowMs - 10}&to_ms=${nowMs + 90}`;
    expect(await page.get('serverSeries', `servers/mail/series?${range}&buckets=2`)).toMatchObject({
      bucket_ms: 50,
      calls: [2, 0],
      refused: [1, 0],
      p50_ms: [40, null],
    });
    await page.get('serverSeries', 'servers/mail/series?from_ms=5&to_ms=5', 400);
    await page.get('serverSeries', 'servers/mail/series?buckets=501', 400);
  });

  it('say why pins cannot be trusted, and that a manifest is broken', async () => {
    const page = await pageHome();
    const shim = new Shim('m', { server: 'mail' }, Date.now());
    await page.live.ingest(shim.runStart(), ...shim.call('a'));
    mkdirSync(join(page.home, 'manifests'), { mode: 0o700 });
    writeFileSync(join(page.home, 'manifests', 'mail.yaml'), 'server: [', { mode: 0o600 });
    writeFileSync(join(page.home, 'pins.json'), '{}', { mode: 0o600 });
    expect(await page.get('servers', 'servers')).toMatchObject({
      pins_problem: expect.stringContaining('pins.json') as unknown,
      rows: [{ manifest: { state: 'broken', hash: null } }],
    });
    expect(await page.get('pinsDiff', 'pins/mail/diff', 500)).toMatchObject({
      error: { code: 'SUB_PINS_UNREADABLE' },
    });
  });
});

describe('the pins of the API', () => {
  it('show what was noticed, look at the server when told to, and accept what was shown', async () => {
    const page = await pageHome();
    await pinned(page, [SEND, READ]);
    const shim = new Shim('m', { server: 'mail' }, Date.now());
    const changed = {
      ...surface,
      what: 'tool_changed',
      name: 'send',
      detail: '`description`',
    } as const;
    await page.live.ingest(shim.runStart(), shim.line('surface', { surface: changed }));
    const before = {
      server_name: 'mail',
      is_pinned: true,
      changes: [{ tool_name: 'send' }],
      probe: null,
    };
    expect(await page.get('pinsDiff', 'pins/mail/diff')).toMatchObject(before);
    // Nothing was shown yet.
    const blind = { tools: [{ tool_name: 'send', seen: null, pinned: null }] };
    await page.post('pinsAccept', 'pins/mail/accept', { body: blind, status: 409 });

    shows(page, [HOSTILE, { ...READ, name: 'list' }]);
    const { probe } = (await page.post('pinsProbe', 'pins/mail/probe', {})) as ApiPinsDiff;
    expect(probe).toMatchObject({
      changed: true,
      first_sight: false,
      transport: 'stdio',
      tools_total: 3,
      tools: [
        { tool_name: 'send', kind: 'changed', fields: [{ path: 'description' }], acceptable: true },
        { tool_name: 'list', kind: 'added', pinned: null, before: null, acceptable: true },
        { tool_name: 'read', kind: 'removed', seen: null, after: null, acceptable: true },
      ],
      instructions: { kind: 'same', acceptable: true },
    });
    const [send, list] = probe?.tools ?? [];
    expect(JSON.parse(send?.after ?? '')).toEqual(HOSTILE);
    expect(JSON.parse(send?.before ?? '')).toEqual(SEND);
    // Nothing but the change differs in the texts: the server's order of fields is no change.
    const was = new Set(send?.before?.split('\n'));
    expect(send?.after?.split('\n').filter((line) => !was.has(line))).toEqual([
      `  "description": ${JSON.stringify(HOSTILE.description)},`,
    ]);
    const wish = (tool: typeof send) => ({
      tool_name: tool?.tool_name,
      seen: tool?.seen,
      pinned: tool?.pinned,
    });
    const kept = pins(page);
    const others = [
      { tools: [{ ...wish(send), seen: 'a'.repeat(64) }] },
      { tools: [wish(send), { ...wish(list), pinned: 'a'.repeat(64) }] },
      { tools: [{ ...wish(send), tool_name: 'none' }] },
      { tools: [], instructions: { seen: null, pinned: null } },
    ];
    for (const body of others) {
      const refused = await page.post('pinsAccept', 'pins/mail/accept', { body, status: 409 });
      expect(JSON.stringify(refused), JSON.stringify(body)).toContain('have changed since');
    }
    expect(pins(page)).toEqual(kept);

    // What the server shows by now is not what is accepted.
    shows(page, [{ ...SEND, description: 'Sends it elsewhere.' }]);
    const body = { tools: [wish(send)] };
    const accepted = await page.post('pinsAccept', 'pins/mail/accept', { body });
    expect(accepted).toMatchObject({
      accepted: ['send'],
      instructions: false,
      diff: {
        changes: [],
        probe: { tools: [{ tool_name: 'list' }, { tool_name: 'read' }, { kind: 'same' }] },
      },
    });
    expect(pins(page)?.tools.get('send')?.definition).toEqual(HOSTILE);
    expect([...(pins(page)?.tools.keys() ?? [])]).toEqual(['read', 'send']);
    // The pins are others now.
    await page.post('pinsAccept', 'pins/mail/accept', { body, status: 409 });
  });

  it('show a definition as the server wrote it, when its numbers would lose digits', async () => {
    const page = await pageHome();
    const text = '{"name":"send","inputSchema":{"maximum":9223372036854775807}}';
    const server = join(page.folder, 'raw.mjs');
    writeFileSync(server, rawServer(text));
    const entry = { command: process.execPath, args: [server] };
    writeFileSync(
      join(page.folder, '.claude.json'),
      JSON.stringify({ mcpServers: { mail: entry } }),
    );
    const { probe } = (await page.post('pinsProbe', 'pins/mail/probe', {})) as ApiPinsDiff;
    expect(probe?.tools).toMatchObject([{ kind: 'added', after: text, acceptable: true }]);
  });

  it('refuse what cannot be shown whole, and say that a server is not known', async () => {
    const page = await pageHome();
    const long = { ...READ, description: 'x'.repeat(300_000) };
    shows(page, [SEND, { ...SEND, description: 'Two.' }, long]);
    const { probe } = (await page.post('pinsProbe', 'pins/mail/probe', {})) as ApiPinsDiff;
    expect(probe).toMatchObject({
      first_sight: true,
      tools: [
        { kind: 'ambiguous', seen: null, acceptable: false },
        { kind: 'added', after: null, acceptable: false },
      ],
      instructions: { kind: 'added', after: 'Be brief.' },
    });
    const { seen = null, pinned: was = null } = probe?.tools[1] ?? {};
    const body = { tools: [{ tool_name: 'read', seen, pinned: was }] };
    const refused = await page.post('pinsAccept', 'pins/mail/accept', { body, status: 409 });
    expect(JSON.stringify(refused)).toContain('cannot be accepted here');
    expect(pins(page)).toBeUndefined();
    const { instructions } = probe ?? {};
    const words = { seen: instructions?.seen, pinned: instructions?.pinned };
    await page.post('pinsAccept', 'pins/mail/accept', { body: { tools: [], instructions: words } });
    expect(pins(page)?.instructions?.definition).toBe('Be brief.');
    const unknown = await page.post('pinsProbe', 'pins/none/probe', { status: 404 });
    expect(unknown).toMatchObject({ error: { code: 'SUB_SERVER_UNKNOWN' } });
  });
});

describe('the secrets of the API', () => {
  it('are names, bindings and places, and never a value', async () => {
    const page = await pageHome();
    expect(await page.get('secrets', 'secrets')).toEqual({
      store: { state: 'none', protection: null, problem: null },
      rows: [],
    });
    const value = 'sk-0123456789-very-secret';
    const options = { home: page.home, nowMs: Date.now };
    await addSecret(options, { name: 'mail_token', value, protect: 'file' });
    await addSecret(options, { name: 'oauth-grant.x', value });
    const binding = (lines: readonly string[]) =>
      ['[[servers.mail.secret_bindings]]', ...lines, ''].join('\n');
    writeFileSync(
      join(page.home, 'config.toml'),
      [
        binding([
          'inject_as = "TOKEN"',
          'secret_ref = "mail_token"',
          'source = "vault"',
          'command = ["node"]',
        ]),
        binding([
          'inject_as = "OTHER"',
          'secret_ref = "HOST_VAR"',
          'source = "env"',
          'redact = false',
        ]),
        binding(['inject_as = "GONE"', 'secret_ref = "gone"', 'source = "vault"']),
      ].join('\n'),
    );
    const shim = new Shim('m', { server: 'mail' }, Date.now());
    const used = { inject_as: 'TOKEN', secret_ref: 'mail_token', source: 'vault' } as const;
    await page.live.ingest(
      shim.line('secret_injection', { secret: { ...used, success: false } }),
      shim.line('secret_injection', { secret: { ...used, success: true } }),
    );
    const secrets = await page.get('secrets', 'secrets');
    const bound = { server_name: 'mail', redact: true };
    expect(secrets).toMatchObject({
      store: { state: 'there', protection: 'file' },
      rows: [
        {
          name: 'HOST_VAR',
          source: 'env',
          is_stored: null,
          bindings: [{ ...bound, redact: false }],
        },
        { name: 'gone', source: 'vault', is_stored: false, last_used_at_ms: null },
        {
          name: 'mail_token',
          is_stored: true,
          bindings: [{ ...bound, inject_as: 'TOKEN', bound_to: 'command' }],
          last_use_ok: true,
        },
        { name: 'oauth-grant.x', used_by_login: true, bindings: [] },
      ],
    });
    expect(JSON.stringify(secrets)).not.toContain(value);
    writeFileSync(join(page.home, 'vault.db'), 'x', { mode: 0o600 });
    expect(await page.get('secrets', 'secrets')).toMatchObject({ store: { state: 'unreadable' } });
  });
});
