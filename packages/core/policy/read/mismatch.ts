// Where a bundle does not fit its contract: put into words that name the likely fix.
import type { Mismatch } from '@subluminal/contracts';
import { nearest } from '../problem.ts';
import { exampleOf } from './examples.ts';
import type { Finding, Path, Remark } from './finding.ts';
import { quote } from './quote.ts';
import { shapeAt } from './shape-at.ts';
import { follow, type Tree } from './tree.ts';
import { emptyFix, typeFix, valueFix, written } from './type-fix.ts';
import { homeOf, unknownField } from './unknown-field.ts';

/** Mismatches as findings; the tree tells how the values were written. */
export function explainMismatches(mismatches: readonly Mismatch[], root: Tree): readonly Finding[] {
  const missingIn = missingByObject(mismatches);
  const misplaced = misplacedIn(mismatches, root);
  return mismatches.flatMap((mismatch) => {
    const { path, problem } = mismatch;
    // What is empty or missing only because its fields stand elsewhere needs no other fix.
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
  if (problem === 'missing') return missing(mismatch, root);
  const { tree } = follow(root, path);
  if (path.length === 0) return noBundle(tree);
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    return unknownChoice({ name, noun: nounOf(mismatch) }, tree.value, choices);
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

function missing(mismatch: Mismatch, root: Tree): Remark {
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
  const code = 'SUB_BUNDLE_TYPE';
  const bundle = `a bundle is an object with ${HEAD}`;
  if (tree.kind !== 'list') {
    const message = `${bundle}, but this file holds ${written(tree)}`;
    return { code, message, fix: 'Start with `policy_id: my-policy`.' };
  }
  const hasRules = tree.items.some(
    (item) => item.kind === 'map' && (item.entries.has('rule_id') || item.entries.has('kind')),
  );
  const fix = hasRules
    ? 'Put the list below `rules:`, and the other fields above it.'
    : 'Start with `policy_id: my-policy`, and put the rules in a list below `rules:`.';
  return { code, message: `${bundle}, but this file holds a list`, fix };
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

/** What a value is: a class of content has an action, all else is called by its name. */
function nounOf(mismatch: Mismatch): string {
  const [section, way] = mismatch.path;
  const isAction = section === 'content' && ACTION_FIELDS.has(String(way));
  return isAction ? 'action' : fieldName(mismatch);
}

const ACTION_FIELDS: ReadonlySet<string> = new Set([
  'outbound',
  'inbound',
  'definitions',
  'unscanned',
]);

interface Chosen {
  readonly name: string;
  readonly noun: string;
}

function unknownChoice({ name, noun }: Chosen, value: string, choices: readonly string[]): Remark {
  // A sink has a kind too.
  const isRule = name === 'kind' && choices.includes('deny');
  const code = isRule ? 'SUB_BUNDLE_UNKNOWN_KIND' : 'SUB_BUNDLE_VALUE';
  const [only] = choices;
  if (choices.length === 1 && only !== undefined) {
    const message = `expected \`${only}\`, got ${quote(value)}`;
    return { code, message, fix: `Write \`${name}: ${only}\`.` };
  }
  const meant = nearest(value, choices);
  const known = choices.join(', ');
  if (meant === undefined) {
    const message = `unknown ${noun} ${quote(value)}; expected one of ${known}`;
    return { code, message, fix: 'Use one of them.' };
  }
  const message = `unknown ${noun} ${quote(value)}; did you mean \`${meant}\`?`;
  return { code, message, fix: `Write \`${name}: ${meant}\`.` };
}
