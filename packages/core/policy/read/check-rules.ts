// What the shape of a bundle cannot say: fields that need each other, exclude each other, or
// contradict each other.
import { isObject, type Rule } from '@subluminal/contracts';
import { conflictFinding, type Finding, missingFinding, type Path } from '../../source/problem.ts';
import { HOURS_FAULTS, readHours } from '../../text/quantities.ts';
import { quote } from '../../text/visible.ts';
import { isForTurns } from '../model/subjects.ts';
import { effectSection } from '../rule-kind/rule-kind.ts';
import { ruleKind } from '../rules/index.ts';

export interface RuleAt {
  readonly rule: Rule;
  readonly path: Path;
}
type RuleCheck = (rule: Rule, path: Path) => readonly Finding[];

const CHECKS: readonly RuleCheck[] = [
  reservedId,
  namesOfSubject,
  emptyNames,
  emptyAnyArg,
  commandFields,
  commandCondition,
  rangeOrder,
  hoursForm,
  hintTwice,
  (rule, path) => ruleKind(rule.kind).check?.(rule, path) ?? [],
];

/** Everything that is wrong within rules whose shape is right. */
export function ruleFindings(rules: readonly RuleAt[]): readonly Finding[] {
  return rules.flatMap(({ rule, path }) => CHECKS.flatMap((check) => check(rule, path)));
}

/** Rules that share an id, whatever else may be wrong with them. */
export function duplicateRuleIds(rules: readonly unknown[]): readonly Finding[] {
  const first = new Map<string, number>();
  const found: Finding[] = [];
  for (const [index, rule] of rules.entries()) {
    const id = isObject(rule) ? rule['rule_id'] : undefined;
    if (typeof id !== 'string') continue;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    else {
      const message = `the rule_id ${quote(id)} is already taken by rules[${earlier}]`;
      const path = ['rules', index, 'rule_id'];
      const fix = 'Give each rule an id of its own.';
      found.push({ code: 'SUB_BUNDLE_DUPLICATE_RULE', path, message, fix });
    }
  }
  return found;
}

/** The gates beside the rules decide under such names; a grant for one must not answer the other. */
const RESERVED = /^(?:gate|cedar|commands):/i;

function reservedId({ rule_id }: Rule, path: Path): readonly Finding[] {
  const prefix = RESERVED.exec(rule_id)?.[0];
  if (prefix === undefined) return [];
  const message = `the rule_id ${quote(rule_id)} starts with \`${prefix}\`, which is kept for what decides beside the rules`;
  const fix = 'Give the rule another id.';
  return [{ code: 'SUB_BUNDLE_VALUE', path: [...path, 'rule_id'], message, fix }];
}

const TOOL_NAMES = ['server_name', 'tool_name'] as const;
const TURN_NAMES = ['provider', 'model'] as const;

/** A turn has other names than a call of a tool, so a rule is for turns or for the others. */
function namesOfSubject({ match }: Rule, path: Path): readonly Finding[] {
  const at = [...path, 'match'];
  if (isForTurns(match) && match.subjects?.some((subject) => subject !== 'turn')) {
    const message = '`turn` stands alone in `subjects`: a turn has a provider and a model, no tool';
    return [conflictFinding([...at, 'subjects'], message, 'Write a rule of its own for turns.')];
  }
  const [unseen, seen] = isForTurns(match) ? [TOOL_NAMES, TURN_NAMES] : [TURN_NAMES, TOOL_NAMES];
  const fix = isForTurns(match)
    ? `Match turns by \`${seen.join('` and `')}\`.`
    : 'Add `subjects: [turn]`.';
  return unseen.flatMap((field) => {
    if (match[field] === undefined) return [];
    const what = isForTurns(match) ? 'a turn has none' : 'only a turn has one';
    return [conflictFinding([...at, field], `\`${field}\`: ${what}`, fix)];
  });
}

function emptyNames(rule: Rule, path: Path): readonly Finding[] {
  return [...TOOL_NAMES, ...TURN_NAMES].flatMap((field) => {
    const names = rule.match[field];
    if (names === undefined || names.glob !== undefined || names.regex !== undefined) return [];
    const message = `\`${field}\` has neither \`glob\` nor \`regex\``;
    const fix = `Add \`glob: ["*"]\`, or remove \`${field}\` to match every name.`;
    return [missingFinding([...path, 'match', field], message, fix)];
  });
}

