// Where a bundle does not fit its contract: put into words that name the likely fix.
import type { Mismatch } from '@subluminal/contracts';
import { nearest } from '../problem.ts';
import { exampleOf } from './examples.ts';
import type { Finding, Remark } from './finding.ts';
import { quote } from './quote.ts';
import { follow, type ScalarTree, type Tree } from './tree.ts';

/** One mismatch as a finding; the tree tells how the value was written. */
function explainMismatch(mismatch: Mismatch, root: Tree): Finding {
  const atKey = mismatch.problem === 'unknown';
  return { path: mismatch.path, atKey, ...remarkOn(mismatch, root) };
}

function remarkOn(mismatch: Mismatch, root: Tree): Remark {
  const { path, problem, choices } = mismatch;
  const name = fieldName(mismatch);
  if (problem === 'missing') return missing(mismatch, root);
  if (problem === 'unknown') return unknownField(mismatch, root);
  const { tree } = follow(root, path);
  if (choices.length > 0 && tree.kind === 'scalar' && typeof tree.value === 'string') {
    return unknownChoice(name, tree.value, choices);
  }
  const message = `expected ${mismatch.expected}, got ${written(tree)}`;
  if (problem === 'value') {
    return { code: 'SUB_BUNDLE_VALUE', message, fix: valueFix(mismatch, tree) };
  }
  const example = exampleOf(name, kindAround(mismatch, root));
  const nothing = tree.kind === 'scalar' && tree.value === null;
  const fix = nothing ? emptyFix(name, example) : typeFix(mismatch, tree);
  return { code: 'SUB_BUNDLE_TYPE', message, fix };
}

/** The last name on the way; an item of a list is called by the name of its list. */
function fieldName({ path }: Mismatch): string {
  const name = path.findLast((step) => typeof step === 'string');
  return typeof name === 'string' ? name : 'bundle';
}

function missing(mismatch: Mismatch, root: Tree): Remark {
  const name = fieldName(mismatch);
  const example = exampleOf(name, kindAround(mismatch, root)) ?? mismatch.choices[0];
  const fix = example === undefined ? `Add \`${name}\`.` : `Add \`${name}: ${example}\`.`;
  return { code: 'SUB_BUNDLE_MISSING_FIELD', message: `missing ${mismatch.expected}`, fix };
}

/** The kind of the rule that the path leads into. */
function kindAround({ path }: Mismatch, root: Tree): string | undefined {
  const { tree, whole } = follow(root, [...path.slice(0, 2), 'kind']);
  return whole && tree.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : undefined;
}

function unknownField(mismatch: Mismatch, root: Tree): Remark {
  const name = fieldName(mismatch);
  const code = 'SUB_BUNDLE_UNKNOWN_FIELD';
  const parent = follow(root, mismatch.path.slice(0, -1)).tree;
  const free = mismatch.choices.filter(
    (choice) => parent.kind !== 'map' || !parent.entries.has(choice),
  );
  const meant = nearest(name, free);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    return { code, message, fix: `Rename it to \`${meant}\`.` };
  }
  const known = `the fields here are ${mismatch.choices.join(', ')}`;
  return { code, message: `unknown field ${quote(name)}; ${known}`, fix: 'Remove it.' };
}

function unknownChoice(name: string, value: string, choices: readonly string[]): Remark {
  const code = name === 'kind' ? 'SUB_BUNDLE_UNKNOWN_KIND' : 'SUB_BUNDLE_VALUE';
  const [only] = choices;
  if (choices.length === 1 && only !== undefined) {
    const message = `expected \`${only}\`, got ${quote(value)}`;
    return { code, message, fix: `Write \`${name}: ${only}\`.` };
  }
  const meant = nearest(value, choices);
  const known = choices.join(', ');
  if (meant === undefined) {
    const message = `unknown ${name} ${quote(value)}; expected one of ${known}`;
    return { code, message, fix: 'Use one of them.' };
  }
  const message = `unknown ${name} ${quote(value)}; did you mean \`${meant}\`?`;
  return { code, message, fix: `Write \`${name}: ${meant}\`.` };
}

/** A field with nothing behind its colon. */
function emptyFix(name: string, example: string | undefined): string {
  if (name === 'match') return 'Write `match: {}` to match every call.';
  if (example === undefined) return 'Give it a value, or remove the field.';
  return `Give it a value, like \`${name}: ${example}\`.`;
}

const TRUTHS: { readonly [word: string]: string } = {
  true: 'true',
  yes: 'true',
  on: 'true',
  false: 'false',
  no: 'false',
  off: 'false',
};

function typeFix({ expected }: Mismatch, tree: Tree): string {
  if (expected.startsWith('true or false') && tree.kind === 'scalar') {
    const word = String(tree.value).toLowerCase();
    const truth = Object.hasOwn(TRUTHS, word) ? TRUTHS[word] : undefined;
    return truth === undefined ? 'Write `true` or `false`.' : `Write \`${truth}\`, without quotes.`;
  }
  if (/^a (whole )?number/.test(expected)) {
    return isNumeric(tree) ? 'Remove the quotes.' : 'Write a number.';
  }
  if (expected.startsWith('a list')) {
    return tree.kind === 'scalar'
      ? `Write it as a list: \`[${shortened(tree)}]\`.`
      : 'Write it as a list, with `- ` before each item.';
  }
  if (expected.startsWith('an object')) return 'Write it as `name: value` lines below the field.';
  if (tree.kind === 'scalar') return `Put quotes around it: \`"${shortened(tree)}"\`.`;
  return 'Write one value, in quotes.';
}

function isNumeric(tree: Tree): boolean {
  if (tree.kind !== 'scalar' || typeof tree.value !== 'string') return false;
  return /^-?\d+(\.\d+)?$/.test(tree.value);
}

function valueFix({ expected }: Mismatch, tree: Tree): string {
  if (tree.kind === 'list') {
    return tree.items.length === 0 ? 'Add an item, or remove the field.' : 'Shorten the list.';
  }
  if (tree.kind !== 'scalar') return 'Write it as described.';
  if (typeof tree.value === 'number') return 'Use a number that fits.';
  if (tree.value === '') return 'Give it a value, or remove the field.';
  return expected.includes('at most') ? 'Shorten the text.' : 'Write it in that form.';
}

/** What stood there, as it was written; long or hidden parts are made harmless. */
function written(tree: Tree): string {
  if (tree.kind === 'list') return `a list of ${tree.items.length}`;
  if (tree.kind === 'map') return 'an object';
  if (tree.value === null) return 'nothing';
  if (tree.value === '') return 'an empty string';
  return quote(typeof tree.value === 'string' ? JSON.stringify(tree.value) : tree.raw);
}

function shortened(tree: ScalarTree): string {
  return quote(tree.raw).slice(1, -1);
}

export { explainMismatch };
