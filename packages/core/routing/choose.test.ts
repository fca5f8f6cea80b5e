import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { type ChoiceInput, chooseChain, constraintsOf, replayChoice } from './index.ts';
import type { Capability, Endpoint, Pool } from './types.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function endpoint(
  id: string,
  [trustTier, dataResidency]: readonly [Endpoint['trustTier'], string],
  supports: readonly Capability[] = ['streaming', 'tools'],
): Endpoint {
  return {
    id,
    provider: 'openai_compat',
    url: `https://${id}.test/v1`,
    teamKeyRefs: {},
    dataResidency,
    trustTier,
    supports: new Set(supports),
    deployments: [],
    concurrencyMax: 10,
  };
}

function pool(
  name: string,
  members: readonly (readonly [string, string, number])[],
  over: Partial<Pool> = {},
): Pool {
  return {
    name,
    members: members.map(([endpointId, model, weight]) => ({ endpointId, model, weight })),
    attemptsMax: 3,
    timeoutMs: 60_000,
    outputTokensMax: 8_192,
    ...over,
  };
}

const byKey = <T>(items: readonly T[], key: (item: T) => string) => {
  return new Map(items.map((item) => [key(item), item]));
};

const ENDPOINTS = byKey(
  [
    endpoint('anthropic', ['vendor', 'us'], ['streaming', 'tools', 'cache_control']),
    endpoint('openai', ['vendor', 'us']),
    endpoint('litellm', ['partner', 'us']),
    endpoint('azure', ['private', 'eu']),
    endpoint('ollama', ['private', 'on_prem'], ['streaming']),
  ],
  ({ id }) => id,
);

const POOLS = byKey(
  [
    pool(
      'cheap',
      [
        ['openai', 'mini', 70],
        ['ollama', 'qwen', 30],
      ],
      {
        fallbackPool: 'standard',
        attemptsMax: 2,
      },
    ),
    pool(
      'standard',
      [
        ['anthropic', 'sonnet', 60],
        ['openai', 'gpt', 40],
      ],
      { fallbackPool: 'strong' },
    ),
    pool('strong', [
      ['anthropic', 'opus', 80],
      ['azure', 'gpt', 20],
    ]),
    pool('circle', [['openai', 'gpt', 1]], { fallbackPool: 'round', attemptsMax: 9 }),
    pool(
      'round',
      [
        ['openai', 'gpt', 1],
        ['openai', 'o3', 1],
      ],
      { fallbackPool: 'circle', attemptsMax: 9 },
    ),
    pool('one', [['azure', 'gpt', 1]], { attemptsMax: 1 }),
    pool('unregistered', [['nowhere', 'gpt', 1]]),
  ],
  ({ name }) => name,
);

const input = (over: Partial<ChoiceInput>): ChoiceInput => ({
  pools: POOLS,
  endpoints: ENDPOINTS,
  pool: 'standard',
  constraints: { capabilities: [] },
  seedKey: 'session-1',
  isOpen: () => false,
  sha256,
  ...over,
});

function names(over: Partial<ChoiceInput>): readonly string[] | string {
  const choice = chooseChain(input(over));
  if (choice.kind === 'none') return choice.reason;
  return choice.chain.map(
    ({ pool: from, endpoint: { id }, member: { model } }) => `${from.name} ${id}:${model}`,
  );
}

test('a chain has the members of the pool, then those of its fallback, cut to its attempts', () => {
  const chain = names({ pool: 'standard' });
  expect(chain).toHaveLength(3);
  expect(chain.slice(0, 2)).toEqual(
    expect.arrayContaining(['standard anthropic:sonnet', 'standard openai:gpt']),
  );
  expect(chain[2]).toMatch(/^strong /);
  expect(names({ pool: 'one' })).toEqual(['one azure:gpt']);
  expect(names({ pool: 'cheap' })).toHaveLength(2);
});

test('pools that fall back to each other end, and a member is tried once', () => {
  expect(names({ pool: 'circle' })).toEqual(['circle openai:gpt', 'round openai:o3']);
});

test.each<[string, Partial<ChoiceInput>, readonly string[] | string]>([
  ['a pool that is not there', { pool: 'none' }, 'routing_unknown_pool'],
  [
    'a member that is not registered',
    { pool: 'unregistered' },
    'routing_no_candidate_after_constraints',
  ],
  [
    'more trust than any member has',
    { constraints: { trustTier: 'private', capabilities: [] } },
    ['strong azure:gpt'],
  ],
  [
    'a place where no member is',
    { constraints: { residency: ['on_prem'], capabilities: [] } },
    'routing_no_candidate_after_constraints',
  ],
  [
    'one of two places',
    { pool: 'strong', constraints: { residency: ['eu', 'on_prem'], capabilities: [] } },
    ['strong azure:gpt'],
  ],
  [
    'a capability that the fallback has',
    { pool: 'cheap', constraints: { capabilities: ['cache_control', 'tools'] } },
    ['standard anthropic:sonnet', 'strong anthropic:opus'],
  ],
  [
    'a capability that nobody has',
    { constraints: { capabilities: ['images'] } },
    'routing_no_candidate_after_constraints',
  ],
  [
    'a breaker that is open',
    { pool: 'strong', isOpen: (id, model) => id === 'anthropic' && model === 'opus' },
    ['strong azure:gpt'],
  ],
  ['all breakers open', { isOpen: () => true }, 'routing_all_breakers_open'],
  [
    'all breakers open, and nothing that would fit',
    { isOpen: () => true, constraints: { capabilities: ['images'] } },
    'routing_no_candidate_after_constraints',
  ],
])('constraints and breakers filter before weights: %s', (_, over, expected) => {
  expect(names(over)).toEqual(expected);
});

