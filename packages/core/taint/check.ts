// Finds the arguments at sinks of a call whose values came from untrusted content.
import { isObject } from '@subluminal/contracts';
import { formatPath } from '../source/problem.ts';
import { isReading } from '../surface/names/tool-verbs.ts';
import { type Chain, chainsOf, shapesOf } from './chains.ts';
import type { TaintPolicy } from './compile-policy.ts';
import { leavesOf, type TaintLeaf } from './leaves.ts';
import { sightingOf } from './memory.ts';
import { orderedFindings } from './orders.ts';
import { isOwnPath } from './own-paths.ts';
import { shownChain, shownValue } from './summaries.ts';
import { reachesUnknown } from './tokens/command-words.ts';
import { keyOf } from './tokens/number-keys.ts';
import { pathOf } from './tokens/path.ts';
import { Effort, spellingsOf } from './tokens/spellings.ts';
import { isOneWord } from './tokens/tokens.ts';
import type {
  MatchKind,
  Sighting,
  SinkKind,
  TaintCall,
  TaintFinding,
  TaintSource,
  TaintState,
  TaintVerdict,
} from './types.ts';

const LIMITS = { charsMax: 262_144, nodesMax: 10_000 };
/** For each sink that a text is: what is not looked at counts as if it had been read. */
const UNITS_MAX = 1_048_576;
const UNITS_OF_CHAIN = 16;
const FINDINGS_MAX = 20;

const PARTS_SHOWN_MAX = 4;

interface SinkHit {
  readonly chain: Chain;
  /** Under which it was known. */
  readonly key: string;
  readonly match: MatchKind;
  readonly source: TaintSource;
  readonly place: Sighting['place'];
}

interface TaintCheck {
  readonly state: TaintState;
  readonly policy: TaintPolicy;
  /** The call only reads. */
  readonly reads: boolean;
  /** Its one text is one word: beside what it names, it carries nothing. */
  readonly isAlone: boolean;
  readonly effort: Effort;
}

/** Clean, or each argument at a sink whose value was read in untrusted content of this run. */
export function checkCall(state: TaintState, call: TaintCall, policy: TaintPolicy): TaintVerdict {
  const hasRead = state.untrustedCount > 0 || state.orders.length > 0;
  if (!hasRead && state.blind === undefined) return { verdict: 'clean' };
  const args = leavesOf(call.args ?? {}, LIMITS);
  // A server may ask for what stands beside the arguments piece by piece.
  const beside = leavesOf(call.beside, LIMITS);
  const leaves = [...args.leaves, ...beside.leaves.filter((leaf) => !isProtocolKey(leaf))];
  // Of what a client tells about itself with each call, only what is known to be read counts.
  const aboutClient = new Set(beside.leaves.filter(({ path }) => path[1] === '_meta'));
  const found: TaintFinding[] = [];
  const sinkPaths = new Set<string>();
  const effort = new Effort(UNITS_MAX);
  const reads = isReading(call.tool);
  const isAlone = namesOneThing(call.args);
  const check: TaintCheck = { state, policy, reads, isAlone, effort };
  let namesPath = false;
  for (const leaf of leaves) {
    for (const sink of sinksOf(leaf, call, check)) {
      if (sink === 'path') namesPath = true;
      if (!leaf.isKey) sinkPaths.add(formatPath(leaf.path));
      const isSilent = leaf.isKey || sink === 'id' || aboutClient.has(leaf);
      found.push(...leafFindings(check, leaf, { sink, isSilent }));
    }
  }
  if (found.length === 0) found.push(...joinedFindings(check, leaves, sinkPaths));
  if (!reads) {
    // What is written into a file reaches nobody.
    if (!namesPath) found.push(...bodyFindings(check, args.leaves));
    found.push(...orderedFindings(state, args.leaves));
  }
  const isWhole = args.whole && beside.whole && !effort.isSpent;
  if (!isWhole || call.args === undefined) found.push(...unseenFindings(state));
  const findings = distinct(found);
  if (findings.length === 0) return { verdict: 'clean' };
  const more = Math.max(0, findings.length - FINDINGS_MAX);
  return { verdict: 'tainted', findings: findings.slice(0, FINDINGS_MAX), more };
}

/** Such keys stand in the metadata of every modern message, and look like addresses at a host. */
function isProtocolKey({ path, text, isKey }: TaintLeaf): boolean {
  return isKey && path[1] === '_meta' && PROTOCOL_KEY.test(text);
}

const PROTOCOL_KEY = /^io\.modelcontextprotocol\/[A-Za-z-]{1,64}$/;
const VALUES_MAX = 4;
const SETTING_MAX = 99_999;

/** One word, and beside it a few settings that can carry nothing out. */
function namesOneThing(args: unknown): boolean {
  const values = isObject(args) ? Object.values(args) : [];
  if (values.length > VALUES_MAX) return false;
  const [text, ...others] = values.filter((value) => !isSetting(value));
  return typeof text === 'string' && isOneWord(text) && others.length === 0;
}

function isSetting(value: unknown): boolean {
  return (
    typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= SETTING_MAX)
  );
}

