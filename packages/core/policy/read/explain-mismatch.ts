// Where a bundle does not fit its contract: put into words that name the likely fix.
import { BUNDLE, type Mismatch, type Shape } from '@subluminal/contracts';
import type { Finding, Path, Remark } from '../../source/problem.ts';
import { follow, type MapTree, type Tree } from '../../source/tree.ts';
import { durationFix, emptyFix, typeFix, valueFix, written } from '../../source/type-fix.ts';
import { likely, nearest } from '../../text/nearest.ts';
import { quote } from '../../text/visible.ts';
import { exampleOf } from './examples.ts';

/** Mismatches as findings; the tree has the values as they were written. */
export function explainMismatches(mismatches: readonly Mismatch[], root: Tree): readonly Finding[] {
  const missingIn = missingByObject(mismatches);
  const misplaced = misplacedIn(mismatches, root);
  return mismatches.flatMap((mismatch) => {
    const { path, problem } = mismatch;
    // A field that is empty or missing because its fields stand elsewhere needs no other fix.
    const isGap = problem === 'missing' || (problem === 'type' && isNothing(root, path));
    if (isGap && misplaced.has(idOf(path))) return [];
    if (problem !== 'unknown') return [{ path, ...remarkOn(mismatch, root) }];
    const lacking = missingIn.get(idOf(path.slice(0, -1))) ?? [];
    return [{ path, atKey: true, ...unknownField(mismatch, root, lacking) }];
  });
}

/** For each object, the required fields that it lacks. */
function missingByObject(mismatches: readonly Mismatch[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { path, problem } of mismatches) {
    if (problem !== 'missing') continue;
    const id = idOf(path.slice(0, -1));
    found.set(id, [...(found.get(id) ?? []), String(path.at(-1))]);
  }
  return found;
}

/** The objects and fields that would be there if unknown fields were indented below them. */
function misplacedIn(mismatches: readonly Mismatch[], root: Tree): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, problem } of mismatches) {
    const home = problem === 'unknown' ? homeOf(path, root) : undefined;
    if (home === undefined) continue;
    const target = [...path.slice(0, -1), home];
    found.add(idOf(target)).add(idOf([...target, ...path.slice(-1)]));
  }
  return found;
}

function idOf(path: Path): string {
  return JSON.stringify(path);
}

function isNothing(root: Tree, path: Path): boolean {
  const { tree } = follow(root, path);
  return tree.kind === 'scalar' && tree.value === null;
}

function remarkOn(mismatch: Mismatch, root: Tree): Remark {
  const { path, problem, choices, expected } = mismatch;
  const name = fieldName(mismatch);
  if (problem === 'missing') return missingField(mismatch, root);
  const { tree } = follow(root, path);
  if (path.length === 0) return noBundle(tree);
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    return unknownChoice(mismatch, tree.value, root);
  }
  const message = `expected ${expected}, got ${written(tree)}`;
  if (problem === 'value') {
    const fix = valueFix(mismatch, tree);
    return tooManyItems(mismatch, root) ?? { code: 'SUB_BUNDLE_VALUE', message, fix };
  }
  const example = exampleOf(name, kindAround(mismatch, root), choices);
  const fix = isNothing(root, path) ? emptyFix(name, example) : typeFix(name, expected, tree);
  return { code: 'SUB_BUNDLE_TYPE', message, fix };
}

/** The last name on the way; an item of a list is called by the name of its list. */
function fieldName({ path }: Mismatch): string {
  const name = path.findLast((step) => typeof step === 'string');
  return typeof name === 'string' ? name : 'bundle';
}

function missingField(mismatch: Mismatch, root: Tree): Remark {
  const name = fieldName(mismatch);
  const example = exampleOf(name, kindAround(mismatch, root), mismatch.choices);
  const fix = example === undefined ? `Add \`${name}\`.` : `Add \`${name}: ${example}\`.`;
  return { code: 'SUB_BUNDLE_MISSING_FIELD', message: `missing ${mismatch.expected}`, fix };
}

/** The kind of the rule that the path leads into. */
function kindAround({ path }: Mismatch, root: Tree): string | undefined {
  const { tree, whole } = follow(root, [...path.slice(0, 2), 'kind']);
  return whole && tree.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : undefined;
}

const HEAD = '`policy_id`, `version`, `mode`, `defaults`, `selectors` and `rules`';

/** The whole file is no object. */
function noBundle(tree: Tree): Remark {
  const message = `a bundle is an object with ${HEAD}, but this file holds ${written(tree)}`;
  const rules = tree.kind === 'list' ? ', and put the rules in a list below `rules:`' : '';
  const fix = `Start with \`policy_id: my-policy\`${rules}.`;
  return { code: 'SUB_BUNDLE_TYPE', message, fix };
}

