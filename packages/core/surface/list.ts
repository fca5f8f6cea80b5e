// The lists of a server as the agent may see them. An entry that is not understood is not shown.
import { type Era, isObject } from '@subluminal/contracts';
import { visible } from '../text/visible.ts';
import { isShown, paramRules, toolRule } from './manifest/lookup.ts';
import type { AllowEntry, Manifest } from './manifest/types.ts';
import { rewriteSchema, type SchemaNote } from './schema/rewrite.ts';

type Json = { readonly [key: string]: unknown };

export type RemovedReason =
  | 'forbidden'
  | 'not_listed'
  | 'duplicate_name'
  | 'malformed'
  | 'schema_too_complex';

export interface Removed {
  readonly name: string;
  readonly reason: RemovedReason;
}

export interface ToolNote extends SchemaNote {
  readonly tool: string;
}

export interface Filtered {
  /** The answer for the agent; the same object when nothing had to change. */
  readonly result: Json;
  readonly removed: readonly Removed[];
  /** The tools whose input schema had to change. */
  readonly rewritten: readonly string[];
  /** Limits that the schemas cannot express, or only in part; each call is checked in any case. */
  readonly notes: readonly ToolNote[];
  /** Listed in the manifest by name, but not offered. Known only on the last page. */
  readonly unlisted: readonly string[];
  /** For the person who runs the server, one line each; hostile names are made harmless. */
  readonly warnings: readonly string[];
}

export interface ListOptions {
  readonly era: Era;
  /** Names on the pages before this one. */
  readonly offeredBefore?: readonly string[];
}

const ITEMS_MAX = 10_000;
const WARNINGS_MAX = 200;
const NAME_LENGTH_MAX = 1_024;

const NOTE_WORDS: { readonly [K in SchemaNote['kind']]: string } = {
  open: 'takes members that its schema does not list; forbidden ones are found only in the call',
  unsaid: 'has a limit that no schema can say; it is checked in the call',
  impossible: 'has a limit for another type than its own, so no value passes',
  required_stripped: 'is required by the server but taken away by the manifest',
  default_beyond_limit:
    'has a default beyond its limit, which the server takes when it is left out',
  unknown_param: 'has a limit in the manifest, but the schema does not have it',
};

/** Filters an answer to `tools/list`, and rewrites the input schemas of what is left. */
export const filterTools: FilterList = (listResult, manifest, options) => {
  const warnings: string[] = [];
  const rewritten: string[] = [];
  const notes: ToolNote[] = [];
  const filtered = filterList(listResult, 'tools', (tool, name) => {
    const { tier, listed } = toolRule(manifest, name);
    if (tier === 'forbidden') return listed ? 'forbidden' : 'not_listed';
    const rules = paramRules(manifest, name);
    if (!rules.any) return tool;
    const changed = rewriteSchema(tool['inputSchema'] ?? {}, rules);
    if (!changed.ok) return 'schema_too_complex';
    for (const note of changed.notes) {
      notes.push({ tool: name, ...note });
      if (note.kind === 'open' || note.kind === 'unsaid') continue;
      warnings.push(`${shown(name)}: \`${visible(note.path, 80)}\` ${NOTE_WORDS[note.kind]}`);
    }
    if (JSON.stringify(changed.schema) === JSON.stringify(tool['inputSchema'])) return tool;
    rewritten.push(name);
    return { ...tool, inputSchema: changed.schema };
  });
  const wanted = [...manifest.exact.values()].filter(({ tier }) => tier !== 'forbidden');
  const names = wanted.map(({ name }) => unescaped(name));
  const unlisted = missingOf(names, filtered, options);
  for (const { name, reason } of filtered.removed) {
    if (reason === 'not_listed') warnings.push(`${shown(name)} is offered but not in the manifest`);
    else if (reason !== 'forbidden') warnings.push(`${shown(name)} is not shown: ${reason}`);
  }
  for (const name of unlisted) warnings.push(`${shown(name)} is in the manifest but not offered`);
  return { ...answerOf(filtered, warnings, options), rewritten, notes, unlisted };
};

