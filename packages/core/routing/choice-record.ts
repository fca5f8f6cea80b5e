// What a choice was made from, as it is kept with the turn: enough to choose again.
import { type Infer, type Mismatch, parseAs, TRUST_TIER } from '@subluminal/contracts';
import type { Sha256 } from '../ports.ts';
import { choice, closed, list, may, must } from '../section-shape.ts';
import { seededNumbers } from './chacha8.ts';

const MEMBERS_MAX = 1_000;
const text = (lengthMin: number, lengthMax: number) => {
  return { kind: 'string', lengthMin, lengthMax } as const;
};
const whole = (min: number) => ({ kind: 'integer', min }) as const;
const name = text(1, 1_024);
const names = list(name, MEMBERS_MAX);

const TIER = choice(...TRUST_TIER.values);
const MEMBER = closed({
  endpoint_id: must(name),
  model: must(name),
  deployment: may(name),
  weight: must({ kind: 'number', min: 0 }),
  trust_tier: must(TIER),
  data_residency: must(name),
  supports: must(names),
  /** Its breaker let nothing pass. */
  is_open: must({ kind: 'boolean' }),
});
const CHOICE_RECORD = closed({
  version: must({ kind: 'integer', min: 1, max: 1 }),
  seed_key: must(name),
  attempt: must(whole(0)),
  constraints: must(
    closed({
      trust_tier: may(TIER),
      data_residency: may(names),
      capabilities: must(names),
    }),
  ),
  // The pool that was asked for, and those it falls back to, in their order.
  pools: must(
    list(
      closed({
        name: must(name),
        max_attempts: must(whole(1)),
        /** What the members of this pool were drawn with. */
        seed: must(text(32, 32)),
        members: must(list(MEMBER, MEMBERS_MAX)),
      }),
      MEMBERS_MAX,
    ),
  ),
  chain: must(
    list(
      closed({
        pool: must(name),
        endpoint_id: must(name),
        model: must(name),
        deployment: may(name),
      }),
      MEMBERS_MAX,
    ),
  ),
});

/** `routing_event.choice`. */
export type ChoiceRecord = Infer<typeof CHOICE_RECORD>;
export type ChoiceRecordInputs = Omit<ChoiceRecord, 'chain'>;
type RecordedPool = ChoiceRecord['pools'][number];
export type RecordedMember = Infer<typeof MEMBER>;
export type RecordedLink = ChoiceRecord['chain'][number];

/** A member that was drawn: the pool and the place in it. */
export interface Drawn {
  readonly poolNo: number;
  readonly memberNo: number;
}

const TRUST_ORDER = TRUST_TIER.values;
const SEED_HEX_LENGTH = 32;

/** The seed of one pool: 16 bytes in hex. */
export function poolSeed(
  { seed_key, attempt }: Pick<ChoiceRecord, 'seed_key' | 'attempt'>,
  poolName: string,
  sha256: Sha256,
): string {
  return sha256(`${seed_key}:${poolName}:${attempt}`).slice(0, SEED_HEX_LENGTH);
}

/** The members to try, in their order. */
export function drawChain(inputs: ChoiceRecordInputs): readonly Drawn[] {
  let chain: readonly Drawn[] = [];
  for (const [poolNo, pool] of [...inputs.pools.entries()].toReversed()) {
    const own = orderOf(pool)
      .filter((memberNo) => mayServe(pool.members[memberNo], inputs.constraints))
      .map((memberNo) => ({ poolNo, memberNo }));
    chain = distinct([...own, ...chain], inputs).slice(0, pool.max_attempts);
  }
  return chain;
}

/**
 * A weighted order without repetition (Efraimidis and Spirakis). Each member draws its own number, whether it
 * may serve or not, so that a breaker that opens moves no session but those of its own member.
 */
function orderOf({ seed, members }: RecordedPool): readonly number[] {
  const [only] = members;
  if (members.length === 1) return only !== undefined && only.weight > 0 ? [0] : [];
  const next = seededNumbers(seed);
  const drawn = members.map(({ weight }, memberNo) => {
    return { memberNo, wait: -Math.log(1 - next()) / weight };
  });
  return drawn
    .filter(({ wait }) => Number.isFinite(wait))
    .toSorted((a, b) => a.wait - b.wait)
    .map(({ memberNo }) => memberNo);
}

