import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { type Bundle, isFailure, type JsonObject, type SnapshotFile } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { canonicalize } from '../../json/index.ts';
import type { Signer, Verifier } from '../../ports.ts';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import { allow, budget, bundleOf, callOf, deny, jsonObject } from '../testing/scenario.ts';
import { openSnapshot, sealSnapshot } from './seal.ts';
import { compileBundle } from './snapshot.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function keyPair(keyId: string): { readonly signer: Signer; readonly verifier: Verifier } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    signer: { keyId, sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64') },
    verifier: {
      verify: (text, signature) =>
        signature.keyId === keyId &&
        verify(null, Buffer.from(text), publicKey, Buffer.from(signature.value, 'base64')),
    },
  };
}

const BUNDLE_ONE = bundleOf([
  deny('no-push', { tool_name: { glob: ['push'], regex: ['^force'] } }),
  deny('big', {}, 'args.n > 5'),
  budget('ten', { limit_calls: 10 }),
  allow('rest'),
]);

async function sealed(bundle: Bundle = BUNDLE_ONE, signer?: Signer): Promise<SnapshotFile> {
  return sealSnapshot(await compileBundle(bundle, { sha256 }), signer);
}

/** A file as it comes back from disk. */
function reread(file: SnapshotFile): JsonObject {
  return jsonObject(JSON.stringify(file));
}

function replaced(file: SnapshotFile, from: string, to: string): unknown {
  const text = JSON.stringify(file);
  expect(text).toContain(from);
  return JSON.parse(text.replaceAll(from, to));
}

