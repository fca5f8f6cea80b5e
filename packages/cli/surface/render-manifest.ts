// Renders manifests in words.
import type { Manifest, Tier } from '@subluminal/core/surface';
import type { Colors } from '../terminal/io.ts';
import { displayWidth, durationText, harmless, plural, shortened } from '../terminal/text.ts';

/** From the most to the least permissive tier. */
const TIERS: readonly Tier[] = ['auto_execute', 'log_and_execute', 'human_approval', 'forbidden'];
const WORDS: { readonly [T in Tier]: string } = {
  auto_execute: 'runs',
  log_and_execute: 'runs, logged',
  human_approval: 'asks a person',
  forbidden: 'forbidden',
};
const NAME_LENGTH_MAX = 80;

/** Every name or glob of the manifest, with its strictest tier and its limits, like `30/minute`. */
export function toolRows(manifest: Manifest) {
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

/** A line for each tool. */
export function toolLines(manifest: Manifest, colors: Colors): readonly string[] {
  const rows = toolRows(manifest).map((row) => ({
    ...row,
    name: harmless(shortened(row.name, NAME_LENGTH_MAX)),
  }));
  const width = Math.max(0, ...rows.map(({ name }) => displayWidth(name)));
  const tierWidth = Math.max(...Object.values(WORDS).map((words) => words.length));
  return rows.map(({ name, tier, limits }) => {
    const space = ' '.repeat(width - displayWidth(name));
    const word = painted(tier, colors)(WORDS[tier].padEnd(tierWidth));
    return `  ${word}  ${name}${space}  ${harmless(limits)}`.trimEnd();
  });
}

function painted(tier: Tier, colors: Colors): (text: string) => string {
  if (tier === 'forbidden') return colors.red;
  return tier === 'human_approval' ? colors.yellow : colors.green;
}

/** Like `3 tools run, 2 ask a person, 1 is forbidden`. */
export function countWords(manifest: Manifest): string {
  const rows = toolRows(manifest);
  const count = (...tiers: readonly Tier[]) =>
    rows.filter(({ tier }) => tiers.includes(tier)).length;
  const runs = count('auto_execute', 'log_and_execute');
  const asking = count('human_approval');
  const never = count('forbidden');
  return `${plural(runs, 'tool')} may run, ${asking} ${asking === 1 ? 'asks' : 'ask'} a person, ${never} ${never === 1 ? 'is' : 'are'} forbidden`;
}

/** All that the manifest says beside its tools. */
export function otherLines(manifest: Manifest): readonly string[] {
  const { document, breaker, answers, defaultTier } = manifest;
  const blocked = (document.blocked_params ?? []).map(({ pattern }) => pattern);
  const rewritten = Object.keys(document.schema_rewrites ?? {});
  const shown = (entries: Manifest['prompts']) =>
    entries.filter(({ allowed }) => allowed).map(({ source }) => source);
  const lines = [
    `A tool that is not listed: ${WORDS[defaultTier]}.`,
    listLine('Parameters that nobody may set', blocked),
    listLine('Tools with narrower parameters', rewritten),
    listLine('Prompts that are shown', shown(manifest.prompts)),
    listLine('Resources that are shown', shown(manifest.resources)),
    `Answers: up to ${answers.bytesMax} bytes; a larger one is ${answers.onExcess === 'refuse' ? 'refused' : 'cut'}.`,
    `Breaker: ${plural(breaker.errorThreshold, 'error')} within ${durationText(breaker.errorWindowMs)} stop the server for ${durationText(breaker.recoveryTimeoutMs)}.`,
  ];
  return lines.map(harmless);
}

const NAMES_SHOWN_MAX = 50;

function listLine(title: string, names: readonly string[]): string {
  if (names.length === 0) return `${title}: none.`;
  const shown = names.slice(0, NAMES_SHOWN_MAX).map((name) => shortened(name, NAME_LENGTH_MAX));
  const rest = names.length - shown.length;
  return `${title}: ${shown.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.`;
}
