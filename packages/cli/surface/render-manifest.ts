// Renders manifests in words.
import { type Manifest, type Tier, toolRows } from '@subluminal/core/surface';
import type { Colors } from '../terminal/io.ts';
import { displayWidth, durationText, harmless, plural, shortened } from '../terminal/text.ts';

const WORDS: { readonly [T in Tier]: string } = {
  auto_execute: 'runs',
  log_and_execute: 'runs, logged',
  human_approval: 'asks a person',
  forbidden: 'forbidden',
};
const NAME_LENGTH_MAX = 80;

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
