// What a proposal would let pass that is stopped now, in words.
import {
  PERMISSION_TIERS,
  type PermissionTier,
  STEWARD_CHANNELS,
  type StewardChannel,
} from '@subluminal/contracts';
import {
  diffBundles,
  globAlternatives,
  normalizeBundle,
  type PolicyChange,
} from '@subluminal/core/policy';
import { visible } from '@subluminal/core/visible';
import type { StewardConfig } from '../config/index.ts';
import { compilePermissions, tierOf } from '../permissions/index.ts';

const LINES_MAX = 30;
const LINE_LENGTH_MAX = 300;
const SAMPLES_MAX = 2_000;
const DOES: { readonly [T in PermissionTier]: string } = {
  auto_execute: 'runs at once',
  log_and_execute: 'runs and is logged',
  human_approval: 'asks you',
  forbidden: 'never runs',
};
/** Rules that the tiers become: what changes in them is said of the actions themselves. */
const OF_TIERS = /^rules\[(?:forbidden|beyond|log|ask|asked|allow|allow_logged|unknown)\b/;

/** An action that leaves a tier leaves its limits; which tier it has now is said of the action. */
const TIER_LIMIT_CHOICE =
  /^rules\[(?:rate|cooldown|hours):(?:auto_execute|log_and_execute|human_approval):.*\]\.match\.tool_name/;

export type PolicyParts = Pick<StewardConfig, 'permissions' | 'guardrails'>;

/** Empty when nothing is loosened. */
export function looseningWords(before: PolicyParts, after: PolicyParts): readonly string[] {
  const lines = STEWARD_CHANNELS.flatMap((channel) => {
    const moves = tierMoves(before, after, channel);
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

function tierMoves(
  before: PolicyParts,
  after: PolicyParts,
  channel: StewardChannel,
): readonly string[] {
  const samples = new Set([before, after].flatMap(({ permissions }) => actionSamples(permissions)));
  return [...samples].slice(0, SAMPLES_MAX).flatMap((action) => {
    const dot = action.indexOf('.');
    const name = { server: action.slice(0, dot), tool: action.slice(dot + 1), channel };
    const [old, next] = [tierOf(before.permissions, name), tierOf(after.permissions, name)];
    if (PERMISSION_TIERS.indexOf(next) >= PERMISSION_TIERS.indexOf(old)) return [];
    return [`${action}: ${DOES[next]}; until now it ${DOES[old]}`];
  });
}

/** Each action that the file names; a glob stands for itself, as it matches its own text. */
function actionSamples({ file }: PolicyParts['permissions']): readonly string[] {
  const lists = [
    ...Object.values(file.tiers).map(({ actions }) => actions),
    ...Object.values(file.channels).flatMap(({ human_approval, forbidden }) => [
      human_approval,
      forbidden,
    ]),
  ];
  return lists.flat().flatMap((glob) => {
    const all = globAlternatives(glob);
    return Array.isArray(all) ? all : [glob];
  });
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
