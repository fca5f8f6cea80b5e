// How a file publishes itself and what it claims about types.
import { type Finding, isToken, type Source } from '../source.ts';
import type { Token } from '../tokens.ts';

const CONFIG = /\.config\.[a-z]+$/;
const DIRECTIVE = /^\/[/*]+\s*@(ts-ignore|ts-nocheck|ts-expect-error)\b/;

export function shape(source: Source): readonly Finding[] {
  const { path, tokens } = source;
  const ofCode = tokens.flatMap((token, index) => {
    const message =
      token.kind === 'word' && !isToken(tokens[index - 1], '.')
        ? (exportProblem(path, tokens, index) ?? castProblem(tokens, index))
        : undefined;
    return message === undefined ? [] : [{ path, line: token.line, rule: 'shape', message }];
  });
  return [...ofCode, ...directives(source)];
}

function exportProblem(path: string, tokens: readonly Token[], index: number): string | undefined {
  const [token, after] = [tokens[index], tokens[index + 1]];
  if (isToken(token, 'export') && isToken(after, '*')) {
    return 'export by name, not with `export *`';
  }
  if (CONFIG.test(path)) return undefined;
  const isDefault = isToken(token, 'export') && isToken(after, 'default');
  const isRenamed = isToken(token, 'as') && isToken(after, 'default') && !isImported(tokens, index);
  return isDefault || isRenamed ? 'export by name, not as default' : undefined;
}

/** `import { default as x }` has the words the other way round, so only exports are left. */
function isImported(tokens: readonly Token[], index: number): boolean {
  for (let at = index; at >= 0; at--) {
    if (isToken(tokens[at], 'export')) return false;
    if (isToken(tokens[at], 'import') || isToken(tokens[at], ';')) return true;
  }
  return true;
}

function castProblem(tokens: readonly Token[], index: number): string | undefined {
  const [before, token, after] = [tokens[index - 1], tokens[index], tokens[index + 1]];
  if (isToken(token, 'any') && ['as', ':', '<'].some((sign) => isToken(before, sign))) {
    return 'no `any`: parse the value, or say `unknown`';
  }
  if (isToken(token, 'unknown') && isToken(before, 'as') && isToken(after, 'as')) {
    return 'no `as unknown as`: parse the value instead';
  }
  return undefined;
}

/** A test may expect an error of the compiler, because that is what it shows. */
function directives({ path, comments, isTest }: Source): readonly Finding[] {
  return comments.flatMap(({ text, line }) => {
    const directive = DIRECTIVE.exec(text)?.[1];
    if (directive === undefined || (isTest && directive === 'ts-expect-error')) return [];
    return [{ path, line, rule: 'shape', message: `no @${directive}: mend the types` }];
  });
}