describe('a compiled snapshot', () => {
  it('has the id, the version and the SHA-256 of its canonical bytes', async () => {
    verifies('IP-2.6');
    const { ref } = await compileBundle(BUNDLE_ONE, { sha256 });
    expect(ref).toMatchObject({ policy_id: 'tests', policy_version: '1' });
    expect(ref.policy_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('implies a rule about commands, which stands in no file', async () => {
    const bundle = bundleOf([deny('no-rm', { command: { program: ['rm'] } })]);
    const file = await sealed(bundle);
    expect(file.snapshot).toMatchObject({ commands: { opaque: 'ask' } });
    expect(file.snapshot.rules).toHaveLength(1);
    const opened = await openSnapshot(reread(file), { sha256 });
    if (isFailure(opened)) throw new Error(opened.message);
    expect(opened.rules.map(({ rule }) => rule.rule_id)).toEqual(['no-rm', 'commands:opaque']);
    const written = replaced(file, '"rule_id":"no-rm"', '"rule_id":"commands:opaque"');
    expect(await openSnapshot(written, { sha256 })).toMatchObject({ code: 'SUB_SNAPSHOT_HASH' });
  });

  it('keeps its hash when only words for people change', async () => {
    const hash = async (bundle: Bundle) =>
      (await compileBundle(bundle, { sha256 })).ref.policy_hash;
    const base = bundleOf([allow('a')]);
    const described = {
      ...bundleOf([{ ...allow('a'), description: 'why' }]),
      description: 'all about it',
      owner: 'team',
      created_at: '2026-01-01T00:00:00Z',
    };
    expect(await hash(described)).toBe(await hash(base));
    expect(await hash({ ...base, version: '2' })).not.toBe(await hash(base));
    expect(await hash({ ...base, mode: 'observe' })).not.toBe(await hash(base));
    expect(await hash(bundleOf([{ ...allow('a'), severity: 'info' }]))).not.toBe(await hash(base));
  });

  it('keeps its hash when keys and alternatives come in another order', async () => {
    const one = bundleOf([deny('d', { tool_name: { glob: ['a', 'b*'] } })]);
    const two = bundleOf([deny('d', { tool_name: { glob: ['b**', 'a'] } })]);
    const { rules, ...rest } = two;
    const turned: Bundle = { rules, ...rest };
    expect(Object.keys(turned)).not.toEqual(Object.keys(one));
    const [left, right] = [
      await compileBundle(one, { sha256 }),
      await compileBundle(turned, { sha256 }),
    ];
    expect(right.ref.policy_hash).toBe(left.ref.policy_hash);
  });

  it('throws on a pattern that should never have reached it', async () => {
    const bad = bundleOf([deny('d', { tool_name: { glob: ['['] } })]);
    await expect(compileBundle(bad, { sha256 })).rejects.toThrow('invalid pattern');
  });

  it('refuses what is no name, whatever the rules say', async () => {
    const snapshot = await compileBundle(bundleOf([allow('all')]), { sha256 });
    const state = initialState(snapshot);
    for (const name of ['', 'a\u0000b', 'shell_\nexec', '\u009b', 'x'.repeat(1_025)]) {
      for (const call of [callOf({ tool_name: name }), callOf({ server_name: name })]) {
        expect(decide(snapshot, call, state, 0).decision).toMatchObject({
          action: 'BLOCK',
          reason_code: 'INVALID_NAME',
        });
      }
    }
    expect(
      decide(snapshot, callOf({ tool_name: 'x'.repeat(1_024) }), state, 0).decision.action,
    ).toBe('ALLOW');
  });

  it('decides the same for any number of names', async () => {
    const snapshot = await compileBundle(bundleOf([deny('d', { tool_name: { glob: ['x*'] } })]), {
      sha256,
    });
    const state = initialState(snapshot);
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 3_000; index++) {
        const tool_name = `${index % 2 === 0 ? 'x' : 'y'}${index}`;
        const { action } = decide(snapshot, callOf({ tool_name }), state, 0).decision;
        expect(action).toBe(index % 2 === 0 ? 'BLOCK' : 'ALLOW');
      }
    }
    expect(snapshot.candidates.size).toBeLessThanOrEqual(1_024);
  });
});

describe('a snapshot file', () => {
  it('opens to what was sealed', async () => {
    const file = await sealed();
    const opened = await openSnapshot(reread(file), { sha256 });
    if (isFailure(opened)) throw new Error(opened.message);
    expect(opened.ref.policy_hash).toBe(file.policy_hash);
    expect(sealSnapshot(opened)).toEqual(file);
    for (const [tool_name, n, action] of [
      ['push', 0, 'BLOCK'],
      ['force_push', 0, 'BLOCK'],
      ['pull', 6, 'BLOCK'],
      ['pull', 5, 'ALLOW'],
    ] as const) {
      const call = callOf({ tool_name, args: { n } });
      const { decision } = decide(opened, call, initialState(opened), 0);
      expect(decision.action).toBe(action);
    }
  });

  it.each([
    ['"limit_calls":10', '"limit_calls":11'],
    ['"BLOCK","reason_code":"DENYLIST_MATCH"', '"BLOCK","reason_code":"OTHER"'],
    ['no-push', 'no-pull'],
    ['^force', '^farce'],
    ['args.n > 5', 'args.n > 6'],
    ['"enabled":true', '"enabled":false'],
    ['"mode":"guardrails"', '"mode":"observe"'],
    ['"version":"1"', '"version":"2"'],
    ['"decision_on_error":"BLOCK"', '"decision_on_error":"ALLOW"'],
  ])('is refused when %s has become %s', async (from, to) => {
    const tampered = replaced(await sealed(), from, to);
    expect(await openSnapshot(tampered, { sha256 })).toMatchObject({
      kind: 'failure',
      code: 'SUB_SNAPSHOT_HASH',
    });
  });

  it('is refused when a rule is gone', async () => {
    const file = await sealed();
    const rules = file.snapshot.rules.slice(1);
    const tampered = { ...file, snapshot: { ...file.snapshot, rules } };
    expect(await openSnapshot(tampered, { sha256 })).toMatchObject({ code: 'SUB_SNAPSHOT_HASH' });
  });

  it.each([
    ['nothing', null],
    ['a text', 'text'],
    ['a list', []],
    ['no snapshot', { policy_hash: 'x' }],
    ['no hash', { snapshot: {} }],
    ['another format', { snapshot: { format: 'subluminal.snapshot.v2' }, policy_hash: 'x' }],
    ['no format', { snapshot: {}, policy_hash: 'x' }],
    ['no bundle in it', { snapshot: { format: 'subluminal.snapshot.v1' }, policy_hash: 'x' }],
  ])('is refused when it is %s', async (_what, file) => {
    expect(await openSnapshot(file, { sha256 })).toMatchObject({
      kind: 'failure',
      code: 'SUB_SNAPSHOT_FORMAT',
    });
  });

  it('is refused when it has a field nobody knows', async () => {
    const file = await sealed();
    const strange = { ...file, snapshot: { ...file.snapshot, extra: 1 } };
    expect(await openSnapshot(strange, { sha256 })).toMatchObject({ code: 'SUB_SNAPSHOT_FORMAT' });
  });

  it('is refused, not thrown, when its hash is right and its pattern is not', async () => {
    const file = await sealed(bundleOf([deny('d', { tool_name: { glob: ['ok'] } })]));
    const broken = JSON.stringify(file.snapshot).replace('"ok"', '"["');
    const snapshot = jsonObject(broken);
    // The canonical bytes are known here only through the compiler, so any hash is accepted.
    const anyHash = () => file.policy_hash;
    expect(await openSnapshot({ ...file, snapshot }, { sha256: anyHash })).toMatchObject({
      kind: 'failure',
      code: 'SUB_SNAPSHOT_FORMAT',
    });
  });
});

describe('a snapshot file made by hand', () => {
  /** Seals a document with a hash that fits, as somebody with a text editor could. */
  async function handMade(change: (document: JsonObject) => unknown): Promise<unknown> {
    const file = await sealed();
    const snapshot = jsonObject(JSON.stringify(file.snapshot));
    const changed = jsonObject(JSON.stringify({ ...snapshot, ...Object(change(snapshot)) }));
    const written = canonicalize(JSON.stringify(changed));
    return { snapshot: changed, policy_hash: written.ok ? sha256(written.canonical) : '' };
  }
  const base = { enabled: true, severity: 'warn', match: {} };

  it.each([
    [
      'an approval without its time',
      {
        ...base,
        kind: 'approval',
        rule_id: 'a',
        effect: { approval: { wait: 'hold' }, reason_code: 'X' },
      },
    ],
    [
      'a description',
      {
        ...base,
        kind: 'tag',
        rule_id: 'a',
        description: 'x',
        effect: { tag: { add_risk_class: ['x'] } },
      },
    ],
    [
      'a bad glob in a rule that is off',
      {
        ...base,
        enabled: false,
        match: { tool_name: { glob: ['['] } },
        kind: 'tag',
        rule_id: 'a',
        effect: { tag: { add_risk_class: ['x'] } },
      },
    ],
    [
      'a budget without a limit',
      {
        ...base,
        kind: 'budget',
        rule_id: 'a',
        effect: {
          budget: { cost_units_per_call: 1, on_exceed: 'BLOCK', scope: 'run' },
          reason_code: 'X',
        },
      },
    ],
  ])('is refused with %s', async (_what, rule) => {
    const file = await handMade(() => ({ rules: [rule] }));
    expect(await openSnapshot(file, { sha256 })).toMatchObject({ code: 'SUB_SNAPSHOT_FORMAT' });
  });

  it('opens when it says what a compiled one would', async () => {
    expect(isFailure(await openSnapshot(await handMade(() => ({})), { sha256 }))).toBe(false);
  });
});

describe('a signed snapshot file', () => {
  const ours = keyPair('ours');
  const theirs = keyPair('theirs');

  it('opens when a trusted key signed it', async () => {
    const file = reread(await sealed(BUNDLE_ONE, ours.signer));
    const opened = await openSnapshot(file, { sha256, verifier: ours.verifier });
    expect(isFailure(opened)).toBe(false);
  });

  it('opens without a verifier, which only asks for the hash', async () => {
    const file = reread(await sealed(BUNDLE_ONE, theirs.signer));
    expect(isFailure(await openSnapshot(file, { sha256 }))).toBe(false);
  });

  it.each([
    ['is not signed', undefined],
    ['is signed by another key', theirs.signer],
    ['is signed by another key under our name', { ...theirs.signer, keyId: 'ours' }],
  ])('is refused when it %s', async (_what, signer) => {
    const file = reread(await sealed(BUNDLE_ONE, signer));
    expect(await openSnapshot(file, { sha256, verifier: ours.verifier })).toMatchObject({
      kind: 'failure',
      code: 'SUB_SNAPSHOT_SIGNATURE',
    });
  });

  it('is refused when the signature belongs to another snapshot', async () => {
    const other = await sealed(bundleOf([allow('all')]), ours.signer);
    const file = { ...(await sealed()), signature: other.signature };
    expect(await openSnapshot(file, { sha256, verifier: ours.verifier })).toMatchObject({
      code: 'SUB_SNAPSHOT_SIGNATURE',
    });
  });

  it('is refused when its content was changed and its hash made to fit', async () => {
    const signed = await sealed(BUNDLE_ONE, ours.signer);
    const forged = await sealed(bundleOf([allow('all')]));
    const file = { ...forged, signature: signed.signature };
    expect(await openSnapshot(file, { sha256, verifier: ours.verifier })).toMatchObject({
      code: 'SUB_SNAPSHOT_SIGNATURE',
    });
  });

  it('is refused when the signature is over the bare bytes', async () => {
    let bytes = '';
    const spy = (text: string) => {
      bytes = text;
      return sha256(text);
    };
    const file = sealSnapshot(await compileBundle(BUNDLE_ONE, { sha256: spy }));
    const signature = { alg: 'ed25519', key_id: 'ours', value: ours.signer.sign(bytes) };
    const opened = await openSnapshot({ ...file, signature }, { sha256, verifier: ours.verifier });
    expect(opened).toMatchObject({ code: 'SUB_SNAPSHOT_SIGNATURE' });
  });

  it.each([
    ['text', 'abc'],
    ['null', null],
    ['another algorithm', { alg: 'rsa', key_id: 'ours', value: 'x' }],
    ['no value', { alg: 'ed25519', key_id: 'ours' }],
  ])('is refused when its signature is %s', async (_what, signature) => {
    const file = { ...(await sealed()), signature };
    for (const options of [{ sha256 }, { sha256, verifier: ours.verifier }]) {
      expect(await openSnapshot(file, options)).toMatchObject({ code: 'SUB_SNAPSHOT_SIGNATURE' });
    }
  });
});
