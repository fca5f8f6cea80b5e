// Every test runs, every time. `skipIf` stays: it names its condition.
import { type Finding, isToken, type Source } from '../source.ts';
import type { Token } from '../tokens.ts';

const RUNNERS = new Set(['it', 'test', 'describe', 'suite', 'bench']);
const OFF = new Set(['skip', 'only', 'todo', 'fails']);

export function focus({ path, tokens, isTest }: Source): readonly Finding[] {
  if (!isTest) return [];
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || !OFF.has(token.text) || !startsAtRunner(tokens, index)) return [];
    const message = `.${token.text} leaves tests out`;
    return [{ path, line: token.line, rule: 'focus', message }];
  });
}

/** Walks back over `.each`, `.concurrent` and the like to the word the chain begins with. */
function startsAtRunner(tokens: readonly Token[], index: number): boolean {
  let at = index;
  while (isToken(tokens[at - 1], '.') && tokens[at - 2]?.kind === 'word') at -= 2;
  const first = tokens[at];
  return at < index && first?.kind === 'word' && RUNNERS.has(first.text);
}