/** By the names on its path, and by what it looks like. A key is a sink where it looks like one. */
function sinksOf(leaf: TaintLeaf, call: TaintCall, check: TaintCheck): ReadonlySet<SinkKind> {
  const { policy, reads } = check;
  const shapes = [...shapesOf(leaf.text)].filter((kind) => policy.byShape.has(kind));
  if (leaf.isKey) return new Set(shapes);
  const named = [...policy.sinksAt(call, leaf.path)].filter((kind) => kind !== 'id' || !reads);
  return new Set([...named, ...shapes]);
}

/** Where `isSilent`, only what is known to be read counts. */
function leafFindings(
  check: TaintCheck,
  { path, text }: TaintLeaf,
  { sink, isSilent }: { readonly sink: SinkKind; readonly isSilent: boolean },
): readonly TaintFinding[] {
  const { state } = check;
  const arg = formatPath(path);
  const { hits, vouched } = judgeValue(check, text, sink);
  if (hits.length > 0) return hits.map((hit) => findingOf(check, hit, { arg, sink }));
  if (isSilent) return [];
  const isUnseen = sink === 'command' && reachesUnknown(text);
  if (!isUnseen && (state.blind === undefined || vouched)) return [];
  return unseenFindings(state, { arg, sink, shown: shownValue(text) });
}

function findingOf(
  check: TaintCheck,
  hit: SinkHit,
  at: { readonly arg: string; readonly sink: SinkKind },
): TaintFinding {
  const { chain, match, source } = hit;
  return { ...at, match, source, holds: holdsFor(check, hit, at.sink), shown: shownChain(chain) };
}

/**
 * Whether a match stops the call. It is only recorded where nothing that was read looks like an order
 * and the call uses a value as it stood in a field, or reads more of what was named.
 */
function holdsFor(
  { state, reads, isAlone }: TaintCheck,
  { chain, key, match, place }: SinkHit,
  sink: SinkKind,
): boolean {
  if (state.orders.length > 0 || sink === 'command') return true;
  if (reads && chain.subject === 'path') return !isOwnPath(state, chain.value);
  // A longer address, or another name at the same host, may carry something out.
  const isSame = match === 'exact' || match === 'suffix' || key === keyOf('host', chain.value);
  if (!isSame) return true;
  // A read that names nothing else carries nothing out.
  if (reads && isAlone) return false;
  return place !== 'field' || sink === 'path' || sink === 'url';
}

const BODY_NAME = /body|caption|comment|content|message|note|text/i;

/** Addresses that were read, in a text that is sent to somebody. */
function bodyFindings(check: TaintCheck, leaves: readonly TaintLeaf[]): readonly TaintFinding[] {
  return leaves.flatMap(({ path, text, isKey }) => {
    const name = path.findLast((step) => typeof step === 'string');
    if (isKey || name === undefined || !BODY_NAME.test(name) || !/\s/.test(text)) return [];
    const at = { arg: formatPath(path), sink: 'url' } as const;
    return judgeValue(check, text, 'url')
      .hits.filter(({ chain }) => chain.subject === 'host' && chain.isBare !== true)
      .map((hit) => findingOf(check, hit, at));
  });
}

/** What was read of a value; it is vouched for where all that it names is allowed or trusted. */
function judgeValue(
  { state, policy, effort }: TaintCheck,
  value: string,
  sink: SinkKind,
): { readonly hits: readonly SinkHit[]; readonly vouched: boolean } {
  const hits: SinkHit[] = [];
  let chains = 0;
  let good = 0;
  for (const spelling of spellingsOf(value, effort)) {
    const isAllowedPath = sink === 'path' && policy.allows('path', pathOf(spelling.trim()) ?? '');
    for (const chain of chainsOf(spelling, sink)) {
      if (!effort.spend(UNITS_OF_CHAIN)) return { hits, vouched: false };
      chains++;
      // What looks like a host in an allowed path is the name of a file.
      const isFileName = isAllowedPath && chain.isBare === true;
      if (isFileName || policy.allows(chain.subject, chain.value)) {
        good++;
        continue;
      }
      const known = firstKnown(state, chain);
      if (known?.trust === 'trusted') good++;
      if (known?.trust === 'untrusted') hits.push({ chain, ...known });
    }
  }
  return { hits, vouched: chains > 0 && good === chains };
}

function firstKnown(state: TaintState, chain: Chain) {
  for (const { key, match } of chain.links) {
    const sighting = sightingOf(state, key);
    if (sighting !== undefined) return { ...sighting, key, match };
  }
  return undefined;
}

/** A value in pieces: `eve`, `evil.example` in two arguments, or a command word by word. */
function joinedFindings(
  check: TaintCheck,
  leaves: readonly TaintLeaf[],
  sinkPaths: ReadonlySet<string>,
): readonly TaintFinding[] {
  if (sinkPaths.size === 0) return [];
  return joinedOf(leaves).flatMap((joined) => {
    const { text, sink, parts } = joined;
    if (!parts.some(({ path }) => sinkPaths.has(formatPath(path)))) return [];
    const { hits } = judgeValue(check, text, sink);
    if (hits.length === 0) return [];
    const isOfOne = alone(joined);
    return hits.flatMap((hit) => {
      if (isOfOne(hit)) return [];
      const { chain, source } = hit;
      const shown = shownChain(chain);
      return [{ arg: partNames(joined), sink, match: 'joined', source, holds: true, shown }];
    });
  });
}

