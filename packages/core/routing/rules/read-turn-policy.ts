// `policies/main.yaml` → a compiled policy, or everything that is wrong with it and where.
import { isObject, type JsonObject, parseAs } from '@subluminal/contracts';
import type { Sha256 } from '../../ports.ts';
import { explainShape, placed, reworded } from '../../source/explain-shape.ts';
import { type Path, PROBLEMS_MAX, type Problem } from '../../source/problem.ts';
import { readSource, type Source } from '../../source/read-source.ts';
import { valueOf } from '../../source/tree.ts';
import { likely, nearest } from '../../text/nearest.ts';
import { quote, visible } from '../../text/visible.ts';
import type { Endpoint } from '../types.ts';
import {
  type DefaultEffect,
  EMIT_FIELDS,
  type Emit,
  emittedValue,
  type TurnPolicy,
  type TurnRule,
} from './decide-turn.ts';
import {
  DEFAULT_ON_NO_MATCH,
  PRIVATE_POOL,
  ruleEffect,
  TURN_POLICY_FILE,
  type TurnPolicyFile,
  type WrittenTurnRule,
} from './policy-file.ts';
import { duplicateIds, missingPool, type PolicyFinding, ruleFindings } from './rule-findings.ts';
import { type ExpressionFault, type TurnConditions, turnConditions } from './turn-conditions.ts';
import { isCapability, turnFieldNames, turnPlan, VARIABLE_NAMES } from './turn-variables.ts';

/** What a policy may name. */
export interface PolicySurroundings {
  readonly pools: ReadonlySet<string>;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly sha256: Sha256;
}

