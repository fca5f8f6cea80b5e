// Looks through a schema from its root, following references, and notes for every part of it which
// parameters it describes. A part that is shared by several places gets what any of them needs.
import { isObject } from '@subluminal/contracts';
import type { ParamRules } from '../manifest/lookup.ts';
import type { ParamLimit } from '../manifest/types.ts';
import { below, means, type ParamPath, ROOT } from '../names/param-paths.ts';
import { childrenOf, listAt, type Node, namedAt, namesAt, resolveRef } from './node.ts';

interface Visit {
  readonly path: ParamPath;
  /** Nothing else describes the value at this place, so this part may close it. */
  readonly alone: boolean;
  /** It describes an item of a list that has the same path. */
  readonly inList: boolean;
  /** Another part closes the value at this place. */
  readonly covered: boolean;
}

export interface Plan {
  readonly node: Node;
  readonly path: ParamPath;
  readonly strips: Set<string>;
  readonly limits: Map<ParamLimit, { readonly inList: boolean }>;
  alone: boolean;
  covered: boolean;
  /** Where it is met; past the bound, only what is meant at every depth is certain. */
  readonly met: Set<string>;
}

export interface Survey {
  readonly plans: readonly Plan[];
  /** References that lead out of the schema, and places beyond the bounds. */
  readonly unseen: readonly ParamPath[];
}

const VISITS_MAX = 5_000;
const PATHS_PER_NODE_MAX = 8;
const PATH_DEPTH_MAX = 32;

interface Surveying {
  readonly root: Node;
  readonly rules: ParamRules;
  readonly plans: Map<Node, Plan>;
  readonly unseen: ParamPath[];
  readonly queue: { readonly node: Node; readonly visit: Visit }[];
}

/** The survey of a schema, or undefined when it has no end within the bounds. */
export function surveySchema(root: Node, rules: ParamRules): Survey | undefined {
  const start = { path: ROOT, alone: true, inList: false, covered: false };
  const queue = [{ node: root, visit: start }];
  const surveying: Surveying = { root, rules, plans: new Map(), unseen: [], queue };
  if (!work(surveying)) return undefined;
  // Definitions that nothing refers to are still shown.
  const spare = [
    ...Object.values(namedAt(root, '$defs')),
    ...Object.values(namedAt(root, 'definitions')),
  ];
  for (const node of spare) {
    if (!isObject(node) || surveying.plans.has(node)) continue;
    queue.push({ node, visit: { ...start, covered: true } });
  }
  if (!work(surveying)) return undefined;
  return { plans: [...surveying.plans.values()], unseen: surveying.unseen };
}

function work(surveying: Surveying): boolean {
  for (let count = 0; count < VISITS_MAX; count++) {
    const next = surveying.queue.pop();
    if (next === undefined) return true;
    visitNode(surveying, next.node, next.visit);
  }
  return false;
}

function visitNode(surveying: Surveying, node: Node, visit: Visit): void {
  const { path, alone, inList, covered } = visit;
  const known = surveying.plans.get(node);
  const key = `${alone} ${inList} ${covered} ${path.folded}`;
  if (known?.met.has(key) === true) return;
  if (path.depth > PATH_DEPTH_MAX || (known?.met.size ?? 0) >= PATHS_PER_NODE_MAX) {
    // Seen before, so what is meant at every depth holds already; what is meant at one place may not.
    surveying.unseen.push(path);
    return;
  }
  const plan = known ?? newPlan(node, path);
  plan.met.add(key);
  plan.alone &&= alone;
  plan.covered &&= covered;
  surveying.plans.set(node, plan);
  for (const { pattern, limit } of surveying.rules.constrained) {
    if (path.depth > 0 && means(pattern, path)) {
      plan.limits.set(limit, { inList: inList || plan.limits.get(limit)?.inList === true });
    }
  }
  noteStrips(surveying, plan, visit);
  visitMembers(surveying, node, visit);
  visitInPlace(surveying, node, visit);
}

function newPlan(node: Node, path: ParamPath): Plan {
  const seen = { strips: new Set<string>(), limits: new Map(), met: new Set<string>() };
  return { node, path, alone: true, covered: true, ...seen };
}

