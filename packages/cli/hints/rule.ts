// The rule that lets a hinted call pass: this server, tool, arguments, agent and environment, and
// nothing else.
import type { Bundle } from '@subluminal/contracts';
import type { Hinted } from './find.ts';
import { hintId } from './find.ts';

interface RuleWish {
  readonly call: Hinted;
  readonly env: string;
  readonly anyArgs: boolean;
  /** Only in the run of the call. */
  readonly session: boolean;
  /** Who wants it, and when; for the description. */
  readonly by: string;
  readonly at: string;
}

export interface NewRule {
  readonly rule_id: string;
  readonly kind: 'allow';
  readonly enabled: true;
  readonly match: {
    readonly server_name: { readonly glob: readonly [string] };
    readonly tool_name: { readonly glob: readonly [string] };
  };
  readonly when: string;
  readonly effect: { readonly action: 'ALLOW' };
  readonly severity: 'info';
  readonly description: string;
}

const NAME_LENGTH_MAX = 200;

export function ruleFor(
  { call, env, anyArgs, session, by, at }: RuleWish,
  bundle: Bundle,
): NewRule {
  const conditions = [
    ...(anyArgs ? [] : [equals('call.args_hash', call.args_hash)]),
    equals('identity.agent_id', call.agent_id),
    equals('identity.env', env),
    ...(session ? [equals('identity.run_id', call.run_id)] : []),
  ];
  const refused = (call.rule_id ?? '').slice(0, NAME_LENGTH_MAX);
  return {
    rule_id: freeId(`hint-${hintId(call.call_id)}`.slice(0, NAME_LENGTH_MAX), bundle),
    kind: 'allow',
    enabled: true,
    match: {
      server_name: { glob: [exactGlob(call.server_name)] },
      tool_name: { glob: [exactGlob(call.tool_name)] },
    },
    when: conditions.join(' && '),
    effect: { action: 'ALLOW' },
    severity: 'info',
    description: `Refused by ${refused} with a hint; let pass by ${by} at ${at}.`,
  };
}

function freeId(wanted: string, { rules }: Bundle): string {
  const taken = new Set(rules.map(({ rule_id }) => rule_id));
  let id = wanted;
  for (let count = 2; taken.has(id); count++) id = `${wanted}-${count}`;
  return id;
}

/** A glob that fits this name alone. */
function exactGlob(name: string): string {
  return name.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`);
}

function equals(name: string, value: string): string {
  return `${name} == ${quoted(value)}`;
}

/** What cannot be seen, or not be told apart, is spelled out. */
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
export function ruleLines(rule: NewRule, indent: string): readonly string[] {
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

/** The same inside of braces, where JSON is at home. */
export function ruleJson(rule: NewRule): string {
  return JSON.stringify(rule).replaceAll(UNSEEN, (char) =>
    [...Array(char.length).keys()]
      .map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
