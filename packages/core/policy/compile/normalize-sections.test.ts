import { createHash } from 'node:crypto';
import {
  type Bundle,
  CONTENT_DEFAULTS,
  type ContentSection,
  isFailure,
  TAINT_DEFAULTS,
  type TaintSection,
} from '@subluminal/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bundleOf, deny } from '../testing/scenario.ts';
import { normalizeBundle } from './normalize.ts';
import { openSnapshot, sealSnapshot } from './seal.ts';
import { compileBundle } from './snapshot.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const PLAIN = bundleOf([deny('no')]);

async function hashOf(sections: Partial<Bundle>): Promise<string> {
  return (await compileBundle({ ...PLAIN, ...sections }, { sha256 })).ref.policy_hash;
}

const WHOLE: Partial<Bundle> = {
  content: { outbound: { secret: 'ask' }, suppressions: [] },
  taint: {
    sources: [{ server: 'crm**', trust: 'trusted' }],
    sinks: [{ kind: 'path', args: ['b', 'a', 'b'] }],
    allow: { hosts: ['b', 'a**'] },
    rule_of_two: { mode: 'ask' },
  },
};

const glob = fc.constantFrom('a', 'b**', '{c,d}', '*', '\\**');
const globs = fc.array(glob, { minLength: 1, maxLength: 4 });
const kept = { requiredKeys: [] };
const anyContent: fc.Arbitrary<ContentSection> = fc.record(
  {
    outbound: fc.record({ secret: fc.constantFrom('ask', 'tag') }, kept),
    unscanned: fc.constantFrom('allow', 'block'),
    approval: fc.constantFrom({ wait: 'hint' }, { wait: 'hold', timeout_ms: 5 }),
    suppressions: fc.array(
      fc.record({
        expires: fc.constant('2027-01-01T00:00:00Z'),
        rule: fc.constantFrom('iban', 'email'),
        tool: fc.constantFrom('x', 'y'),
        server: fc.constant('s'),
        fingerprint: fc.constantFrom('f', 'g'),
      }),
    ),
  },
  kept,
);
const anyTaint: fc.Arbitrary<TaintSection> = fc.record(
  {
    sources: fc.array(
      fc.record({ trust: fc.constantFrom('trusted', 'untrusted'), server: glob, tool: glob }),
    ),
    sinks: fc.array(
      fc.record(
        { tool: glob, args: globs, kind: fc.constantFrom('url', 'path') },
        { requiredKeys: ['args', 'kind'] },
      ),
    ),
    by_shape: fc.array(fc.constantFrom('url', 'path', 'recipient'), { maxLength: 3 }),
    allow: fc.record({ urls: globs, emails: globs }, kept),
    rule_of_two: fc.record(
      {
        tools: fc.array(
          fc.record({ adds: fc.subarray(['private_data', 'untrusted_input']), server: glob }),
        ),
        mode: fc.constantFrom('ask', 'off'),
      },
      { requiredKeys: ['mode'] },
    ),
  },
  kept,
);

describe('the sections of a compiled policy', () => {
  it('have every default written out, and globs in one spelling', () => {
    expect(normalizeBundle({ ...PLAIN, ...WHOLE })).toMatchObject({
      content: {
        ...CONTENT_DEFAULTS,
        outbound: { ...CONTENT_DEFAULTS.outbound, secret: 'ask' },
      },
      taint: {
        ...TAINT_DEFAULTS,
        sources: [{ server: 'crm*', trust: 'trusted' }],
        sinks: [{ kind: 'path', args: ['a', 'b'] }],
        allow: { hosts: ['a*', 'b'] },
        rule_of_two: { mode: 'ask', tools: [] },
      },
    });
  });

  it('are not there when the bundle has none, so its hash stays', () => {
    const document = normalizeBundle(PLAIN);
    expect(document).not.toHaveProperty('content');
    expect(document).not.toHaveProperty('taint');
  });

  it('are covered by the hash', async () => {
    const hashes = await Promise.all(
      [
        {},
        { content: {} },
        { content: { unscanned: 'block' } },
        { taint: {} },
        { taint: { on_taint: 'tag' } },
        { content: {}, taint: {} },
      ].map((sections) => hashOf(sections as Partial<Bundle>)),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('have one hash, whether a default is written or not, and in whatever order', async () => {
    expect(await hashOf({ content: CONTENT_DEFAULTS })).toBe(await hashOf({ content: {} }));
    expect(await hashOf({ taint: TAINT_DEFAULTS })).toBe(await hashOf({ taint: {} }));
    const sinks = [
      { kind: 'path', args: ['a'] },
      { args: ['b'], kind: 'url' },
    ] as const;
    expect(await hashOf({ taint: { sinks } })).toBe(
      await hashOf({ taint: { sinks: sinks.toReversed() } }),
    );
  });

  it('stay the same when they are normalised again', () => {
    fc.assert(
      fc.property(anyContent, anyTaint, (one, other) => {
        const { format, ...once } = normalizeBundle({
          ...PLAIN,
          content: one,
          taint: other,
        });
        expect(JSON.stringify(normalizeBundle(once))).toBe(JSON.stringify({ format, ...once }));
      }),
    );
  });

  it('survive the file that a snapshot travels in', async () => {
    const snapshot = await compileBundle({ ...PLAIN, ...WHOLE }, { sha256 });
    const file: unknown = JSON.parse(JSON.stringify(sealSnapshot(snapshot)));
    const opened = await openSnapshot(file, { sha256 });
    expect(opened).toMatchObject({ document: snapshot.document });
  });

  it.each<[string, Partial<Bundle>, string]>([
    [
      'a glob that does not compile',
      { taint: { allow: { hosts: ['{a'] } } },
      'taint.allow.hosts.0',
    ],
    [
      'a suppression that is a pattern',
      {
        content: {
          suppressions: [
            {
              rule: 'iban',
              server: '*',
              tool: 't',
              fingerprint: 'f',
              expires: '2027-01-01T00:00:00Z',
            },
          ],
        },
      },
      'content.suppressions.0.server',
    ],
  ])('may not say in a snapshot what a bundle may not: %s', async (_, sections, where) => {
    const snapshot = await compileBundle({ ...PLAIN, ...sections }, { sha256 });
    const opened = await openSnapshot(sealSnapshot(snapshot), { sha256 });
    expect(opened).toMatchObject({ kind: 'failure', code: 'SUB_SNAPSHOT_FORMAT' });
    expect(isFailure(opened) ? opened.message : '').toContain(where);
  });

  it('are refused in a snapshot when a default is left out', async () => {
    const snapshot = await compileBundle({ ...PLAIN, content: {} }, { sha256 });
    const { content: _content, ...rest } = snapshot.document;
    const document = { ...rest, content: { unscanned: 'tag' } };
    const file = { snapshot: document, policy_hash: snapshot.ref.policy_hash };
    expect(await openSnapshot(file, { sha256 })).toMatchObject({
      kind: 'failure',
      code: 'SUB_SNAPSHOT_FORMAT',
    });
  });
});
