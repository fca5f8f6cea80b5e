import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { GMAIL_YAML, manifestOf, problemsOf, sha256 } from '../gmail.test-support.ts';
import { compileManifest } from './compile.ts';
import { toolRule } from './lookup.ts';

describe('a manifest', () => {
  it('puts each tool of the mail server in its tier', async () => {
    verifies('ST-8.3.1', 'ST-4-ring1');
    const manifest = await manifestOf(GMAIL_YAML);
    const tierOf = (tool: string) => toolRule(manifest, tool).tier;
    expect(tierOf('gmail.search')).toBe('auto_execute');
    expect(tierOf('gmail.send')).toBe('human_approval');
    expect(tierOf('gmail.delete')).toBe('forbidden');
    expect(toolRule(manifest, 'gmail.modify_labels')).toMatchObject({
      tier: 'forbidden',
      listed: false,
    });
    expect(manifest.breaker).toEqual({
      errorThreshold: 5,
      errorWindowMs: 60_000,
      latencyThresholdMs: 30_000,
      recoveryTimeoutMs: 120_000,
      recoveryProbes: 3,
      maxRecoveryBackoffMs: 900_000,
    });
  });

  it('reads the tiers of a permission manifest, and the strictest tier wins', async () => {
    verifies('ST-4-ring1');
    const manifest = await manifestOf(`
server: assistant
tiers:
  auto_execute: { actions: [calendar.read, "memory.*"], constraints: { rate_limit: 60/minute } }
  log_and_execute: { actions: [note.create] }
  human_approval:
    actions: [email.send, memory.write]
    confirmation: { channel: same_as_request, show: [action, params], timeout: 5m }
  forbidden: { actions: ["*.bulk_delete", memory.wipe] }
allowed_tools:
  - { name: memory.wipe, allowed: true }
`);
    const tierOf = (tool: string) => toolRule(manifest, tool).tier;
    expect(tierOf('calendar.read')).toBe('auto_execute');
    expect(tierOf('note.create')).toBe('log_and_execute');
    expect(tierOf('email.send')).toBe('human_approval');
    expect(tierOf('memory.write')).toBe('human_approval');
    expect(tierOf('memory.wipe')).toBe('forbidden');
    expect(tierOf('data.bulk_delete')).toBe('forbidden');
    expect(tierOf('unheard.of')).toBe('forbidden');
    expect(toolRule(manifest, 'email.send').confirmation).toEqual({
      channel: 'same_as_request',
      show: ['action', 'params'],
      timeoutMs: 300_000,
    });
  });

  it('prefers a name to a glob, and the first glob to the next', async () => {
    const manifest = await manifestOf(`
server: s
default: auto_execute
allowed_tools:
  - { name: "file.*", allowed: false }
  - { name: "file.r*", requires_approval: true }
  - { name: file.read }
  - { name: "odd\\\\*name", requires_approval: true }
`);
    expect(toolRule(manifest, 'file.read').tier).toBe('auto_execute');
    expect(toolRule(manifest, 'file.rename').tier).toBe('forbidden');
    expect(toolRule(manifest, 'odd*name').tier).toBe('human_approval');
    expect(toolRule(manifest, 'odd-other-name').tier).toBe('auto_execute');
  });

  it('has one hash for one meaning, and another for another', async () => {
    const { manifest_hash: hash } = await manifestOf('server: s\nallowed_tools:\n  - name: a\n');
    const spelled =
      '# words\nallowed_tools: [{ allowed: true, name: "a" }]\nserver: s\ndefault: deny';
    expect((await manifestOf(spelled)).manifest_hash).toBe(hash);
    const other = await manifestOf('server: s\nallowed_tools:\n  - name: b\n');
    expect(other.manifest_hash).not.toBe(hash);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['server: s\nallowed_tool: []', 'did you mean `allowed_tools`?'],
    ['server: s\nallowed_tools: [{ name: a, ratelimit: 3/minute }]', 'did you mean `rate_limit`?'],
    ['server: s\nallowed_tools: [{ name: a, tier: forbidden }]', 'did you mean `permission_tier`?'],
    [
      'server: s\nallowed_tools: [{ name: a, permission_tier: auto }]',
      'expected one of auto_execute',
    ],
    ['allowed_tools: []', 'missing `server`'],
    ['server: s\nallowed_tools: [{ name: a, rate_limit: fast }]', '`fast` is no rate'],
    ['server: s\nallowed_tools: [{ name: a, rate_limit: 0/minute }]', '`0/minute` is no rate'],
    ['server: s\nallowed_tools: [{ name: a, cooldown: 5 minuets }]', 'is no duration'],
    ['server: s\nallowed_tools: [{ name: a, rate_limit: 30 }]', 'Write `30/minute`'],
    ['server: s\ncircuit_breaker: { error_window: 60 }', 'Write `60s`'],
    ['server: s\ncircuit_breaker: { error_window: "60" }', 'Write `60s`'],
    ['server: s\ncircuit_breaker: { error_window: -1.5 }', 'expected a duration with its unit'],
    ['server: s\nallowed_tools: [{ name: "a[", allowed: true }]', 'is no glob'],
    ['server: s\nallowed_tools: [{ name: a }, { name: a }]', 'is listed twice'],
    [
      'server: s\nallowed_tools: [{ name: a, requires_approval: true, permission_tier: auto_execute }]',
      'requires approval, but its tier is `auto_execute`',
    ],
    [
      'server: s\nallowed_tools: [{ name: a, allowed: true, permission_tier: forbidden }]',
      'is allowed, but',
    ],
    [
      'server: s\nallowed_tools: [{ name: a, hours: { from: "9:00", to: "17:00" } }]',
      '`from` is no time',
    ],
    [
      'server: s\nallowed_tools: [{ name: a, hours: { from: "09:00", to: "09:00" } }]',
      '`to` is no time',
    ],
    ['server: s\nschema_rewrites: { a: { constrain_params: { n: {} } } }', 'has no limit'],
    [
      'server: s\nschema_rewrites: { a: { constrain_params: { n: { maximum: 1, minimum: 2 } } } }',
      'nothing passes',
    ],
    [
      'server: s\nschema_rewrites: { a: { constrain_params: { n: { pattern: "(" } } } }',
      'is no expression',
    ],
    ['server: s\ncircuit_breaker: { recovery_timeout: 1h }', 'shorter than `recovery_timeout`'],
    ['', 'the file holds no manifest'],
    ['- a', 'a manifest is an object'],
    ['server: s\nserver: t', 'is given twice'],
  ])('refuses %j', async (text, words) => {
    const problems = await problemsOf(text);
    expect(problems.join('\n')).toContain(words);
    expect(problems.join('\n')).not.toMatch(/bundle|policy/);
    expect(problems[0]).toMatch(/^m\.yaml:\d+:\d+: error: .* \[SUB_MANIFEST_\w+\]$/);
  });

  it('that is wrong is reported with its line and column', async () => {
    const [problem] = await problemsOf('server: s\nallowed_tools:\n  - name: a\n    allow: true\n');
    expect(problem).toMatch(/^m\.yaml:4:5: error: unknown field `allow`; did you mean `allowed`\?/);
  });

  it('compiles or is refused, whatever its text', async () => {
    const part = fc.constantFrom(
      'server: s\n',
      'allowed_tools:\n',
      '  - name: "a*"\n',
      '    hours: { from: "22:00", to: "06:00" }\n',
      'blocked_params: [{ pattern: "*.x" }]\n',
      '__proto__: { server: s }\n',
      'schema_rewrites: { __proto__: { strip_params: [a] } }\n',
      '&a [*a]\n',
      '\u0000',
    );
    const text = fc
      .array(fc.oneof(part, fc.string()), { maxLength: 8 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (source) => {
        const result = await compileManifest({ file: 'm.yaml', text: source }, { sha256 });
        expect(result.ok || result.problems.length > 0).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
