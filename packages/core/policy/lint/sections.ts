// Advice on the content and taint sections.
import { fullContent, fullTaint } from '@subluminal/contracts';
import { readSuppression } from '../../scan/detect/suppress.ts';
import { quote } from '../read/quote.ts';
import { type Advice, type Subject, warning } from './advice.ts';

const YEAR_MS = 31_536_000_000;
/** Leap years included. */
const LASTING_MS = YEAR_MS + 86_400_000;
const FLAGS = ['untrusted_input', 'private_data', 'egress_or_change'] as const;

export function sectionsObserve({ bundle }: Subject): readonly Advice[] {
  if (bundle.mode !== 'observe') return [];
  const sections = ['content', 'taint'] as const;
  return sections.flatMap((section) => {
    if (bundle[section] === undefined) return [];
    return warning(
      'SUB_LINT_OBSERVE',
      [section],
      [
        `observe mode enforces nothing: \`${section}\` only records what it would do`,
        'Write `mode: guardrails` to enforce it.',
      ],
    );
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

/** Where the sections ask, by what is written or by default. */
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
    const read = readSuppression(suppression);
    if (read.kind === 'refused') {
      return warning(
        'SUB_LINT_SUPPRESSION',
        [...path, 'rule'],
        [
          `the suppression of ${quote(suppression.rule)} does nothing: ${read.reason}`,
          'Name the rule as the finding does.',
        ],
      );
    }
    const leftMs = Date.parse(suppression.expires) - nowMs;
    if (leftMs > 0 && leftMs <= LASTING_MS) return [];
    const isOver = leftMs <= 0;
    return warning(
      'SUB_LINT_SUPPRESSION',
      [...path, 'expires'],
      [
        isOver
          ? `the suppression of ${quote(suppression.rule)} has expired and does nothing`
          : `the suppression of ${quote(suppression.rule)} lasts for more than a year`,
        isOver ? 'Remove it.' : 'Write an earlier `expires`.',
      ],
    );
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
  return [
    warning(
      'SUB_LINT_RULE_OF_TWO',
      ['taint', 'rule_of_two'],
      [
        `no tool brings ${words}, so no run ever has all three`,
        'List what the tools bring under `tools`.',
      ],
    ),
  ];
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
