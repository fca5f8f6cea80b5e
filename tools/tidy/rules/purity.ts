// Pure packages decide; time, randomness and the world come in as arguments.
import { PACKAGES } from '../layout.ts';
import { type Finding, isToken, type Source } from '../source.ts';
import type { Token } from '../tokens.ts';

const IMPURE = new Set(
  (
    'process Buffer console fetch setTimeout setInterval setImmediate performance crypto ' +
    'TextEncoder TextDecoder require globalThis'
  ).split(' '),
);

export function purity(source: Source): readonly Finding[] {
  const { packageName, tokens, path } = source;
  if (source.isTest || packageName === undefined || !PACKAGES[packageName]?.pure) return [];
  return tokens.flatMap((token, index) => {
    const what = impurity(tokens, index);
    if (what === undefined) return [];
    const message = `${what} has no place in a pure package; take it as an argument`;
    return [{ path, line: token.line, rule: 'purity', message }];
  });
}

function impurity(tokens: readonly Token[], index: number): string | undefined {
  const token = tokens[index];
  if (token?.kind !== 'word' || isToken(tokens[index - 1], '.')) return undefined;
  if (IMPURE.has(token.text)) return isMemberName(tokens, index) ? undefined : token.text;
  if (token.text === 'Date') return dateProblem(tokens, index);
  if (token.text === 'Math' && isMember(tokens, index, 'random')) return 'Math.random';
  return undefined;
}

/** A date made from a value is pure; the current one is not. */
function dateProblem(tokens: readonly Token[], index: number): string | undefined {
  if (isMember(tokens, index, 'now')) return 'Date.now';
  const hasArgument = isToken(tokens[index + 1], '(') && !isToken(tokens[index + 2], ')');
  if (isToken(tokens[index - 1], 'new')) return hasArgument ? undefined : 'new Date()';
  return isToken(tokens[index + 1], '(') ? 'Date()' : undefined;
}

/** `x.name`, `x?.name` and `x['name']`. */
function isMember(tokens: readonly Token[], index: number, name: string): boolean {
  const dotted = isToken(tokens[index + 1], '?') ? index + 2 : index + 1;
  if (isToken(tokens[dotted], '.')) return isToken(tokens[dotted + 1], name);
  const key = tokens[dotted + 1];
  return isToken(tokens[dotted], '[') && key?.kind === 'string' && key.text === name;
}

/** The name of a field or a method of ours, such as `{ process: true }` or `fetch(): Page;`. */
function isMemberName(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  const first = ['{', ',', ';', '(', 'readonly', 'async'].some((text) => isToken(before, text));
  if (!first) return false;
  const optional = isToken(tokens[index + 1], '?') ? 1 : 0;
  const after = tokens[index + 1 + optional];
  if (isToken(after, ':')) return true;
  if (!isToken(after, '(')) return false;
  const end = tokens[closingParenthesis(tokens, index + 1 + optional) + 1];
  return isToken(end, ':') || isToken(end, '{');
}

function closingParenthesis(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (isToken(tokens[at], '(')) depth++;
    if (isToken(tokens[at], ')') && --depth === 0) return at;
  }
  return tokens.length;
}
