// What a proposal would let pass that is stopped now, in words.
import { isDeepStrictEqual } from 'node:util';
import { PERMISSION_TIERS, STEWARD_CHANNELS, type StewardChannel } from '@subluminal/contracts';
import {
  diffBundles,
  globAlternatives,
  normalizeBundle,
  type PolicyChange,
} from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import type { StewardConfig } from '../config/index.ts';
import { compilePermissions, meansAction, TIER_WORDS, tierOf } from '../permissions/index.ts';

const LINES_MAX = 30;
const LINE_LENGTH_MAX = 300;
const PATTERNS_MAX = 2_000;
/** Rules that the tiers become: what changes in them is said of the actions themselves. */
const OF_TIERS = /^rules\[(?:forbidden|beyond|log|ask|asked|allow|allow_logged|unknown)\b/;

/** An action that leaves a tier leaves its limits; which tier it has now is said of the action. */
const TIER_LIMIT_CHOICE =
  /^rules\[(?:rate|cooldown|hours):(?:auto_execute|log_and_execute|human_approval):.*\]\.match\.tool_name/;

export type PolicyParts = Pick<StewardConfig, 'permissions' | 'guardrails'>;

/** Empty when nothing is loosened. */
export function looseningWords(before: PolicyParts, after: PolicyParts): readonly string[] {
  const actions = comparedActions(before, after);
  const lines = STEWARD_CHANNELS.flatMap((channel) => {
    const moves = tierMoves(actions, [before, after], channel);
    const changes = looserChanges(before, after, channel);
    const others = changes.filter(({ path }) => moves.length === 0 || !OF_TIERS.test(path));
    return [
      ...moves.map((words) => [words, channel] as const),
      ...others.map((change) => [changeWords(change), undefined] as const),
    ];
  });
  // What holds on all channels is said once.
  const channels = new Map<string, StewardChannel[]>();
  for (const [words, channel] of lines) {
    channels.set(words, [
      ...(channels.get(words) ?? []),
      ...(channel === undefined ? [] : [channel]),
    ]);
  }
  const said = [...channels].map(([words, on]) => {
    const isEverywhere = on.length === 0 || on.length === STEWARD_CHANNELS.length;
    return visible(isEverywhere ? words : `${words} (on ${on.join(', ')})`, LINE_LENGTH_MAX);
  });
  const more = said.length - LINES_MAX;
  return more > 0 ? [...said.slice(0, LINES_MAX), `and ${more} more`] : said;
}

interface ComparedActions {
  readonly samples: readonly (ActionSample & { readonly pattern: string })[];
  /** Patterns of which no action was found, and those beyond the limit. */
  readonly others: readonly string[];
}

function comparedActions(before: PolicyParts, after: PolicyParts): ComparedActions {
  const all = [before, after].flatMap(({ permissions }) => patternsOf(permissions));
  const patterns = [...new Set(all)].map((pattern, at) => ({
    pattern,
    sample: at < PATTERNS_MAX ? sampleOf(pattern) : undefined,
  }));
  const isChanged = !isDeepStrictEqual(before.permissions.file, after.permissions.file);
  return {
    samples: patterns.flatMap(({ pattern, sample }) => (sample ? [{ pattern, ...sample }] : [])),
    others: patterns.flatMap(({ pattern, sample }) => (isChanged && !sample ? [pattern] : [])),
  };
}

function tierMoves(
  { samples, others }: ComparedActions,
  [before, after]: readonly [PolicyParts, PolicyParts],
  channel: StewardChannel,
): readonly string[] {
  const moves = samples.flatMap(({ pattern, server, tool }) => {
    const action = { server, tool, channel };
    const [old, next] = [tierOf(before.permissions, action), tierOf(after.permissions, action)];
    if (PERMISSION_TIERS.indexOf(next) >= PERMISSION_TIERS.indexOf(old)) return [];
    return [`${pattern}: ${TIER_WORDS[next]}; until now it ${TIER_WORDS[old]}`];
  });
  return [...moves, ...others.map((one) => `${one}: it was not compared; look at the diff`)];
}

/** Each action that the file names, with its braces written out, and the one that nothing names. */
function patternsOf({ file }: PolicyParts['permissions']): readonly string[] {
  const lists = [
    ...Object.values(file.tiers).map(({ actions }) => actions),
    ...Object.values(file.channels).flatMap(({ human_approval, forbidden }) => [
      human_approval,
      forbidden,
    ]),
  ];
  return ['*.*', ...lists.flat().flatMap(alternativesOf)];
}

/** One that cannot be read is no permission. */
function alternativesOf(glob: string): readonly string[] {
  const alternatives = globAlternatives(glob);
  return Array.isArray(alternatives) ? alternatives : [glob];
}

const ESCAPES = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])+\]/g;
/** One of them is in hardly any class. */
const RARE = ['x', 'q', '0', '_'];

interface ActionSample {
  readonly server: string;
  readonly tool: string;
}

/** An action that the pattern means: a star and a question mark stand for themselves. Undefined where none is found. */
function sampleOf(pattern: string): ActionSample | undefined {
  for (const rare of RARE) {
    // Of `[!ab]` a letter that is not in it, of `[ab]` and of `\a` the first.
    const text = pattern.replace(ESCAPES, (part) =>
      part.startsWith('[!') ? rare : part.replace(/^\[?\\?/, '').slice(0, 1),
    );
    const dot = text.indexOf('.');
    const action = { server: text.slice(0, dot), tool: text.slice(dot + 1) };
    if (meansAction([pattern], action)) return action;
  }
  return undefined;
}

function looserChanges(
  before: PolicyParts,
  after: PolicyParts,
  channel: StewardChannel,
): readonly PolicyChange[] {
  const isBase = channel === 'terminal';
  const hasOwn = [before, after].some(({ permissions }) => permissions.file.channels[channel]);
  if (!isBase && !hasOwn) return [];
  const policyOf = ({ permissions, guardrails }: PolicyParts) =>
    normalizeBundle(compilePermissions(permissions, { channel, guardrails }));
  const { changes } = diffBundles(policyOf(before), policyOf(after));
  return changes.filter(
    ({ effect, path }) =>
      (effect === 'loosens' || effect === 'mixed') &&
      !TIER_LIMIT_CHOICE.test(path) &&
      // What all channels have is said of the first.
      (isBase || path.includes(`:channel_${channel}:`)),
  );
}

function changeWords({ path, summary, before, after }: PolicyChange): string {
  const values = path.endsWith(']') ? '' : `: ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
  return `${summary} (${path}${values})`;
}