function answerOf(list: List, warnings: readonly string[], options: ListOptions) {
  const { result, removed, isSame } = list;
  const { era, offeredBefore = [] } = options;
  // All pages of a list are cached alike, and another one may be filtered.
  const isPage = offeredBefore.length > 0 || typeof result['nextCursor'] === 'string';
  const isKept = isSame && !isPage;
  return {
    result: isKept ? result : uncached(result, era),
    removed,
    warnings: warnings.slice(0, WARNINGS_MAX),
  };
}

/** A name as the server writes it. */
function unescaped(written: string): string {
  return written.replace(/\\([\s\S])/g, '$1');
}

type FilterList = (listResult: unknown, manifest: Manifest, options: ListOptions) => Filtered;

/** Filters an answer to `prompts/list`. */
export const filterPrompts: FilterList = (listResult, { prompts }, options) => {
  const filtered = filterList(listResult, 'prompts', judgeBy(prompts));
  const wanted = prompts.filter(({ exact, allowed }) => exact && allowed);
  const names = wanted.map(({ source }) => unescaped(source));
  return { ...named(filtered, options), unlisted: missingOf(names, filtered, options) };
};

/** Filters an answer to `resources/list`. */
export const filterResources: FilterList = (listResult, { resources }, options) =>
  named(filterList(listResult, 'resources', judgeBy(resources)), options);

/** Filters an answer to `resources/templates/list`; a template counts by its text. */
export const filterResourceTemplates: FilterList = (listResult, { resources }, options) =>
  named(filterList(listResult, 'resourceTemplates', judgeBy(resources)), options);

function judgeBy(entries: readonly AllowEntry[]) {
  return (item: Json, name: string): Json | RemovedReason => {
    if (isShown(entries, name)) return item;
    return entries.some(({ test }) => test(name)) ? 'forbidden' : 'not_listed';
  };
}

/** Resources are often offered by templates only, so neither list alone tells what is missing. */
function named(filtered: List, options: ListOptions): Filtered {
  const warnings = filtered.removed
    .filter(({ reason }) => reason !== 'forbidden')
    .map(({ name, reason }) => `${shown(name)} is not shown: ${reason}`);
  return { ...answerOf(filtered, warnings, options), rewritten: [], notes: [], unlisted: [] };
}

const KEYS = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
} as const;

interface List {
  readonly result: Json;
  /** Nothing had to change. */
  readonly isSame: boolean;
  readonly removed: readonly Removed[];
  readonly offered: ReadonlySet<string>;
}

/** Judges each item; a second item of a name is removed, so that both sides mean the same one. */
function filterList(
  listResult: unknown,
  field: keyof typeof KEYS,
  judge: (item: Json, name: string) => Json | RemovedReason,
): List {
  const removed: Removed[] = [];
  const offered = new Set<string>();
  const known: Json = isObject(listResult) ? listResult : {};
  const items: unknown = known[field];
  const kept: Json[] = [];
  for (const item of Array.isArray(items) ? items.slice(0, ITEMS_MAX) : []) {
    const name: unknown = isObject(item) ? item[KEYS[field]] : undefined;
    const text = typeof name === 'string' ? name : '';
    if (!isObject(item) || text === '' || text.length > NAME_LENGTH_MAX) {
      removed.push({ name: text.slice(0, 200), reason: 'malformed' });
      continue;
    }
    const verdict = offered.has(text) ? 'duplicate_name' : judge(item, text);
    offered.add(text);
    if (typeof verdict === 'string') removed.push({ name: text, reason: verdict });
    else kept.push(verdict);
  }
  const isWhole = Array.isArray(items) && kept.length === items.length;
  const isSame = isWhole && kept.every((item, index) => item === items[index]);
  return { result: isSame ? known : { ...known, [field]: kept }, isSame, removed, offered };
}

function missingOf(wanted: readonly string[], { result, offered }: List, options: ListOptions) {
  if (typeof result['nextCursor'] === 'string') return [];
  const before = new Set(options.offeredBefore);
  return wanted.filter((name) => !offered.has(name) && !before.has(name));
}

/** Since 2026-07-28 lists say how long they may be kept; a filtered list is private to this client. */
export function uncached(result: Json, era: Era): Json {
  return era === 'modern' ? { ...result, ttlMs: 0, cacheScope: 'private' } : result;
}

function shown(name: string): string {
  return `\`${visible(name, 80)}\``;
}