function tooManyItems(mismatch: Mismatch, root: Tree): Remark | undefined {
  const { tree } = follow(root, mismatch.path);
  const shape = shapeAt(mismatch.path, root);
  if (tree.kind !== 'list' || shape?.kind !== 'array') return undefined;
  const { itemsMax } = shape;
  if (tree.items.length <= itemsMax) return undefined;
  const name = fieldName(mismatch);
  const message = `${quote(name)} has ${tree.items.length} items, and may have at most ${itemsMax}`;
  const fix = name === 'rules' ? 'Split the bundle.' : 'Shorten the list.';
  return { code: 'SUB_BUNDLE_TOO_LARGE', message, fix };
}

const ACTION_FIELDS = new Set(['outbound', 'inbound', 'definitions', 'unscanned']);

function unknownChoice(mismatch: Mismatch, value: string, root: Tree): Remark {
  const { path, choices } = mismatch;
  const [section, field] = path;
  const name = fieldName(mismatch);
  // A sink has a kind, too; and each class of content has an action.
  const isKind = section === 'rules' && name === 'kind';
  const isAction = section === 'content' && ACTION_FIELDS.has(String(field));
  const code = isKind ? 'SUB_BUNDLE_UNKNOWN_KIND' : 'SUB_BUNDLE_VALUE';
  const [only] = choices;
  if (choices.length === 1) {
    const message = `expected \`${only}\`, got ${quote(value)}`;
    return { code, message, fix: `Write \`${name}: ${only}\`.` };
  }
  const unknown = `unknown ${isAction ? 'action' : name} ${quote(value)}`;
  const meant = nearest(value, choices) ?? synonymOf(value, choices);
  if (name === 'mode' && path.length === 1 && nearest(value, choices) === undefined) {
    const fix = meant === undefined ? 'Use one of them.' : `Write \`mode: ${meant}\`.`;
    return { code, message: `${unknown}; ${MODES}`, fix };
  }
  if (meant === undefined) {
    const message = `${unknown}; expected one of ${choices.join(', ')}`;
    return { code, message, fix: 'Use one of them.' };
  }
  const message = `${unknown}; did you mean \`${meant}\`?`;
  return { code, message, fix: `Write \`${name}: ${withChoice(mismatch, meant, root)}\`.` };
}

/** The value of a field with the choice in it: where it is a list, the whole list. */
function withChoice({ path }: Mismatch, choice: string, root: Tree): string {
  const { tree } = follow(root, path.slice(0, -1));
  if (tree.kind !== 'list') return choice;
  const items = tree.items.map((item, index) => {
    if (index === path.at(-1)) return choice;
    return item.kind === 'scalar' ? String(item.value) : '…';
  });
  return `[${items.join(', ')}]`;
}

const MODES =
  '`observe` only records what it would refuse, `guardrails` refuses, `control` refuses, asks people and sends hints';

/** What other tools write for listed values, in lower case and without `_` and `-`. */
const VALUE_SYNONYMS: { readonly [choice: string]: string } = {
  // Kinds of rules.
  allow: 'permit pass accept whitelist allowlist',
  deny: 'block forbid reject refuse prohibit disallow blacklist blocklist denylist',
  approval: 'ask confirm approve requireapproval human hold prompt',
  budget: 'limit quota calllimit maxcalls',
  rate_limit: 'throttle rate',
  breaker: 'circuitbreaker circuit loop',
  dedupe: 'dedup duplicate repeat idempotency',
  tag: 'label classify mark',
  // Actions.
  block: 'deny refuse forbid stop drop',
  reject_with_hint: 'hint reject',
  terminate_run: 'terminate kill abort end',
  ask: 'approve approval confirm hold',
  redact: 'mask replace hide',
  // Severities and modes.
  info: 'low notice debug',
  warn: 'medium moderate',
  critical: 'high error severe fatal',
  observe: 'audit monitor log dryrun report permissive passive shadow',
  guardrails: 'enforce enforcing enforced strict block deny on',
  control: 'ask approve approval interactive',
};

function synonymOf(value: string, choices: readonly string[]): string | undefined {
  const folded = value.toLowerCase().replaceAll(/[-_ ]/g, '');
  return choices.find((choice) => {
    const name = choice.toLowerCase();
    const words = Object.hasOwn(VALUE_SYNONYMS, name) ? VALUE_SYNONYMS[name] : undefined;
    return words?.split(' ').includes(folded) === true;
  });
}