function emptyAnyArg({ match: { any_arg } }: Rule, path: Path): readonly Finding[] {
  if (any_arg === undefined) return [];
  const { ignore_case: _option, ...texts } = any_arg;
  if (Object.keys(texts).length > 0) return [];
  const message = '`any_arg` has nothing to look for';
  const fix = 'Add `path_matches: ["**/.env*"]`, `glob`, `regex` or `path_under`.';
  return [missingFinding([...path, 'match', 'any_arg'], message, fix)];
}

/** To let a command pass, a rule names its programs: all others would pass with it. */
function commandFields({ kind, match }: Rule, path: Path): readonly Finding[] {
  const { command } = match;
  if (command === undefined) return [];
  const at = [...path, 'match', 'command'];
  if (Object.keys(command).length === 0) {
    const fix = 'Add `program: ["git push*"]`, `reads`, `writes`, `hosts` or `args_under`.';
    return [missingFinding(at, '`command` has nothing to look for', fix)];
  }
  if (ruleKind(kind).role !== 'allows') return [];
  if (command.opaque === true) {
    const message = 'an `allow` rule never matches a command that is not understood';
    const fix = 'Write `commands: { opaque: allow }` beside `rules`.';
    return [conflictFinding([...at, 'opaque'], message, fix)];
  }
  if (command.program !== undefined) return [];
  const message = 'an `allow` rule about commands needs `program`';
  const fix = 'List the programs that may run, or write `program: ["*"]`.';
  return [missingFinding(at, message, fix)];
}

/** Also one that is never closed: to look for its end from each quote would take long. */
const QUOTED = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/gs;
const COMMAND = /(?<![\w.])command(?!\w)/;

/** What a condition says of commands counts only where commands are read. */
function commandCondition({ match, when = '' }: Rule, path: Path): readonly Finding[] {
  const inside = when.replaceAll(QUOTED, (text) => ' '.repeat(text.length)).search(COMMAND);
  if (inside === -1 || match.command !== undefined) return [];
  const message = 'a condition about `command` needs `match.command`';
  const fix = 'Add `command: { program: ["*"] }` to `match`.';
  return [{ ...missingFinding([...path, 'when'], message, fix), inside }];
}

type NumberRange = { readonly min?: number; readonly max?: number };

function rangeOrder(rule: Rule, path: Path): readonly Finding[] {
  const clamp = 'hint' in rule.effect ? rule.effect.hint?.suggest?.clamp : undefined;
  return [
    ...rangesIn(rule.match.args?.numeric_range, [...path, 'match', 'args', 'numeric_range']),
    ...rangesIn(clamp, [...path, 'effect', 'hint', 'suggest', 'clamp']),
  ];
}

function rangesIn(
  ranges: { readonly [key: string]: NumberRange } | undefined,
  path: Path,
): readonly Finding[] {
  return Object.entries(ranges ?? {}).flatMap(([key, { min, max }]): Finding[] => {
    const at = [...path, key];
    if (min === undefined && max === undefined) {
      return [
        missingFinding(at, 'a range needs `min`, `max` or both', 'Add `min: 0` or `max: 100`.'),
      ];
    }
    if (min === undefined || max === undefined || min <= max) return [];
    const message = `\`min\` ${min} is greater than \`max\` ${max}`;
    return [conflictFinding([...at, 'min'], message, 'Swap the two.')];
  });
}

function hoursForm({ match: { time = {} } }: Rule, path: Path): readonly Finding[] {
  return (['hours', 'not_hours'] as const).flatMap((field): Finding[] => {
    const window = time[field];
    const wrong = window === undefined ? undefined : readHours(window);
    if (typeof wrong !== 'string') return [];
    const { message, fix } = HOURS_FAULTS[wrong];
    return [
      { code: 'SUB_BUNDLE_VALUE', path: [...path, 'match', 'time', field, wrong], message, fix },
    ];
  });
}

/** The pack has `hint_text` beside the limits, our `hint` has it in full: one of them, not both. */
function hintTwice(rule: Rule, path: Path): readonly Finding[] {
  const short = effectSection(rule)['hint_text'];
  const full = 'hint' in rule.effect ? rule.effect.hint?.hint_text : undefined;
  if (short === undefined || full === undefined) return [];
  const message = `\`hint_text\` is given twice, here and in \`effect.${rule.kind}\``;
  return [
    conflictFinding([...path, 'effect', 'hint', 'hint_text'], message, 'Remove one of the two.'),
  ];
}
