// Advice on single rules: effects that surprise.
import type { Rule } from '@subluminal/contracts';
import { quote } from '../../text/visible.ts';
import { type Advice, note, type Subject, warning } from './advice.ts';
import { matchesAll } from './check-order.ts';

/** An allow that lets more names pass than its author reads in it. */
export function unanchoredAllows({ enabled }: Subject): readonly Advice[] {
  const fields = ['server_name', 'tool_name'] as const;
  return enabled.flatMap(({ rule, index }) => {
    if (rule.kind !== 'allow') return [];
    return fields.flatMap((field) =>
      (rule.match[field]?.regex ?? []).flatMap((regex, position) => {
        if (isAnchored(regex)) return [];
        return warning(
          'SUB_LINT_UNANCHORED',
          ['rules', index, 'match', field, 'regex', position],
          [
            `${quote(regex)} also allows names that only contain it`,
            'Anchor it at both ends: `^(…)$`.',
          ],
        );
      }),
    );
  });
}

/** An agent that is told no, and nothing else, tries again. */
export function missingHints({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    const { hints, path } = refusal(rule);
    if (path === undefined || hints.some((text) => text !== undefined)) return [];
    return warning(
      'SUB_LINT_NO_HINT',
      ['rules', index, 'effect', ...path],
      [
        `${quote(rule.rule_id)} rejects with a hint, but has no \`hint_text\``,
        'Add a `hint_text` that tells the agent what to do instead.',
      ],
    );
  });
}

/** Where a rule says REJECT_WITH_HINT, and the texts it has for that. */
function refusal(rule: Rule): {
  readonly path?: readonly string[];
  readonly hints: readonly (string | undefined)[];
} {
  const full = 'hint' in rule.effect ? rule.effect.hint?.hint_text : undefined;
  const found = (path: readonly string[], action: string, short: string | undefined) =>
    action === 'REJECT_WITH_HINT' ? { path, hints: [full, short] } : { hints: [] };
  switch (rule.kind) {
    case 'budget': {
      const { on_exceed, hint_text } = rule.effect.budget;
      return found(['budget', 'on_exceed'], on_exceed, hint_text);
    }
    case 'rate_limit': {
      const { on_limit, hint_text } = rule.effect.rate_limit;
      return found(['rate_limit', 'on_limit'], on_limit, hint_text);
    }
    case 'breaker': {
      const { on_trip, hint_text } = rule.effect.breaker;
      return found(['breaker', 'on_trip'], on_trip, hint_text);
    }
    case 'dedupe': {
      const { on_duplicate, hint_text } = rule.effect.dedupe;
      return found(['dedupe', 'on_duplicate'], on_duplicate, hint_text);
    }
    default:
      return { hints: [] };
  }
}

export function disabledRules({ bundle }: Subject): readonly Advice[] {
  return bundle.rules.flatMap((rule, index) => {
    if (rule.enabled) return [];
    return note(
      'SUB_LINT_DISABLED',
      ['rules', index, 'enabled'],
      [`${quote(rule.rule_id)} is disabled`, 'Remove the rule when it is no longer needed.'],
    );
  });
}

/** Limits that stop the very first call: a deny says so more plainly. */
export function impossibleBudgets({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    if (rule.kind !== 'budget') return [];
    const { limit_calls, limit_cost_units, cost_units_per_call: cost = 1 } = rule.effect.budget;
    const path = ['rules', index, 'effect', 'budget'];
    const found: Advice[] = [];
    if (limit_calls === 0) found.push(neverPasses([...path, 'limit_calls'], '0 calls'));
    if (limit_cost_units !== undefined && cost > limit_cost_units) {
      const limit = `${limit_cost_units} cost units, but a call costs ${cost}`;
      found.push(neverPasses([...path, 'limit_cost_units'], limit));
    }
    return found;
  });
}

function neverPasses(path: readonly (string | number)[], limit: string): Advice {
  return warning('SUB_LINT_NEVER_PASSES', path, [
    `the budget has ${limit}: no call ever passes`,
    'Raise the limit, or write a `deny` rule.',
  ]);
}

/** Reading the same thing twice is no accident. */
export function broadDedupes({ enabled }: Subject): readonly Advice[] {
  return enabled.flatMap(({ rule, index }) => {
    if (rule.kind !== 'dedupe' || rule.when !== undefined || !matchesAll(rule.match)) return [];
    return warning(
      'SUB_LINT_BROAD_DEDUPE',
      ['rules', index, 'match'],
      [
        `${quote(rule.rule_id)} refuses repeated reads too`,
        'Match the calls that write, like `risk_class: [write_like]`.',
      ],
    );
  });
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