// A field that the contract does not have here: what was meant, or where it belongs.

/** What other tools call our fields. */
const SYNONYMS: { readonly [field: string]: readonly string[] } = {
  when: ['if', 'condition', 'expression', 'cel'],
  kind: ['type'],
  policy_id: ['name'],
  rule_id: ['name'],
  message: ['reason'],
  hint_text: ['text'],
  env: ['environment'],
  args: ['arguments', 'params', 'names'],
  glob: ['pattern', 'patterns'],
  limit_calls: ['max_calls'],
  severity: ['priority', 'level'],
  allow: ['allowlist'],
  on_taint: ['action'],
  default_trust: ['trust'],
  adds: ['flags'],
  hosts: ['domains'],
  emails: ['recipients'],
  outbound: ['outgoing'],
  inbound: ['incoming'],
  definitions: ['tools'],
  personal: ['pii'],
  secret: ['secrets'],
  expires: ['until'],
  fingerprint: ['hash'],
};

/** The remark on an unknown field; the missing fields are those that its object lacks. */
function unknownField({ path, choices }: Mismatch, root: Tree, missing: readonly string[]): Remark {
  const name = String(path.at(-1));
  const code = 'SUB_BUNDLE_UNKNOWN_FIELD';
  const { tree } = follow(root, path.slice(0, -1));
  const parent = tree.kind === 'map' ? tree : undefined;
  const free = choices.filter((choice) => parent?.entries.has(choice) !== true);
  const home = homeOf(path, root);
  if (home !== undefined) {
    const message = `${quote(name)} is a field of \`${home}\``;
    const fix =
      parent?.flow === true ? `Move it into \`${home}\`.` : `Indent it below \`${home}\`.`;
    return { code, message, fix };
  }
  const isSynonym = (field: string) => SYNONYMS[field]?.includes(name.toLowerCase()) === true;
  const meant = likely(name, missing) ?? likely(name, free) ?? free.find(isSynonym);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    const unit = meant.endsWith('_ms') ? ', which is in milliseconds' : '';
    const duration = durationFix(meant, follow(root, path).tree);
    return { code, message, fix: duration ?? `Rename it to \`${meant}\`${unit}.` };
  }
  const message = `unknown field ${quote(name)}; the fields here are ${choices.join(', ')}`;
  return { code, message, fix: renameFix(parent, choices, missing) };
}

/** Removing a field is the fix only where nothing else seems to be meant by it. */
function renameFix(
  parent: MapTree | undefined,
  choices: readonly string[],
  missing: readonly string[],
): string {
  if (missing.length > 0) {
    const wanted = missing.map((field) => `\`${field}\``).join(' or ');
    return `Rename it if it is meant as ${wanted}, else remove it.`;
  }
  const hasKnown = choices.some((choice) => parent?.entries.has(choice) === true);
  return hasKnown || choices.length === 0 ? 'Remove it.' : 'Use one of these fields.';
}

/** The object beside an unknown field which has a field of that name. */
function homeOf(path: Path, root: Tree): string | undefined {
  const name = String(path.at(-1));
  const shape = shapeAt(path.slice(0, -1), root);
  if (shape?.kind !== 'object') return undefined;
  return Object.keys(shape.fields).find((field) => {
    const inner = shape.fields[field]?.shape;
    return inner?.kind === 'object' && Object.hasOwn(inner.fields, name);
  });
}

// Which part of contract B a path leads to.

/** The shape that the value at a path should have; undefined where the contract has none. */
function shapeAt(path: Path, root: Tree): Shape | undefined {
  let shape: Shape | undefined = BUNDLE;
  for (const [index, step] of path.entries()) {
    shape = resolved(shape, path.slice(0, index), root);
    if (shape === undefined) return undefined;
    if (shape.kind === 'array') shape = shape.items;
    else if (shape.kind === 'record') shape = shape.values;
    else if (shape.kind !== 'object') return undefined;
    else {
      const { fields } = shape;
      shape = Object.hasOwn(fields, step) ? fields[step]?.shape : undefined;
    }
  }
  return resolved(shape, path, root);
}

/** Of several shapes, the one that the value itself has chosen by its tag. */
function resolved(shape: Shape | undefined, path: Path, root: Tree): Shape | undefined {
  if (shape?.kind !== 'variant') return shape;
  const { tree, whole } = follow(root, [...path, shape.tag]);
  if (!whole || tree.kind !== 'scalar' || typeof tree.value !== 'string') return undefined;
  return Object.hasOwn(shape.cases, tree.value) ? shape.cases[tree.value] : undefined;
}
