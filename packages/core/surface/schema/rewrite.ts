// An input schema as the agent may see it: forbidden parameters gone, limits written in, and closed
// where that keeps its meaning, so that what fits the schema is not refused later for a parameter.
import { isObject } from '@subluminal/contracts';
import type { ParamRules } from '../manifest/lookup.ts';
import { below, type ParamPath } from '../names/param-paths.ts';
import { can, copySchema, listAt, type Node, namedAt, namesAt } from './node.ts';
import {
  branchesOf,
  isForbidden,
  isTransparent,
  mentions,
  onlyNarrowed,
  type Plan,
  surveySchema,
} from './survey.ts';
import { tighten } from './tighten.ts';

export type SchemaNoteKind =
  /** Members that the schema does not describe may stand here; a forbidden one is found only in the call. */
  | 'open'
  /** A limit that a schema cannot express. */
  | 'unsaid'
  /** The limit is for another type than the parameter has: no value passes. */
  | 'impossible'
  /** The server wants a parameter that the manifest takes away. */
  | 'required_stripped'
  /** The server's default is beyond the limit, and holds when the parameter is left out. */
  | 'default_beyond_limit'
  /** The manifest limits a parameter that the schema does not have. */
  | 'unknown_param';

export interface SchemaNote {
  readonly kind: SchemaNoteKind;
  readonly path: string;
  readonly detail: string;
}

export type Rewritten =
  | { readonly ok: true; readonly schema: Node; readonly notes: readonly SchemaNote[] }
  | { readonly ok: false };

const NOTES_MAX = 100;

/** Rewrites a schema; not ok when it is too large to be understood. */
export function rewriteSchema(schema: unknown, rules: ParamRules): Rewritten {
  const root = copySchema(schema);
  const survey = root === undefined ? undefined : surveySchema(root, rules);
  if (root === undefined || survey === undefined) return { ok: false };
  const notes: SchemaNote[] = [];
  const dead = new Set<Node>();
  for (const plan of survey.plans) strip(plan, { rules, notes, dead });
  for (const plan of survey.plans) limit(plan, notes, dead);
  for (const plan of survey.plans) dropDead(plan.node, dead);
  for (const plan of survey.plans) close(plan, notes);
  for (const path of survey.unseen) notes.push(open(path, 'a reference that is not followed'));
  notes.push(...unknownParams(survey.plans, rules));
  return { ok: true, schema: root, notes: unique(notes).slice(0, NOTES_MAX) };
}

function open({ shown }: ParamPath, detail: string): SchemaNote {
  return { kind: 'open', path: shown, detail };
}

function unique(notes: readonly SchemaNote[]): readonly SchemaNote[] {
  const byText = new Map(notes.map((note) => [JSON.stringify(note), note]));
  return [...byText.values()];
}

interface Stripping {
  readonly rules: ParamRules;
  readonly notes: SchemaNote[];
  readonly dead: Set<Node>;
}

function strip({ node, path, strips }: Plan, { rules, notes, dead }: Stripping): void {
  for (const keyword of ['default', 'examples', 'example'] as const) {
    const value = node[keyword];
    if (value !== undefined) node[keyword] = withoutForbidden(value, path, rules);
  }
  if (strips.size === 0) return;
  for (const keyword of ['not', 'if'] as const) {
    const inner = node[keyword];
    if (!isObject(inner) || !mentions(inner, strips)) continue;
    delete node[keyword];
    if (keyword === 'if') {
      delete node['then'];
      delete node['else'];
    }
  }
  for (const name of namesAt(node, 'required')) {
    if (!strips.has(name)) continue;
    dead.add(node);
    notes.push({ kind: 'required_stripped', path: below(path, name).shown, detail: 'required' });
  }
  removeNames(node, strips);
}