/** Whether one part alone holds what was found: then nothing was put together. */
function alone({ parts, sink }: JoinedText): (hit: SinkHit) => boolean {
  const named = new Set<string>();
  const keys = new Set<string>();
  for (const { text } of parts) {
    for (const chain of spellingsOf(text).flatMap((spelling) => chainsOf(spelling, sink))) {
      named.add(nameOf(chain));
      // `bob` and a host become an address of that host.
      if (chain.isBare !== true) for (const { key } of chain.links) keys.add(key);
    }
  }
  return ({ chain, key }) =>
    (chain.subject !== 'other' && named.has(nameOf(chain))) || keys.has(key);
}

function nameOf({ subject, value }: Chain): string {
  return `${subject} ${value}`;
}

/** The list or object that holds them; at the top, each by its name. */
function partNames({ parts }: JoinedText): string {
  const parent = formatPath(parts[0]?.path.slice(0, -1) ?? []);
  if (parent !== '') return parent;
  const names = parts.slice(0, PARTS_SHOWN_MAX).map(({ path }) => formatPath(path));
  return [...names, ...(parts.length > names.length ? ['…'] : [])].join(' + ');
}

type Unseen = Pick<TaintFinding, 'arg' | 'sink' | 'shown'>;

const ALL_ARGS: Unseen = { arg: '', sink: 'any', shown: '…' };

/** What was not looked at, or is known to a running shell alone, may hold anything that was read. */
function unseenFindings(state: TaintState, what: Unseen = ALL_ARGS): readonly TaintFinding[] {
  const source = state.blind ?? state.flags.get('untrusted_input');
  return source === undefined ? [] : [{ ...what, match: 'unscanned', source, holds: true }];
}

/** One finding for each argument, sink and value, the most telling match first. */
function distinct(findings: readonly TaintFinding[]): readonly TaintFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ arg, sink, shown }) => {
    const id = JSON.stringify([arg, sink, shown]);
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew;
  });
}

// Values that make sense only together: neighbours in a list or an object, put side by side.

interface JoinedText {
  readonly text: string;
  readonly sink: SinkKind;
  readonly parts: readonly TaintLeaf[];
}

const GROUP_MAX = 16;
const GROUPS_MAX = 64;
/** A longer part is a text, not a piece of an address. */
const PART_LENGTH_MAX = 128;
const LENGTH_MAX = 512;

interface JoinRule {
  readonly sign: string;
  readonly sink: SinkKind;
  /** A part with blanks in it is a sentence, not a piece. */
  readonly ofWords?: true;
}

const JOIN_RULES: readonly JoinRule[] = [
  { sign: '', sink: 'recipient' },
  { sign: '', sink: 'url', ofWords: true },
  { sign: '@', sink: 'recipient', ofWords: true },
  { sign: '.', sink: 'url', ofWords: true },
  { sign: '/', sink: 'url', ofWords: true },
  { sign: '/', sink: 'path' },
  { sign: '/', sink: 'id', ofWords: true },
  { sign: ' ', sink: 'command' },
];

/** Every group of neighbours, whole and in pairs, in the ways in which they may be put together. */
function joinedOf(leaves: readonly TaintLeaf[]): readonly JoinedText[] {
  const groups = new Map<string, TaintLeaf[]>();
  for (const leaf of leaves) {
    if (leaf.isKey || leaf.path.length === 0 || leaf.text.length > PART_LENGTH_MAX) continue;
    const parent = JSON.stringify(leaf.path.slice(0, -1));
    const group = groups.get(parent);
    if (group !== undefined) group.push(leaf);
    else if (groups.size < GROUPS_MAX) groups.set(parent, [leaf]);
  }
  return [...groups.values()].flatMap((group) => joinedIn(group.slice(0, GROUP_MAX)));
}

function joinedIn(group: readonly TaintLeaf[]): readonly JoinedText[] {
  if (group.length < 2) return [];
  const pairs = group.slice(1).map((next, index) => [...group.slice(index, index + 1), next]);
  const sets =
    group.length === 2
      ? [group, group.toReversed()]
      : [group, ...pairs.flatMap((pair) => [pair, pair.toReversed()])];
  return sets.flatMap((set) => JOIN_RULES.flatMap((rule) => joinedBy(rule, set)));
}

function joinedBy(
  { sign, sink, ofWords }: JoinRule,
  set: readonly TaintLeaf[],
): readonly JoinedText[] {
  const parts = ofWords ? set.filter(({ text }) => !/\s/.test(text.trim())) : set;
  if (parts.length < 2) return [];
  const text = parts.map((part) => part.text.trim()).join(sign);
  return [{ text: text.slice(0, LENGTH_MAX), sink, parts }];
}
