// Advice on the mode and the defaults of a bundle.

import { fullContent, fullTaint } from '@subluminal/contracts';
import { readSuppression } from '../../scan/detect/suppress.ts';
import { quote } from '../../text/visible.ts';
import { type Advice, note, warning } from '../model/advice.ts';
import { isPattern } from '../read/check-sections.ts';
import { ruleClasses, ruleRole } from '../rules/index.ts';
import { textsIn } from './hidden.ts';
import type { Subject } from './lint-subject.ts';

const READ_CLASS = 'read_like';

export function failsOpen({ bundle }: Subject): readonly Advice[] {
  if (bundle.mode === 'observe' || bundle.defaults.decision_on_error !== 'ALLOW') return [];
  const path = ['defaults', 'decision_on_error'];
  const message = `a rule that cannot be evaluated lets the call pass, although the mode is ${bundle.mode}`;
  return [warning('SUB_LINT_FAIL_OPEN', path, [message, 'Write `decision_on_error: BLOCK`.'])];
}

/** An agent that can change its policy or the ledger can free itself. */
export function unprotected({ bundle }: Subject): readonly Advice[] {
  if (bundle.self_protection !== 'off') return [];
  const message = 'calls may name the policy, SUB_HOME and the ledger, so an agent can free itself';
  const fix =
    'Leave `self_protection` out, unless something else keeps agents away from these files.';
  return [warning('SUB_LINT_SELF_PROTECTION', ['self_protection'], [message, fix])];
}

export function observesOnly({ bundle, enabled }: Subject): readonly Advice[] {
  const blocks = enabled.some(({ rule }) => !['tags', 'allows'].includes(ruleRole(rule)));
  if (bundle.mode !== 'observe' || !blocks) return [];
  const message = 'observe mode never blocks: the rules only record what they would do';
  const fix = 'Write `mode: guardrails` to enforce them.';
  return [note('SUB_LINT_OBSERVE', ['mode'], [message, fix])];
}

/** Clients show an error as an error; a result is what their models read. */
export function rawRefusals({ bundle, enabled }: Subject): readonly Advice[] {
  const { hint_delivery, mode } = bundle;
  const refuses = enabled.some(({ rule }) => !['tags', 'allows'].includes(ruleRole(rule)));
  if (hint_delivery !== undefined || mode === 'observe' || !refuses) return [];
  const message =
    'refusals are JSON-RPC errors: Claude Code shows them as "MCP error -32081", Codex as raw JSON';
  const fix =
    'Write `hint_delivery: tool_result`, so that the model reads the reason and the hint; `hint_delivery: error` keeps it so.';
  return [note('SUB_LINT_HINT_DELIVERY', ['mode'], [message, fix])];
}

export function readsUntagged({ bundle, enabled }: Subject): readonly Advice[] {
  if (bundle.defaults.fail_open_read_tools !== true) return [];
  if (enabled.some(({ rule }) => ruleClasses(rule).includes(READ_CLASS))) return [];
  const path = ['defaults', 'fail_open_read_tools'];
  const message = `\`fail_open_read_tools\` lets calls pass that are tagged \`${READ_CLASS}\`, but no rule tags any`;
  const fix = `Add a \`tag\` rule with \`add_risk_class: [${READ_CLASS}]\`.`;
  return [warning('SUB_LINT_READ_UNTAGGED', path, [message, fix])];
}

// Advice on selectors, and on bundles without rules.

/** Values that look like patterns, although they are compared exactly. */
export function selectorPatterns({ bundle }: Subject): readonly Advice[] {
  return textsIn({ ...bundle.selectors }, ['selectors']).flatMap(({ text, path }) => {
    if (!isPattern(text)) return [];
    return warning('SUB_LINT_SELECTOR_PATTERN', path, [
      `${quote(text)} looks like a pattern, but selectors are compared exactly`,
      'Write out each value, or leave the selector out to match all.',
    ]);
  });
}

export function noRules({ bundle }: Subject): readonly Advice[] {
  const { rules, content, taint } = bundle;
  if (rules.length > 0 || content !== undefined || taint !== undefined) return [];
  const words = ['there are no rules: every call passes', 'Add a rule.'] as const;
  return [note('SUB_LINT_EMPTY', ['rules'], words)];
}

// Advice on the content and taint sections.