export type TurnPolicyResult =
  | { readonly ok: true; readonly policy: TurnPolicy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const WORDS = {
  title: 'a policy of turns',
  start: 'Start with `version: 1` and `rules:`.',
  codes: { field: 'SUB_GATEWAY_FIELD', value: 'SUB_GATEWAY_VALUE' },
  synonyms: new Map([
    ['rule_id', 'id'],
    ['pool', 'model_pool'],
    ['match', 'when'],
    ['if', 'when'],
    ['condition', 'when'],
    ['effect', 'action'],
    ['actions', 'action'],
    ['default', 'defaults'],
    ['vars', 'variables'],
  ]),
} as const;

/** Reads and compiles a policy. It returns problems for any input, and never throws. */
export function readTurnPolicy(source: Source, surroundings: PolicySurroundings): TurnPolicyResult {
  const read = readSource(source);
  if (!read.ok) {
    const words = { code: 'SUB_GATEWAY_SYNTAX', noun: 'policy', start: WORDS.start } as const;
    return { ok: false, problems: read.problems.map((problem) => reworded(problem, words)) };
  }
  const parsed = parseAs(TURN_POLICY_FILE, withListedEmits(valueOf(read.tree)));
  if (!parsed.ok) {
    const findings = explainShape(parsed.mismatches.slice(0, PROBLEMS_MAX), read.tree, WORDS);
    return { ok: false, problems: placed(findings, source.file, read) };
  }
  const { policy, findings } = compilePolicy(parsed.value, surroundings);
  if (findings.length === 0) return { ok: true, policy };
  return { ok: false, problems: placed(findings.slice(0, PROBLEMS_MAX), source.file, read) };
}

/** One `emit` may stand without its list. */
function withListedEmits(value: unknown): unknown {
  if (!isObject(value) || !Array.isArray(value['rules'])) return value;
  const rules = value['rules'].map((rule: unknown) => {
    if (!isObject(rule) || typeof rule['emit'] !== 'string') return rule;
    return { ...rule, emit: [rule['emit']] };
  });
  return { ...value, rules };
}

function compilePolicy(
  file: TurnPolicyFile,
  { pools, endpoints, sha256 }: PolicySurroundings,
): { readonly policy: TurnPolicy; readonly findings: readonly PolicyFinding[] } {
  const findings: PolicyFinding[] = [...duplicateIds(file.rules)];
  const variables = file.variables ?? {};
  const { conditions, faults } = turnConditions(variables, endpoints);
  for (const [name, why] of faults) {
    const message = `the variable ${quote(name)} can not be used: ${why}`;
    const fix = 'Give it another name, of letters, digits and `_`.';
    findings.push({ code: 'SUB_GATEWAY_VALUE', path: ['variables', name], message, fix });
  }
  const rules = file.rules.flatMap((rule, index) => {
    const path = ['rules', index];
    findings.push(...ruleFindings(rule, path, pools));
    const compiled = compileRule(rule, path, { conditions, variables });
    findings.push(...compiled.findings);
    return compiled.rule ?? [];
  });
  const onNoMatch = file.defaults?.on_no_match ?? DEFAULT_ON_NO_MATCH;
  const { fallback, defaultPool } = defaultEffect(onNoMatch);
  const isUsed =
    rules.some(({ effect }) => effect.primary === 'allow') || fallback.primary !== 'block';
  if (isUsed) {
    const path = ['defaults', 'on_no_match', 'model_pool'];
    findings.push(...missingPool({ name: fallback.pool ?? defaultPool, path }, pools));
  }
  // The sort is stable: rules of the same priority stay in the order of the file.
  const sorted = rules.toSorted((one, other) => other.priority - one.priority);
  const expressions = sorted.flatMap(({ when, emits }) => [
    when,
    ...emits.map(({ expression }) => expression),
  ]);
  const plan = turnPlan(new Set(expressions.flatMap((expression) => expression.reads)));
  return { policy: { rules: sorted, onNoMatch: fallback, defaultPool, plan, sha256 }, findings };
}

function defaultEffect({
  action,
  model_pool,
  reasons,
}: NonNullable<NonNullable<TurnPolicyFile['defaults']>['on_no_match']>): {
  readonly fallback: DefaultEffect;
  readonly defaultPool: string;
} {
  const pool = action === 'route_to_private_model' ? PRIVATE_POOL : model_pool;
  return {
    fallback: {
      primary: action,
      ...(pool !== undefined && { pool }),
      reasons: reasons ?? DEFAULT_ON_NO_MATCH.reasons,
    },
    defaultPool: pool ?? DEFAULT_ON_NO_MATCH.model_pool,
  };
}

interface RuleWorld {
  readonly conditions: TurnConditions;
  readonly variables: JsonObject;
}

function compileRule(
  written: WrittenTurnRule,
  path: Path,
  world: RuleWorld,
): { readonly rule?: TurnRule; readonly findings: readonly PolicyFinding[] } {
  const when = world.conditions.compile(written.when);
  const findings: PolicyFinding[] = [];
  if ('fault' in when) findings.push(conditionFinding(when.fault, [...path, 'when'], world));
  else if (when.type !== 'bool' && when.type !== 'dyn') {
    const fault = { message: `it gives ${when.type}, not true or false`, offset: 0 };
    findings.push(conditionFinding(fault, [...path, 'when'], world));
  }
  const emits = (written.emit ?? []).flatMap((text, index) => {
    const compiled = compileEmit(text, [...path, 'emit', index], world);
    if ('code' in compiled) findings.push(compiled);
    return 'code' in compiled ? [] : compiled;
  });
  if (findings.length > 0 || 'fault' in when) return { findings };
  const { id, description = '', priority = 0, reasons = [] } = written;
  return {
    rule: { id, description, priority, when, effect: ruleEffect(written), emits, reasons },
    findings,
  };
}

const EMIT = /^\s*([A-Za-z_]\w*)\s*=(?!=)\s*/;
const EMIT_TYPES: ReadonlySet<string> = new Set([
  'string',
  'list<string>',
  'dyn',
  'list',
  'list<dyn>',
]);

/** `required_data_residency = ["eu", "on_prem"]`. */
function compileEmit(text: string, path: Path, world: RuleWorld): Emit | PolicyFinding {
  const [head = '', name = ''] = EMIT.exec(text) ?? [];
  const field = EMIT_FIELDS.find((one) => one === name);
  if (field === undefined) {
    const meant = nearest(name, EMIT_FIELDS) ?? 'required_data_residency';
    const message = `\`emit\` sets one of ${EMIT_FIELDS.join(', ')}`;
    const fix = `Write \`${meant} = …\`.`;
    return { code: 'SUB_GATEWAY_VALUE', path, message, fix };
  }
  const expression = world.conditions.compile(text.slice(head.length));
  if ('fault' in expression) {
    const { fault } = expression;
    return conditionFinding({ ...fault, offset: fault.offset + head.length }, path, world);
  }
  const emit = { field, expression };
  const typeFault = EMIT_TYPES.has(expression.type)
    ? undefined
    : `${field} is ${expression.type}, not a list of names`;
  const wrong = constantFault(emit) ?? typeFault;
  if (wrong === undefined) return emit;
  return {
    code: 'SUB_GATEWAY_VALUE',
    path,
    message: wrong,
    fix: emitFix(field),
    inside: head.length,
  };
}

function emitFix(field: Emit['field']): string {
  if (field === 'required_trust_tier') return 'Write `required_trust_tier = "private"`.';
  const example = field === 'required_capabilities' ? 'tools' : 'eu';
  return `Write \`${field} = ["${example}"]\`.`;
}

/** What is written out can be checked at once. */
function constantFault(emit: Emit): string | undefined {
  if (!emit.expression.isConstant) return undefined;
  const context = { variables: {}, load: { items: 0, bytes: 0 } };
  const emitted = emittedValue(emit, { context, rand: () => 0 });
  if ('failed' in emitted) return emitted.failed;
  if (emitted.field !== 'required_capabilities') return undefined;
  const unknown = emitted.names.find((name) => !isCapability(name));
  return unknown === undefined ? undefined : `there is no capability ${quote(unknown)}`;
}

const GENERAL = `Write CEL over ${VARIABLE_NAMES.join(', ')} and the variables of the file.`;

function conditionFinding(
  fault: ExpressionFault,
  path: Path,
  { variables }: RuleWorld,
): PolicyFinding {
  const inside = fault.offset;
  if (fault.endpointId !== undefined) {
    const message = `there is no endpoint ${quote(fault.endpointId)}`;
    const fix = 'Name an endpoint of pools.yaml.';
    return { code: 'SUB_GATEWAY_REFERENCE', path, message, fix, inside };
  }
  const message = `invalid condition: ${visible(fault.message.split('\n', 1)[0] ?? '', 200)}`;
  const fix = conditionFix(fault.message, [...VARIABLE_NAMES, ...Object.keys(variables)]);
  return { code: 'SUB_GATEWAY_CONDITION', path, message, fix, inside };
}

/** What to write instead, where a name is known that is near. */
function conditionFix(message: string, names: readonly string[]): string {
  const unknown = /^unknown variable: (\w+)/i.exec(message)?.[1];
  if (unknown !== undefined) {
    const meant = nearest(unknown, names);
    return meant === undefined ? GENERAL : `Write \`${meant}\`.`;
  }
  const key = /^no such key: (\w+)/i.exec(message)?.[1];
  if (key === undefined) return GENERAL;
  const meant = likely(key, turnFieldNames());
  return meant === undefined
    ? 'Use a field of docs/reference/gateway-config.md.'
    : `Write \`${meant}\`.`;
}
