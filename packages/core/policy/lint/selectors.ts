// Advice on whom a bundle is for, and on bundles that have nothing to say.
import type { Selectors } from '@subluminal/contracts';
import type { Path } from '../read/finding.ts';
import { quote } from '../read/quote.ts';
import { isPattern } from '../read/selectors.ts';
import { type Advice, note, type Subject, warning } from './advice.ts';

/** Values that look like patterns, although they are compared exactly. */
export function selectorPatterns({ bundle }: Subject): readonly Advice[] {
  return valuesIn(bundle.selectors).flatMap(({ value, path }) => {
    if (!isPattern(value)) return [];
    return warning('SUB_LINT_SELECTOR_PATTERN', path, [
      `${quote(value)} looks like a pattern, but selectors are compared exactly`,
      'Write out each value, or leave the selector out to match all.',
    ]);
  });
}

interface Placed {
  readonly value: string;
  readonly path: Path;
}

function valuesIn({ workload = {}, ...own }: Selectors): readonly Placed[] {
  const { labels = {}, ...inner } = workload;
  return [
    ...listsIn(own, ['selectors']),
    ...listsIn(inner, ['selectors', 'workload']),
    ...Object.entries(labels).map(([key, value]) => {
      return { value, path: ['selectors', 'workload', 'labels', key] };
    }),
  ];
}

function listsIn(
  lists: { readonly [field: string]: readonly string[] | undefined },
  path: Path,
): readonly Placed[] {
  return Object.entries(lists).flatMap(([field, values]) =>
    (values ?? []).map((value, index) => ({ value, path: [...path, field, index] })),
  );
}

export function noRules({ bundle }: Subject): readonly Advice[] {
  const { rules, content, taint } = bundle;
  if (rules.length > 0 || content !== undefined || taint !== undefined) return [];
  const words = ['there are no rules: every call passes', 'Add a rule.'] as const;
  return [note('SUB_LINT_EMPTY', ['rules'], words)];
}
