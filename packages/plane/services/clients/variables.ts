// References to the environment in a config (F-004). They stay in the file as they are, because
// the client expands them itself; here they are only read, to report what would be missing.
import type { ProcessEnvironment } from '../../os/index.ts';
import type { Client, ServerEntry, Variable } from './types.ts';

/** The references that a client expands; Codex, Zed and Claude Desktop expand none. */
type Expands = Pick<Client, 'expands'>;

const REFERENCE = /\$(?:\{[^{}]{1,1024}\}|[A-Za-z_][A-Za-z0-9_]{0,127})/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that editors give a meaning of their own, in the place of a variable. */
const PREDEFINED: ReadonlySet<string> = new Set([
  ...['cwd', 'execPath', 'pathSeparator', 'userHome'],
  ...['workspaceFolder', 'workspaceFolderBasename', 'workspaceRoot'],
]);
const VARIABLES_MAX = 1_000;
const DEPTH_MAX = 4;

interface Reference extends Variable {
  readonly fallback: string | undefined;
}

/** `${NAME}`, or `$NAME`. */
function parseReference(whole: string): Reference | undefined {
  if (!whole.startsWith('${')) {
    return { syntax: 'bare', name: whole.slice(1), hasDefault: false, fallback: undefined };
  }
  const inner = whole.slice(2, -1);
  const [, prefix, rest = ''] = /^(?:(env|input):)?([^]*)$/.exec(inner) ?? [];
  if (prefix === 'input' || prefix === 'env') {
    return { syntax: prefix, name: rest, hasDefault: false, fallback: undefined };
  }
  const cut = rest.indexOf(':-');
  const name = cut === -1 ? rest : rest.slice(0, cut);
  if (!NAME.test(name) || PREDEFINED.has(name)) return undefined;
  const fallback = cut === -1 ? undefined : rest.slice(cut + 2);
  return { syntax: 'plain', name, hasDefault: fallback !== undefined, fallback };
}

/** Every reference in a value and in what it holds, each once. */
export function variablesIn(...values: readonly unknown[]): readonly Variable[] {
  const found = new Map<string, Variable>();
  for (const text of textsIn(values, 0)) {
    for (const [whole] of text.matchAll(REFERENCE)) {
      const reference = parseReference(whole);
      if (reference === undefined || found.size >= VARIABLES_MAX) continue;
      const { syntax, name, hasDefault } = reference;
      found.set(whole, { syntax, name, hasDefault });
    }
  }
  return [...found.values()];
}

function textsIn(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

/** The variables that the client would look up and find neither a value nor a default for. */
export function unresolved(
  entry: ServerEntry,
  { expands }: Expands,
  env: ProcessEnvironment,
): readonly string[] {
  const missing = entry.variables.filter(
    ({ syntax, name, hasDefault }) =>
      // The client asks the user for `${input:…}`.
      syntax !== 'input' && expands.includes(syntax) && !hasDefault && !Object.hasOwn(env, name),
  );
  return [...new Set(missing.map(({ name }) => name))];
}

/**
 * A text of an entry as the client would start it: for checks, in memory only. The result may hold
 * secrets and must not be printed or written. A reference without a value stays as it is.
 */
export function expandText(text: string, { expands }: Expands, env: ProcessEnvironment): string {
  return text.replace(REFERENCE, (whole) => {
    const reference = parseReference(whole);
    if (reference === undefined || !expands.includes(reference.syntax)) return whole;
    if (reference.syntax === 'input') return whole;
    return env[reference.name] ?? reference.fallback ?? whole;
  });
}

/** `$NAME` as `${NAME}`, where the client takes both for the same: one form for whoever compares texts. */
export function withBraces(text: string, { expands }: Expands): string {
  return expands.includes('bare') ? text.replace(REFERENCE, bracedName) : text;
}

function bracedName(whole: string): string {
  return whole.startsWith('${') ? whole : `\${${whole.slice(1)}}`;
}

interface Expanding extends Expands {
  readonly env: ProcessEnvironment;
}

/**
 * Whether a client may have made this word of the written one. A variable that is not set here may have
 * had any value there: some clients give their servers almost no environment.
 */
export function mayExpandTo(written: string, word: string, { expands, env }: Expanding): boolean {
  const pattern = written
    .split(REFERENCE_KEPT)
    .map((part, at) => {
      // What was split at stands between the other parts.
      if (at % 2 === 0) return escapePattern(part);
      if (PREDEFINED.has(part.slice(2, -1)) && expands.includes('env')) return '[^]*';
      const reference = parseReference(part);
      if (reference === undefined || !expands.includes(reference.syntax))
        return escapePattern(part);
      const value = reference.syntax === 'input' ? undefined : env[reference.name];
      return value === undefined ? '[^]*' : escapePattern(value);
    })
    .join('');
  return new RegExp(`^${pattern}$`).test(word);
}

const REFERENCE_KEPT = new RegExp(`(${REFERENCE.source})`);

/** A text as a regular expression that matches nothing else. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
