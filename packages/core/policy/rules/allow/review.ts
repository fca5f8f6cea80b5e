import type { RuleOf } from '@subluminal/contracts';
import type { Path } from '../../../source/problem.ts';
import { quote } from '../../../text/visible.ts';
import { ACTION_FIELDS, REASON_FIELDS } from '../../changes/field.ts';
import { type Advice, warning } from '../../model/advice.ts';
import type { RuleReview } from '../../rule-kind/rule-review.ts';

export const allowReview: RuleReview<RuleOf<'allow'>> = {
  fields: [...ACTION_FIELDS, ...REASON_FIELDS],
  lint: unanchoredPatterns,
};

/** Patterns that allow more names than their author reads in them. */
function unanchoredPatterns({ match }: RuleOf<'allow'>, path: Path): readonly Advice[] {
  return (['server_name', 'tool_name', 'provider', 'model'] as const).flatMap((field) =>
    (match[field]?.regex ?? []).flatMap((regex, position) => {
      if (isAnchored(regex)) return [];
      const words = `${quote(regex)} also allows names that only contain it`;
      const fix = 'Anchor it at both ends: `^(…)$`.';
      return warning(
        'SUB_LINT_UNANCHORED',
        [...path, 'match', field, 'regex', position],
        [words, fix],
      );
    }),
  );
}

/** Whether a regex can only match a whole name: anchored at both ends, in every alternative. */
export function isAnchored(regex: string): boolean {
  if (isMultiline(regex)) return false;
  const body = regex.replace(/^\(\?[A-Za-z-]+\)/, '');
  const start = /^(\^|\\A)/.exec(body);
  const end = /(\$|\\z)$/.exec(body);
  // What stands behind `\Q` is no sign, and may go on to the end.
  if (body.includes('\\Q')) return false;
  if (start === null || end === null || isEscaped(body, end.index)) return false;
  // `^a|b$` is anchored at one end of each alternative only.
  return !hasOuterAlternative(body);
}

/** With the flag `m`, `^` and `$` also fit at line breaks, so that a name may go on behind one. */
function isMultiline(regex: string): boolean {
  const flags = /\(\?[A-Za-z]*m[A-Za-z]*(-[A-Za-z]*)?[:)]/g;
  return [...regex.matchAll(flags)].some(({ index }) => !isEscaped(regex, index));
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function hasOuterAlternative(regex: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let index = 0; index < regex.length; index++) {
    const char = regex[index];
    if (char === '\\') index++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') {
      inClass = true;
      // A `]` right behind the start of a class is a member of it.
      if (regex[index + 1] === '^') index++;
      if (regex[index + 1] === ']') index++;
    } else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}
