// The parts of compiling that are heavy to load. A bundle that has no regex and no `when:` never
// loads them, so a shim that only matches names starts without them.
import type { Bundle } from '@subluminal/contracts';
import type { Call } from '../types.ts';
import type { RegexResult } from './regex.ts';
import type { WhenContext, WhenResult } from './when.ts';

export interface Engines {
  /** Compiles an expression over names. */
  readonly regex: (source: string) => RegexResult;
  readonly when: (source: string) => WhenResult;
  readonly whenContext: (call: Call, riskClass: readonly string[]) => WhenContext;
}

const COSTLY_MAX = 1_000;

/** Loads what the rules need, and nothing else. */
export async function enginesFor(rules: Bundle['rules']): Promise<Engines> {
  const needsWhen = rules.some((rule) => rule.when !== undefined);
  const needsRegex = rules.some(
    ({ match }) => match.server_name?.regex !== undefined || match.tool_name?.regex !== undefined,
  );
  const { compileRegex } = needsRegex ? await import('./regex.ts') : { compileRegex: unloaded };
  const regex = once((source: string) => compileRegex(source, 'name'));
  if (!needsWhen) return { regex, when: unloaded, whenContext: unloaded };
  const { compileWhen, whenContext } = await import('./when.ts');
  return { regex, when: once(compileWhen), whenContext };
}

/** Compiles each source once, and not too many of them: one may take milliseconds. */
function once<R>(compile: (source: string) => R): (source: string) => R {
  const known = new Map<string, R>();
  let costly = 0;
  return (source) => {
    const compiled = known.get(source);
    if (compiled !== undefined) return compiled;
    costly += 1 + (source.match(/\bmatches\b/g)?.length ?? 0);
    if (costly > COSTLY_MAX) throw new Error(`more than ${COSTLY_MAX} different patterns`);
    const fresh = compile(source);
    known.set(source, fresh);
    return fresh;
  };
}

function unloaded(): never {
  throw new Error('an engine was used that the rules did not ask for');
}