function mayServe(
  member: RecordedMember | undefined,
  constraints: ChoiceRecord['constraints'],
): boolean {
  return member !== undefined && !member.is_open && fits(member, constraints);
}

/** Whether an endpoint is trusted enough, in the right place, and able. */
export function fits(
  member: RecordedMember,
  { trust_tier, data_residency, capabilities }: ChoiceRecord['constraints'],
): boolean {
  const { supports } = member;
  return (
    TRUST_ORDER.indexOf(member.trust_tier) >= TRUST_ORDER.indexOf(trust_tier ?? 'vendor') &&
    (data_residency === undefined || data_residency.includes(member.data_residency)) &&
    capabilities.every((capability) => supports.includes(capability))
  );
}

/** What is the same call for the upstream. */
export function memberKey({
  endpoint_id,
  model,
  deployment = '',
}: Omit<RecordedLink, 'pool'>): string {
  return `${endpoint_id}\n${model}\n${deployment}`;
}

/** A fallback pool may hold a member again that has been tried before it. */
function distinct(chain: readonly Drawn[], inputs: ChoiceRecordInputs): readonly Drawn[] {
  const seen = new Set<string>();
  return chain.filter((drawn) => {
    const key = memberKey(linkOf(drawn, inputs));
    return !seen.has(key) && seen.add(key);
  });
}

export function linkOf({ poolNo, memberNo }: Drawn, { pools }: ChoiceRecordInputs): RecordedLink {
  const pool = pools[poolNo];
  const member = pool?.members[memberNo];
  if (pool === undefined || member === undefined)
    throw new Error('a member was drawn that is not there');
  const { endpoint_id, model, deployment } = member;
  return { pool: pool.name, endpoint_id, model, ...(deployment !== undefined && { deployment }) };
}

export type ReplayedChoice =
  | { readonly kind: 'same'; readonly chain: readonly RecordedLink[] }
  | {
      readonly kind: 'different';
      readonly chain: readonly RecordedLink[];
      /** What does not come out as it was recorded, as sentences. */
      readonly differences: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly problems: readonly string[] };

/** Chooses again from a record, and compares. */
export function replayChoice(value: unknown, sha256: Sha256): ReplayedChoice {
  const read = parseAs(CHOICE_RECORD, value);
  if (!read.ok) return { kind: 'unreadable', problems: read.mismatches.map(problemText) };
  const record = read.value;
  const pools = record.pools.map((pool) => ({
    ...pool,
    seed: poolSeed(record, pool.name, sha256),
  }));
  const inputs = { ...record, pools };
  const chain = drawChain(inputs).map((drawn) => linkOf(drawn, inputs));
  const differences = [
    ...pools.flatMap(({ name: poolName, seed }, index) => {
      const recorded = record.pools[index]?.seed;
      if (recorded === seed) return [];
      return [`The seed of pool ${poolName} is ${seed}, and ${recorded} was recorded.`];
    }),
    ...chainDifferences(chain, record.chain),
  ];
  return differences.length === 0
    ? { kind: 'same', chain }
    : { kind: 'different', chain, differences };
}

function problemText({ path, expected, got }: Mismatch): string {
  return `${path.join('.') || 'the record'}: expected ${expected}, found ${got}`;
}

function chainDifferences(
  chosen: readonly RecordedLink[],
  recorded: readonly RecordedLink[],
): readonly string[] {
  const length = Math.max(chosen.length, recorded.length);
  return Array.from({ length }, (_, index) => {
    const [now, before] = [chosen[index], recorded[index]].map(linkName);
    return now === before
      ? []
      : [`Attempt ${index + 1} goes to ${now}, and ${before} was recorded.`];
  }).flat();
}

function linkName(link: RecordedLink | undefined): string {
  if (link === undefined) return 'nothing';
  const { pool, endpoint_id, model, deployment } = link;
  const suffix = deployment === undefined ? '' : ` (${deployment})`;
  return `${endpoint_id}:${model}${suffix} of pool ${pool}`;
}
