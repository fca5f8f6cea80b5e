// Selectors that nothing can match: a policy that selects nobody lets everything pass.
import { CLIENT, ENV, isObject } from '@subluminal/contracts';
import { likely } from '../problem.ts';
import type { Finding } from './finding.ts';
import { quote } from './quote.ts';

/** Fields whose values contract A lists. */
const LISTED = { env: ENV.values, client: CLIENT.values } as const;

/** Every value of a selector that no call can have. */
export function selectorFindings(bundle: unknown): readonly Finding[] {
  const selectors: unknown = isObject(bundle) ? bundle['selectors'] : undefined;
  if (!isObject(selectors)) return [];
  return Object.entries(LISTED).flatMap(([field, known]) => {
    const values: unknown = Object.hasOwn(selectors, field) ? selectors[field] : undefined;
    if (!Array.isArray(values)) return [];
    return values.flatMap((value: unknown, index): Finding[] => {
      // Other types and empty texts are for the shape to refuse.
      if (typeof value !== 'string' || value === '' || known.some((one) => one === value)) {
        return [];
      }
      const path = ['selectors', field, index];
      return [{ code: 'SUB_BUNDLE_VALUE', path, ...wordsFor(field, value, known) }];
    });
  });
}

function wordsFor(field: string, value: string, known: readonly string[]) {
  const unknown = `unknown ${field} ${quote(value)}`;
  const meant = likely(value, known);
  if (meant !== undefined) {
    return { message: `${unknown}; did you mean \`${meant}\`?`, fix: `Write \`${meant}\`.` };
  }
  const message = `${unknown}; expected one of ${known.join(', ')}`;
  const fix = isPattern(value) ? `Leave \`${field}\` out to match all.` : 'Use one of them.';
  return { message, fix };
}

/** Selectors are compared exactly, but this was hardly meant so. */
export function isPattern(value: string): boolean {
  return /[*?[{]/.test(value);
}
