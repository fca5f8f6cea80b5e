// The parts of compiling that are heavy to load. A bundle that has no regex and no `when:` never
// loads them, so a shim that only matches names starts without them.
import type { Bundle } from '@subluminal/contracts';
import type { Call } from '../types.ts';
import type { RegexResult } from './regex.ts';
import type { WhenContext, WhenResult } from './when.ts';

interface Engines {
  readonly regex: (source: string) => RegexResult;
  readonly when: (source: string) => WhenResult;
  readonly whenContext: (call: Call, riskClass: readonly string[]) => WhenContext;
}

/** Loads what the rules need, and nothing else. */
async function enginesFor(rules: Bundle['rules']): Promise<Engines> {
  const needsWhen = rules.some((rule) => rule.when !== undefined);
  const needsRegex = rules.some(
    ({ match }) => match.server_name?.regex !== undefined || match.tool_name?.regex !== undefined,
  );
  const regex = needsRegex ? (await import('./regex.ts')).compileRegex : unloaded;
  if (!needsWhen) return { regex, when: unloaded, whenContext: unloaded };
  const { compileWhen, whenContext } = await import('./when.ts');
  return { regex, when: compileWhen, whenContext };
}

function unloaded(): never {
  throw new Error('an engine was used that the rules did not ask for');
}

export type { Engines };
export { enginesFor };
