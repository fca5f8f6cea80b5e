// A field that the contract does not have here: what was meant, or where it belongs.
import type { Mismatch } from '@subluminal/contracts';
import { likely } from '../problem.ts';
import type { Path, Remark } from './finding.ts';
import { quote } from './quote.ts';
import { shapeAt } from './shape-at.ts';
import { follow, type MapTree, type Tree } from './tree.ts';

/** What other tools call our fields. A name may stand for several, of which one is there. */
const SYNONYMS: { readonly [name: string]: readonly string[] } = {
  if: ['when'],
  condition: ['when'],
  expression: ['when'],
  cel: ['when'],
  type: ['kind'],
  name: ['policy_id', 'rule_id'],
  reason: ['message'],
  text: ['hint_text'],
  environment: ['env'],
  arguments: ['args'],
  params: ['args'],
  pattern: ['glob'],
  patterns: ['glob'],
  max_calls: ['limit_calls'],
  priority: ['severity'],
  level: ['severity'],
  allowlist: ['allow'],
  action: ['on_taint'],
  trust: ['default_trust'],
  names: ['args'],
  flags: ['adds'],
  domains: ['hosts'],
  recipients: ['emails'],
  outgoing: ['outbound'],
  incoming: ['inbound'],
  tools: ['definitions'],
  pii: ['personal'],
  secrets: ['secret'],
  until: ['expires'],
  hash: ['fingerprint'],
};

/** What to say about an unknown field; the missing fields are those that its object lacks. */
export function unknownField(
  { path, choices }: Mismatch,
  root: Tree,
  missing: readonly string[],
): Remark {
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
  const meant = likely(name, missing) ?? likely(name, free) ?? synonymOf(name, free);
  if (meant !== undefined) {
    const message = `unknown field ${quote(name)}; did you mean \`${meant}\`?`;
    return { code, message, fix: `Rename it to \`${meant}\`.` };
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

function synonymOf(name: string, free: readonly string[]): string | undefined {
  const folded = name.toLowerCase();
  const meant = Object.hasOwn(SYNONYMS, folded) ? SYNONYMS[folded] : undefined;
  return meant?.find((field) => free.includes(field));
}

/** The object beside an unknown field which has a field of that name. */
export function homeOf(path: Path, root: Tree): string | undefined {
  const name = String(path.at(-1));
  const shape = shapeAt(path.slice(0, -1), root);
  if (shape?.kind !== 'object') return undefined;
  return Object.keys(shape.fields).find((field) => {
    const inner = shape.fields[field]?.shape;
    return inner?.kind === 'object' && Object.hasOwn(inner.fields, name);
  });
}
