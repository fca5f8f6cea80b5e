// Builds an allow rule for one call, and inserts it into the text of a bundle.
import type { Bundle } from '@subluminal/contracts';
import type { Position } from '@subluminal/core/policy';
import { shownId } from '../ledger/views.ts';
import type { Hinted } from './find.ts';

/** The call to allow, the person who allows it, and the time. */
export interface RuleRequest {
  readonly call: Hinted;
  readonly env: string;
  readonly anyArgs: boolean;
  /** Only in the run of the call. */
  readonly session: boolean;
  readonly by: string;
  readonly at: string;
}

export type NewRule = ReturnType<typeof ruleFor>;

const NAME_LENGTH_MAX = 200;

export function ruleFor({ call, env, anyArgs, session, by, at }: RuleRequest, bundle: Bundle) {
  const conditions = [
    ...(anyArgs ? [] : [equals('call.args_hash', call.args_hash)]),
    equals('identity.agent_id', call.agent_id),
    equals('identity.env', env),
    ...(session ? [equals('identity.run_id', call.run_id)] : []),
  ];
  const refused = (call.rule_id ?? '').slice(0, NAME_LENGTH_MAX);
  return {
    rule_id: freeId(`hint-${shownId(call.call_id)}`.slice(0, NAME_LENGTH_MAX), bundle),
    kind: 'allow' as const,
    enabled: true as const,
    match: {
      server_name: { glob: [exactGlob(call.server_name)] as const },
      tool_name: { glob: [exactGlob(call.tool_name)] as const },
    },
    when: conditions.join(' && '),
    effect: { action: 'ALLOW' as const },
    severity: 'info' as const,
    description: `Refused by ${refused} with a hint; let pass by ${by} at ${at}.`,
  };
}

function freeId(wanted: string, { rules }: Bundle): string {
  const taken = new Set(rules.map(({ rule_id }) => rule_id));
  let id = wanted;
  for (let count = 2; taken.has(id); count++) id = `${wanted}-${count}`;
  return id;
}

/** A glob that matches this name alone. */
function exactGlob(name: string): string {
  return name.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`);
}

function equals(name: string, value: string): string {
  return `${name} == ${quoted(value)}`;
}

/** Characters that are invisible or look like others: they are written as escapes. */
const UNSEEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}]/gu;

/** In double quotes, as YAML, JSON and CEL read it alike. */
function quoted(text: string): string {
  const inner = text.replaceAll(/["\\]/g, String.raw`\$&`);
  return `"${inner.replaceAll(UNSEEN, spelled)}"`;
}

function spelled(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > 0xff_ff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}

/** The rule as an item of a block list, one line each. */
function ruleLines(rule: NewRule, indent: string): readonly string[] {
  const { match, when } = rule;
  const lines = [
    `- rule_id: ${quoted(rule.rule_id)}`,
    '  kind: allow',
    '  enabled: true',
    '  match:',
    `    server_name: { glob: [${quoted(match.server_name.glob[0])}] }`,
    `    tool_name: { glob: [${quoted(match.tool_name.glob[0])}] }`,
    `  when: '${when.replaceAll("'", "''")}'`,
    '  effect: { action: ALLOW }',
    '  severity: info',
    `  description: ${quoted(rule.description)}`,
  ];
  return lines.map((line) => indent + line);
}

/** The rule as an item of a flow list or of JSON. */
function ruleJson(rule: NewRule): string {
  return JSON.stringify(rule).replaceAll(UNSEEN, (char) =>
    [...Array(char.length).keys()]
      .map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const MARK = '\uFEFF';

/** The text with the rule in it; `at` is where the other rule begins. */
export function insertRule(text: string, rule: NewRule, at: Position): string {
  const mark = text.startsWith(MARK) ? MARK : '';
  const body = text.slice(mark.length);
  const lines = body.split('\n');
  const dash = dashOf(lines, at);
  if (dash === undefined) return mark + insertInside(body, rule, at);
  const { line, indent } = dash;
  const first = aboveComments(lines, line, indent);
  const isSpaced = first > 0 && (lines[first - 1] ?? '').trim() === '';
  const own = [...ruleLines(rule, indent), ...(isSpaced ? [''] : [])];
  const carriage = body.includes('\r\n') ? '\r' : '';
  lines.splice(first, 0, ...own.map((one) => one + carriage));
  return mark + lines.join('\n');
}

/** The line of the dash that the rule stands behind; undefined when it stands in a flow list. */
function dashOf(
  lines: readonly string[],
  { line, column }: Position,
): { readonly line: number; readonly indent: string } | undefined {
  const before = (lines[line - 1] ?? '').slice(0, column - 1);
  const here = /^([ ]*)-[ \t]+$/.exec(before);
  if (here !== null) return { line: line - 1, indent: here[1] ?? '' };
  if (before.trim() !== '') return undefined;
  // The dash may have a line of its own.
  for (let at = line - 2; at >= 0; at--) {
    const text = (lines[at] ?? '').replace(/\r$/, '');
    const alone = /^([ ]*)-[ \t]*(?:#.*)?$/.exec(text);
    if (alone !== null) return { line: at, indent: alone[1] ?? '' };
    if (text.trim() !== '' && !text.trimStart().startsWith('#')) return undefined;
  }
  return undefined;
}

/** Comments right above a rule belong to that rule. */
function aboveComments(lines: readonly string[], line: number, indent: string): number {
  let first = line;
  while (first > 0 && (lines[first - 1] ?? '').startsWith(`${indent}#`)) first--;
  return first;
}

function insertInside(body: string, rule: NewRule, at: Position): string {
  const end = body.includes('\r\n') ? '\r\n' : '\n';
  const lines = body.split('\n').slice(0, at.line - 1);
  const start = lines.reduce((sum, one) => sum + one.length + 1, 0);
  const offset = start + at.column - 1;
  const before = body.slice(start, offset);
  const gap = before.trim() === '' ? `${end}${before}` : ' ';
  return `${body.slice(0, offset)}${ruleJson(rule)},${gap}${body.slice(offset)}`;
}
