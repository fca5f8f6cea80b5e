// Which modules a source names, statically or not.
import { isToken, type Source } from './source.ts';
import type { Token } from './tokens.ts';

export interface Import {
  /** Undefined when the module is computed at run time. */
  readonly specifier: string | undefined;
  readonly line: number;
  readonly dynamic: boolean;
}

export function importsOf({ tokens }: Source): readonly Import[] {
  const found: Import[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || isToken(tokens[index - 1], '.')) continue;
    const specifier = specifierAfter(tokens, index);
    if (specifier !== undefined) {
      found.push({ specifier: specifier.text, line: specifier.line, dynamic: false });
    } else if (isCallOf(tokens, index)) {
      const argument = tokens[index + 2];
      const known = argument !== undefined && isWholeString(tokens, index + 2);
      const text = known ? argument.text : undefined;
      found.push({ specifier: text, line: token.line, dynamic: true });
    }
  }
  return found;
}

/** The string of `import 'x'`, `import … from 'x'` and `export … from 'x'`. */
function specifierAfter(tokens: readonly Token[], start: number): Token | undefined {
  const [first, second] = [tokens[start], tokens[start + 1]];
  const isImport = isToken(first, 'import');
  if (isImport && second?.kind === 'string') return second;
  const named = second?.kind === 'word' || isToken(second, '{') || isToken(second, '*');
  if (!named || !(isImport || isToken(first, 'export'))) return undefined;
  for (let at = start + 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (isToken(token, 'from') && tokens[at + 1]?.kind === 'string') return tokens[at + 1];
    if (!isClausePart(token)) return undefined;
  }
  return undefined;
}

/** Names, braces, commas, `*` and quoted names are all that stands before `from`. */
function isClausePart(token: Token | undefined): boolean {
  if (token?.kind === 'word' || token?.kind === 'string') return true;
  return token?.kind === 'punct' && '{},*'.includes(token.text);
}

function isCallOf(tokens: readonly Token[], index: number): boolean {
  const name = tokens[index]?.text;
  return (name === 'import' || name === 'require') && isToken(tokens[index + 1], '(');
}

/** A literal followed by the end of the argument, and no template with holes. */
function isWholeString(tokens: readonly Token[], index: number): boolean {
  const kind = tokens[index]?.kind;
  const after = tokens[index + 1];
  return (kind === 'string' || kind === 'template') && (isToken(after, ')') || isToken(after, ','));
}
