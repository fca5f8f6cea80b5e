// What a manifest says of each tool, for people.
import type { Tier } from './shape.ts';
import type { Manifest } from './types.ts';

export interface ToolRow {
  /** A name or a glob, as it is written. */
  readonly name: string;
  readonly tier: Tier;
  /** Like `at most 30/minute`; empty without any. */
  readonly limits: string;
}

/** From the most to the least permissive tier. */
const TIERS: readonly Tier[] = ['auto_execute', 'log_and_execute', 'human_approval', 'forbidden'];

/** Every name or glob of the manifest, with its strictest tier and its limits, the most permissive first. */
export function toolRows(manifest: Manifest): readonly ToolRow[] {
  const { document, exact, globs, tiers } = manifest;
  const entries = new Map((document.allowed_tools ?? []).map((entry) => [entry.name, entry]));
  const tierOf = (name: string, own: Tier | undefined): Tier => {
    const said = TIERS.filter(
      (tier) => tier === own || tiers[tier].actions.some((test) => test(name)),
    );
    return said.at(-1) ?? 'auto_execute';
  };
  const rows = [
    ...[...exact].map(([name, { name: written, tier }]) => ({ written, tier: tierOf(name, tier) })),
    ...globs.map(({ name, tier }) => ({ written: name, tier: tierOf(name, tier) })),
  ];
  const known = new Set(rows.map(({ written }) => written));
  const others = TIERS.flatMap((tier) =>
    (document.tiers?.[tier]?.actions ?? []).filter((name) => !known.has(name)),
  );
  const all = [
    ...rows,
    ...[...new Set(others)].map((written) => ({ written, tier: tierOf(written, undefined) })),
  ];
  return all
    .map(({ written, tier }) => ({ name: written, tier, limits: limitsOf(entries.get(written)) }))
    .toSorted((a, b) => TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier));
}

type Entry = NonNullable<Manifest['document']['allowed_tools']>[number];

function limitsOf(entry: Entry | undefined): string {
  if (entry === undefined || entry.allowed === false) return '';
  const { rate_limit, cooldown, hours, max_answer_bytes } = entry;
  return [
    ...(rate_limit === undefined ? [] : [`at most ${rate_limit}`]),
    ...(cooldown === undefined ? [] : [`${cooldown} apart`]),
    ...(hours === undefined ? [] : [`${hours.from} to ${hours.to}`]),
    ...(max_answer_bytes === undefined ? [] : [`answers up to ${max_answer_bytes} bytes`]),
  ].join(', ');
}