const YEAR_MS = 31_536_000_000;
/** Leap years included. */
const LASTING_MS = YEAR_MS + 86_400_000;
const FLAGS = ['untrusted_input', 'private_data', 'egress_or_change'] as const;

export function sectionsObserve({ bundle }: Subject): readonly Advice[] {
  if (bundle.mode !== 'observe') return [];
  const sections = ['content', 'taint'] as const;
  return sections.flatMap((section) => {
    if (bundle[section] === undefined) return [];
    const message = `observe mode enforces nothing: \`${section}\` only records what it would do`;
    const fix = 'Write `mode: guardrails` to enforce it.';
    return warning('SUB_LINT_OBSERVE', [section], [message, fix]);
  });
}

/** Only control mode asks people. */
export function sectionsAskNobody({ bundle }: Subject): readonly Advice[] {
  if (bundle.mode !== 'guardrails') return [];
  return asking(bundle).map((path) => {
    const [section = '', ...rest] = path;
    const what = quote([section, ...rest].join('.'));
    return warning('SUB_LINT_APPROVAL_MODE', path, [
      `${what} is \`ask\`, which asks nobody in guardrails mode: it blocks at once`,
      'Write `mode: control`, or `block`.',
    ]);
  });
}

/** The fields of the sections that ask a person, as written or by default. */
function asking({ content, taint }: Subject['bundle']): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  if (content !== undefined) {
    const { outbound, unscanned } = fullContent(content);
    for (const [name, action] of Object.entries(outbound)) {
      if (action === 'ask') paths.push(['content', 'outbound', name]);
    }
    if (unscanned === 'ask') paths.push(['content', 'unscanned']);
  }
  if (taint !== undefined) {
    const { on_taint, rule_of_two } = fullTaint(taint);
    if (on_taint === 'ask') paths.push(['taint', 'on_taint']);
    if (rule_of_two.mode === 'ask') paths.push(['taint', 'rule_of_two', 'mode']);
  }
  return paths;
}

/** Those that do nothing, and those that outlive the memory of why they are there. */
export function uselessSuppressions({ bundle, nowMs }: Subject): readonly Advice[] {
  return (bundle.content?.suppressions ?? []).flatMap((suppression, index) => {
    const path = ['content', 'suppressions', index];
    const what = `the suppression of ${quote(suppression.rule)}`;
    const advice = (field: string, words: string, fix: string) =>
      warning('SUB_LINT_SUPPRESSION', [...path, field], [`${what} ${words}`, fix]);
    const read = readSuppression(suppression);
    if (read.kind === 'refused') {
      return advice('rule', `does nothing: ${read.reason}`, 'Name the rule as the finding does.');
    }
    const leftMs = Date.parse(suppression.expires) - nowMs;
    if (leftMs <= 0) return advice('expires', 'has expired and does nothing', 'Remove it.');
    if (leftMs <= LASTING_MS) return [];
    return advice('expires', 'lasts for more than a year', 'Write an earlier `expires`.');
  });
}

export function ruleOfTwoWithoutTools({ bundle }: Subject): readonly Advice[] {
  const { taint } = bundle;
  const rule = taint?.rule_of_two;
  if (rule === undefined || rule.mode === 'off') return [];
  const added = new Set((rule.tools ?? []).flatMap(({ adds }) => adds));
  const missing = FLAGS.filter((flag) => {
    return !added.has(flag) && !(flag === 'untrusted_input' && hasUntrusted(taint));
  });
  if (missing.length === 0) return [];
  const words = missing.map((flag) => `\`${flag}\``).join(' and ');
  const message = `no tool brings ${words}, so no run ever has all three`;
  const fix = 'List what the tools bring under `tools`.';
  return [warning('SUB_LINT_RULE_OF_TWO', ['taint', 'rule_of_two'], [message, fix])];
}

/** An answer that is not trusted brings untrusted input by itself. */
function hasUntrusted(taint: Subject['bundle']['taint']): boolean {
  const { sources = [], default_trust } = taint ?? {};
  // What stands behind a source that fits everything is never asked.
  const last = sources.findIndex(({ server = '*', tool = '*' }) => server === '*' && tool === '*');
  const asked = last === -1 ? sources : sources.slice(0, last + 1);
  const rest = last === -1 ? (default_trust ?? 'untrusted') : 'trusted';
  return rest === 'untrusted' || asked.some(({ trust }) => trust === 'untrusted');
}