function removeNames(node: Node, strips: ReadonlySet<string>): void {
  for (const keyword of ['properties', 'dependentRequired', 'dependencies', 'dependentSchemas']) {
    if (!isObject(node[keyword])) continue;
    const kept = Object.entries(namedAt(node, keyword)).filter(([name]) => !strips.has(name));
    const lists = kept.map(([name, value]) => [name, withoutNames(value, strips)]);
    node[keyword] = Object.fromEntries(keyword === 'properties' ? kept : lists);
  }
  if (Array.isArray(node['required'])) node['required'] = withoutNames(node['required'], strips);
}

function withoutNames(value: unknown, strips: ReadonlySet<string>): unknown {
  if (!Array.isArray(value)) return value;
  return value.filter((name) => typeof name !== 'string' || !strips.has(name));
}

/** A value without the members that the manifest forbids; the schema's own depth bounds it. */
function withoutForbidden(value: unknown, path: ParamPath, rules: ParamRules): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutForbidden(item, path, rules));
  if (!isObject(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = below(path, name);
    if (!isForbidden(rules, at)) kept.push([name, withoutForbidden(item, at, rules)]);
  }
  return Object.fromEntries(kept);
}

function limit({ node, path, limits }: Plan, notes: SchemaNote[], dead: Set<Node>): void {
  const hasBranches = branchesOf(node).length > 0 || Object.hasOwn(node, '$ref');
  for (const [paramLimit, { inList }] of limits) {
    const { impossible, unsaid, badDefault } = tighten(node, paramLimit, { inList, hasBranches });
    for (const detail of unsaid) notes.push({ kind: 'unsaid', path: path.shown, detail });
    if (badDefault)
      notes.push({ kind: 'default_beyond_limit', path: path.shown, detail: 'default' });
    if (!impossible) continue;
    dead.add(node);
    notes.push({ kind: 'impossible', path: path.shown, detail: 'type' });
  }
}

/** Of several ways to write a value, those that can't be followed any more are not shown. */
function dropDead(node: Node, dead: ReadonlySet<Node>): void {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = listAt(node, keyword);
    const alive = branches.filter((branch) => !isObject(branch) || !dead.has(branch));
    if (alive.length > 0 && alive.length < branches.length) node[keyword] = alive;
  }
}

/** Closes an object where this part alone describes it; else says that it stays open. */
function close(plan: Plan, notes: SchemaNote[]): void {
  const { node, path, alone, covered } = plan;
  if (isTransparent(node)) return;
  if (can(node, 'object') && !isClosed(node)) {
    const extra = node['additionalProperties'];
    const isOpen = extra === undefined || extra === true;
    const mayClose = isOpen && isObject(node['properties']) && alone && !Object.hasOwn(node, 'if');
    const hasBranches = branchesOf(node).length > 0 || Object.hasOwn(node, '$ref');
    if (mayClose && (!hasBranches || onlyNarrowed(node))) node['additionalProperties'] = false;
    if (!isClosed(node) && !covered)
      notes.push(open(path, 'members that the schema does not list'));
  }
  if (can(node, 'array') && !hasItems(node) && !covered) {
    notes.push(open(path, 'items that the schema does not describe'));
  }
}

function isClosed(node: Node): boolean {
  const closed = node['additionalProperties'] === false || node['unevaluatedProperties'] === false;
  return closed && Object.keys(namedAt(node, 'patternProperties')).length === 0;
}

function hasItems(node: Node): boolean {
  const { items } = node;
  if (isObject(items) || items === false || node['maxItems'] === 0) return true;
  return (
    Array.isArray(items) && (isObject(node['additionalItems']) || node['additionalItems'] === false)
  );
}

function unknownParams(plans: readonly Plan[], rules: ParamRules): readonly SchemaNote[] {
  const met = new Set(plans.flatMap(({ limits }) => [...limits.keys()]));
  return rules.constrained
    .filter(({ limit: wanted }) => !met.has(wanted))
    .map(({ pattern }) => ({
      kind: 'unknown_param',
      path: pattern.source,
      detail: 'no such parameter',
    }));
}
