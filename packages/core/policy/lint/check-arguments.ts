// Advice on arguments that a condition reads.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { ArgsMatch } from '@subluminal/contracts';
import { quote } from '../../text/visible.ts';
import { childrenOf } from '../match/when-survey.ts';
import { type Advice, warning } from '../model/advice.ts';
import type { Subject } from './lint-subject.ts';

/** `args.key` is an error where a call has no such key: most people expect false. */
export function missingGuards({ enabled, bundle, parseWhen }: Subject): readonly Advice[] {
  const stops = bundle.defaults.decision_on_error === 'BLOCK';
  const then = stops
    ? '`decision_on_error: BLOCK` then refuses the call'
    : 'the rule is then skipped, and the call may pass';
  return enabled.flatMap(({ rule, index }) => {
    if (rule.when === undefined) return [];
    const { read, guarded } = keysIn(parseWhen(rule.when));
    const matched = matchedKeys(rule.match.args ?? {});
    return [...read].flatMap(([key, offset]) => {
      if (guarded.has(key) || matched.has(key)) return [];
      const isPlain = /^[A-Za-z_]\w*$/.test(key);
      const guard = isPlain ? `has(args.${key})` : `${JSON.stringify(key)} in args`;
      const message = `the condition fails where a call has no argument ${quote(key)}, and ${then}`;
      const fix = `Write ${quote(`${guard} && …`)}, or \`has_keys\` in \`match.args\`.`;
      const path = ['rules', index, 'when'];
      return { ...warning('SUB_LINT_UNGUARDED', path, [message, fix]), inside: offset };
    });
  });
}

/** The keys that a call has once it fits; paths may stand under other keys, or deeper. */
function matchedKeys({ has_keys, key_equals, key_in, numeric_range }: ArgsMatch) {
  const named = [key_equals, key_in, numeric_range].flatMap((keys) => Object.keys(keys ?? {}));
  return new Set([...(has_keys ?? []), ...named]);
}

interface ReadKeys {
  /** The first place of each key. */
  readonly read: ReadonlyMap<string, number>;
  readonly guarded: ReadonlySet<string>;
}

/** A key counts as guarded wherever its guard stands: how the parts depend on each other is not judged. */
function keysIn(root: ASTNode): ReadKeys {
  const read = new Map<string, number>();
  const guarded = new Set<string>();
  const visit = (node: ASTNode): void => {
    const asked = guardedKey(node);
    if (asked !== undefined) {
      guarded.add(asked);
      return;
    }
    const key = argumentKey(node);
    if (key !== undefined && !read.has(key)) read.set(key, node.start);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  return { read, guarded };
}

/** The key of `has(args.key)` and `"key" in args`. */
function guardedKey(node: ASTNode): string | undefined {
  if (node.op === 'call' && node.args[0] === 'has') {
    const [asked] = node.args[1];
    return asked && argumentKey(asked);
  }
  if (node.op !== 'in') return undefined;
  const [key, list] = node.args;
  return list.op === 'id' && list.args === 'args' ? textOf(key) : undefined;
}

/** The key of `args.key` and `args["key"]`. */
export function argumentKey(node: ASTNode): string | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [owner, key] = node.args;
  if (owner.op !== 'id' || owner.args !== 'args') return undefined;
  return typeof key === 'string' ? key : textOf(key);
}

export function textOf(node: ASTNode): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}
