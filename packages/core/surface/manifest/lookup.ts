// What a manifest says about one tool, prompt or resource.

import { canMean, type ParamPattern } from '../names/param-paths.ts';
import { latinOf, variantOf } from '../names/spelling.ts';
import { TIERS, type Tier } from './shape.ts';
import type {
  AllowEntry,
  CompiledTool,
  Confirmation,
  Constrained,
  Limits,
  Manifest,
} from './types.ts';

export interface ToolRule {
  readonly tier: Tier;
  /** Whether the manifest names the tool, or its default decides. */
  readonly listed: boolean;
  /** Each with the key under which its counters are kept. */
  readonly limits: readonly { readonly key: string; readonly limits: Limits }[];
  readonly confirmation: Confirmation;
}

export interface ParamRules {
  readonly tool: string;
  readonly blocked: readonly ParamPattern[];
  readonly strips: readonly ParamPattern[];
  readonly constrained: readonly Constrained[];
  /** False when the parameters of the tool need no look at all. */
  readonly any: boolean;
}

/** The rule for a tool: of all that name it, the strictest tier; what is not named gets the default. */
export function toolRule(manifest: Manifest, tool: string): ToolRule {
  const entry = entryOf(manifest, tool);
  const named = TIERS.filter((tier) => manifest.tiers[tier].actions.some((test) => test(tool)));
  const listed = entry !== undefined || named.length > 0;
  const own = entry?.tier === undefined ? named : [...named, entry.tier];
  const tier = listed ? (strictest(own) ?? 'auto_execute') : manifest.defaultTier;
  const { limits, confirmation } = manifest.tiers[tier];
  return {
    tier,
    listed,
    limits: [
      ...(entry === undefined ? [] : [{ key: `tool ${entry.name}`, limits: entry.limits }]),
      { key: `tier ${tier}`, limits },
    ],
    confirmation,
  };
}

/** A name beats a glob, and of the globs the first that matches. */
function entryOf(manifest: Manifest, tool: string): CompiledTool | undefined {
  return manifest.exact.get(tool) ?? manifest.globs.find(({ test }) => test(tool));
}

function strictest(tiers: readonly Tier[]): Tier | undefined {
  return TIERS.findLast((tier) => tiers.includes(tier));
}

/**
 * The names in the manifest that a call may mean by this one: a server may not care about case,
 * separators, or invisible characters, and a person does not see another alphabet. Of no use for
 * what the server itself lists by that name.
 */
export function twinsOf(manifest: Manifest, tool: string): readonly string[] {
  const spellings = new Set([variantOf(tool), latinOf(tool)]);
  const names = [...spellings].flatMap((spelling) => manifest.variants.get(spelling) ?? []);
  return names.filter((name) => name !== tool);
}

/** The strictest of the rules for several names; of two as strict, the one for the later name. */
export function strictestRule(manifest: Manifest, names: readonly string[]): ToolRule {
  const rules = names.map((name) => toolRule(manifest, name));
  const [first = toolRule(manifest, ''), ...others] = rules;
  return others.reduce((chosen, rule) => {
    return TIERS.indexOf(rule.tier) >= TIERS.indexOf(chosen.tier) ? rule : chosen;
  }, first);
}

/** Everything that the manifest says about the parameters of a tool, under all of its names. */
export function paramRules(manifest: Manifest, ...names: readonly string[]): ParamRules {
  const blocked = manifest.blocked.filter((pattern) =>
    names.some((name) => canMean(pattern, name)),
  );
  const rewrites = manifest.rewrites.filter(({ test }) => names.some(test));
  const strips = rewrites.flatMap((rewrite) => rewrite.strips);
  const constrained = rewrites.flatMap((rewrite) => rewrite.constrained);
  const any = blocked.length + strips.length + constrained.length > 0;
  return { tool: names[0] ?? '', blocked, strips, constrained, any };
}

/** Whether a list of prompts or resources shows this one; what is not listed is not shown. */
export function isShown(entries: readonly AllowEntry[], name: string): boolean {
  const entry =
    entries.find(({ exact, test }) => exact && test(name)) ??
    entries.find(({ test }) => test(name));
  return entry?.allowed ?? false;
}

/** How large an answer of a tool may be, and what happens to a larger one. */
export function answerLimit(manifest: Manifest, tool: string): Manifest['answers'] {
  const { answers } = manifest;
  return { ...answers, bytesMax: entryOf(manifest, tool)?.answerBytesMax ?? answers.bytesMax };
}