function noteStrips({ rules }: Surveying, plan: Plan, { path }: Visit): void {
  const { node } = plan;
  const names = [
    ...Object.keys(namedAt(node, 'properties')),
    ...namesAt(node, 'required'),
    ...['dependentRequired', 'dependencies', 'dependentSchemas'].flatMap((keyword) =>
      Object.keys(namedAt(node, keyword)),
    ),
  ];
  for (const name of names) {
    if (isForbidden(rules, below(path, name))) plan.strips.add(name);
  }
}

/** Whether the manifest blocks or strips the parameter at a path. */
export function isForbidden(rules: ParamRules, path: ParamPath): boolean {
  if (rules.blocked.some((pattern) => means(pattern, path, rules.tool))) return true;
  return rules.strips.some((pattern) => means(pattern, path));
}

function visitMembers({ queue }: Surveying, node: Node, { path, alone }: Visit): void {
  const add = (child: unknown, at: ParamPath, inList: boolean) => {
    if (isObject(child))
      queue.push({ node: child, visit: { path: at, alone, inList, covered: false } });
  };
  for (const [name, child] of Object.entries(namedAt(node, 'properties'))) {
    add(child, below(path, name), false);
  }
  // Members whose names are not known beforehand.
  const others = Object.values(namedAt(node, 'patternProperties'));
  for (const child of [...others, node['additionalProperties'], node['unevaluatedProperties']]) {
    add(child, below(path, '*'), false);
  }
  const single = ['items', 'additionalItems', 'unevaluatedItems', 'contains'].map((of) => node[of]);
  for (const child of [...listAt(node, 'prefixItems'), ...listAt(node, 'items'), ...single]) {
    add(child, path, true);
  }
}

/** Schemas that describe the very same value, and whether each does so alone. */
function visitInPlace(surveying: Surveying, node: Node, visit: Visit): void {
  const { root, queue, unseen } = surveying;
  const { path } = visit;
  const isWrapper = isTransparent(node);
  const covered = visit.covered || (visit.alone && !isWrapper && onlyNarrowed(node));
  const inner: Visit = { ...visit, alone: visit.alone && isWrapper, covered };
  for (const branch of branchesOf(node)) queue.push({ node: branch, visit: inner });
  if (Object.hasOwn(node, '$dynamicRef') || Object.hasOwn(node, '$recursiveRef')) unseen.push(path);
  if (!Object.hasOwn(node, '$ref')) return;
  const target = resolveRef(root, node['$ref']);
  if (target === undefined) unseen.push(path);
  else queue.push({ node: target, visit: inner });
}

export function branchesOf(node: Node): readonly Node[] {
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => listAt(node, keyword));
  const dependent = Object.values(namedAt(node, 'dependentSchemas'));
  return [...lists, node['then'], node['else'], ...dependent].filter(isObject);
}

const OBJECT_WORDS = 'properties patternProperties additionalProperties if dependentSchemas'.split(
  ' ',
);

/** A schema that says nothing of members itself, and leaves that to one branch at a time. */
export function isTransparent(node: Node): boolean {
  if (OBJECT_WORDS.some((keyword) => Object.hasOwn(node, keyword))) return false;
  const groups = ['anyOf', 'oneOf', 'allOf', '$ref'].filter((keyword) =>
    Object.hasOwn(node, keyword),
  );
  if (groups.length !== 1) return false;
  return groups[0] !== 'allOf' || listAt(node, 'allOf').length === 1;
}

/** Whether every branch only narrows what the schema itself lists, so that it may be closed. */
export function onlyNarrowed(node: Node): boolean {
  if (!isObject(node['properties'])) return false;
  const own = new Set(Object.keys(namedAt(node, 'properties')));
  if (Object.hasOwn(node, '$ref')) return false;
  return branchesOf(node).every((branch) => {
    if (Object.hasOwn(branch, '$ref') || branchesOf(branch).length > 0) return false;
    if (Object.hasOwn(branch, 'patternProperties')) return false;
    return Object.keys(namedAt(branch, 'properties')).every((name) => own.has(name));
  });
}

/** Whether a part of the schema speaks of one of these names. */
export function mentions(node: Node, names: ReadonlySet<string>): boolean {
  const own = [...Object.keys(namedAt(node, 'properties')), ...namesAt(node, 'required')];
  if (own.some((name) => names.has(name))) return true;
  return childrenOf(node).some((child) => mentions(child, names));
}