test('a session stays with its member, and its attempts and pools draw for themselves', () => {
  expect(names({})).toEqual(names({}));
  const firsts = Array.from({ length: 40 }, (_, attempt) => names({ attempt })[0]);
  expect(new Set(firsts).size).toBe(2);
});

test('a breaker that opens moves only the sessions of its own member', () => {
  const three = byKey(
    [
      pool('p', [
        ['anthropic', 'a', 1],
        ['openai', 'b', 1],
        ['azure', 'c', 1],
      ]),
    ],
    ({ name }) => name,
  );
  for (let session = 0; session < 200; session += 1) {
    const same = { pools: three, pool: 'p', seedKey: `s${session}` };
    const before = names(same);
    const after = names({ ...same, isOpen: (id) => id === 'openai' });
    expect(after).toEqual([...before].filter((one) => !one.includes('openai')));
  }
});

test('weights hold over many sessions', () => {
  const sessions = 4_000;
  const first = Array.from({ length: sessions }, (_, no) => names({ seedKey: `session-${no}` })[0]);
  const share = first.filter((name) => name === 'standard anthropic:sonnet').length / sessions;
  expect(share).toBeGreaterThan(0.57);
  expect(share).toBeLessThan(0.63);
});

test('a choice is made again from its record, after a way through JSON', () => {
  verifies('R-13');
  const pools = fc.constantFrom('cheap', 'standard', 'strong', 'circle', 'one', 'none');
  const open = fc.subarray(['anthropic', 'openai', 'azure', 'ollama']);
  const tier = fc.constantFrom('vendor', 'partner', 'private', undefined);
  fc.assert(
    fc.property(
      pools,
      open,
      tier,
      fc.string({ minLength: 1 }),
      (name, broken, trustTier, seedKey) => {
        const constraints = { capabilities: ['streaming'], ...(trustTier && { trustTier }) };
        const isOpen = (id: string) => broken.some((one) => one === id);
        const choice = chooseChain(input({ pool: name, constraints, isOpen, seedKey }));
        const replayed = replayChoice(JSON.parse(JSON.stringify(choice.record)), sha256);
        expect(replayed).toEqual({ kind: 'same', chain: choice.record.chain });
      },
    ),
  );
});

test('the record names the seed: the hash of session, pool and attempt', () => {
  verifies('R-13');
  const { record } = chooseChain(input({ attempt: 2 }));
  expect(record.pools.map(({ seed }) => seed)).toEqual([
    sha256('session-1:standard:2').slice(0, 32),
    sha256('session-1:strong:2').slice(0, 32),
  ]);
});

test('a record that was changed does not replay, and says where', () => {
  const { record } = chooseChain(input({}));
  const [first, ...rest] = record.chain;
  const changed = { ...record, chain: [...rest, first] };
  const replayed = replayChoice(changed, sha256);
  expect(replayed).toMatchObject({ kind: 'different', chain: record.chain });
  expect(replayed.kind === 'different' && replayed.differences[0]).toMatch(
    /^Attempt 1 goes to .* was recorded\.$/,
  );
  const seeds = record.pools.map((one) => ({ ...one, seed: '0'.repeat(32) }));
  expect(replayChoice({ ...record, pools: seeds }, sha256)).toMatchObject({
    differences: [expect.stringMatching(/^The seed of pool standard is/), expect.anything()],
  });
});

test.each([null, {}, { version: 2 }, 'x', []])('what is no record is not replayed: %j', (value) => {
  const replayed = replayChoice(value, sha256);
  expect(replayed.kind).toBe('unreadable');
  expect(replayed.kind === 'unreadable' && replayed.problems[0]).toMatch(/expected/);
});

test('a decision becomes constraints; what it leaves empty is no constraint', () => {
  const decision = {
    primary_action: 'route',
    modifiers: [],
    side_effects: [],
    reasons: [],
  } as const;
  expect(constraintsOf({ ...decision, required_data_residency: [] })).toEqual({ capabilities: [] });
  expect(
    constraintsOf({
      ...decision,
      required_trust_tier: 'partner',
      required_data_residency: ['eu'],
      required_capabilities: ['tools'],
    }),
  ).toEqual({ trustTier: 'partner', residency: ['eu'], capabilities: ['tools'] });
});
