// The engines that will run a bundle's patterns, as the checks that its parser wants.
import { compileGlob } from '../compile/glob.ts';
import { conditionWords } from './condition-fix.ts';
import { type ParseResult, parseBundle } from './parse.ts';
import type { PatternChecks } from './patterns.ts';
import type { Source } from './source.ts';

/** Loads the engines; they are heavy, so only who reads bundles as written pays for them. */
export async function loadPatternChecks(): Promise<PatternChecks> {
  const [{ compileRegex }, { compileWhen }] = await Promise.all([
    import('../compile/regex.ts'),
    import('../compile/when.ts'),
  ]);
  return {
    glob: (source) => faultOf(compileGlob(source)),
    regex: (source) => {
      const compiled = compileRegex(source);
      return compiled.ok ? undefined : compiled.message;
    },
    when: (source) => {
      const fault = faultOf(compileWhen(source));
      return fault === undefined ? undefined : { ...fault, ...conditionWords(source, fault) };
    },
  };
}

/**
 * Parses a bundle as it is, and once more with the engines if it has patterns for them: a bundle
 * that only matches names never loads them.
 */
export async function parseWithEngines(source: Source): Promise<ParseResult> {
  let isAsked = false;
  const asked = (): undefined => {
    isAsked = true;
  };
  const glob: PatternChecks['glob'] = (pattern) => faultOf(compileGlob(pattern));
  const parsed = parseBundle(source, { checks: { glob, regex: asked, when: asked } });
  return isAsked ? parseBundle(source, { checks: await loadPatternChecks() }) : parsed;
}

type Compiled = { readonly ok: true } | Fault;
interface Fault {
  readonly ok: false;
  readonly message: string;
  readonly offset: number;
}

function faultOf(compiled: Compiled): Omit<Fault, 'ok'> | undefined {
  if (compiled.ok) return undefined;
  return { message: compiled.message, offset: compiled.offset };
}
