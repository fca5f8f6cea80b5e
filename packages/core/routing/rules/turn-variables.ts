// What the conditions of turns see, and of which types. Every field is always there: what nobody said is empty, so
// that a rule about a repository does not fail for a turn without one.
import type { Environment } from '@marcbachmann/cel-js';
import {
  isJsonObject,
  isObject,
  type JsonValue,
  MODEL_ENVELOPE,
  type ModelEnvelope,
  type ObjectShape,
  type Shape,
} from '@subluminal/contracts';
import type { CelMap, CelValue } from '../../policy/match/cel.ts';
import { closed, list, must } from '../../section-shape.ts';
import {
  type BudgetSnapshot,
  CAPABILITIES,
  type Caller,
  type Endpoint,
  type Repo,
  type ServerClass,
} from '../types.ts';

/** All that a policy may look at when it decides about a turn. */
export interface TurnPolicyInput {
  readonly traceId: string;
  /** What the local proxy said; none for a client that comes directly. */
  readonly envelope?: ModelEnvelope;
  readonly serverClass: ServerClass;
  readonly caller: Caller;
  /** None when the gateway does not know the repository. */
  readonly repo?: Repo;
  readonly budget: BudgetSnapshot;
  readonly request: {
    readonly model: string;
    readonly wire: string;
    readonly isStream: boolean;
    readonly maxTokens?: number;
  };
}

const TEXT = { kind: 'string', lengthMin: 0, lengthMax: 65_536 } as const;
const FLAG = { kind: 'boolean' } as const;
const WHOLE = { kind: 'integer' } as const;
const ITEMS_MAX = 10_000;

const SERVER_CLASS = closed({
  task_type: must(TEXT),
  complexity: must(TEXT),
  data_sensitivity: must(TEXT),
  agentic_loop: must(FLAG),
  has_secret_finding: must(FLAG),
  has_personal_data_finding: must(FLAG),
  findings: must(list(closed({ type: must(TEXT), confidence: must(TEXT) }), ITEMS_MAX)),
  languages: must(list(TEXT, ITEMS_MAX)),
});
const BUDGET = closed({
  team_monthly_used_micros: must(WHOLE),
  team_monthly_reserved_micros: must(WHOLE),
  team_monthly_cap_micros: must(WHOLE),
  user_daily_used_micros: must(WHOLE),
  user_daily_reserved_micros: must(WHOLE),
  user_daily_cap_micros: must(WHOLE),
  team_monthly_used_cents: must(WHOLE),
  team_monthly_reserved_cents: must(WHOLE),
  team_monthly_cap_cents: must(WHOLE),
  user_daily_used_cents: must(WHOLE),
  user_daily_reserved_cents: must(WHOLE),
  user_daily_cap_cents: must(WHOLE),
  soft_hit: must(FLAG),
  hard_hit: must(FLAG),
});
const ENDPOINT = closed({
  provider: must(TEXT),
  data_residency: must(TEXT),
  trust_tier: must(TEXT),
  supports: must({ kind: 'record', values: FLAG }),
});

/** The variables by their names. */
const TURN_VARIABLES: { readonly [name: string]: ObjectShape } = {
  envelope: MODEL_ENVELOPE,
  server_class: SERVER_CLASS,
  user: closed({ id: must(TEXT), role: must(TEXT), team_id: must(TEXT) }),
  team: closed({ id: must(TEXT) }),
  repo: closed({
    id: must(TEXT),
    team_id: must(TEXT),
    sensitivity: must(TEXT),
    tags: must(list(TEXT, ITEMS_MAX)),
    storage: must(TEXT),
  }),
  budget: BUDGET,
  request: closed({
    model: must(TEXT),
    wire: must(TEXT),
    stream: must(FLAG),
    max_tokens: must(WHOLE),
  }),
};

export const VARIABLE_NAMES: readonly string[] = [...Object.keys(TURN_VARIABLES), 'endpoints'];

/** Declares the variables with their types, so that a name or a type that is wrong is found at load. */
export function declareTurnVariables(environment: Environment): void {
  for (const [name, shape] of Object.entries(TURN_VARIABLES)) {
    environment.registerVariable(name, celType(environment, shape, name));
  }
  const endpoint = celType(environment, ENDPOINT, 'endpoint');
  environment.registerVariable('endpoints', `map<string, ${endpoint}>`);
}

/** The CEL type of a shape; an object becomes a type of its own, named after its place. */
function celType(environment: Environment, shape: Shape, place: string): string {
  switch (shape.kind) {
    case 'string':
    case 'enum':
      return 'string';
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'array':
      return `list<${celType(environment, shape.items, `${place}_item`)}>`;
    case 'record':
      return `map<string, ${celType(environment, shape.values, `${place}_item`)}>`;
    case 'object': {
      const fields = Object.entries(shape.fields).map(([name, field]) => {
        return [name, celType(environment, field.shape, `${place}_${name}`)] as const;
      });
      environment.registerType(`turn_${place}`, { fields: Object.fromEntries(fields) });
      return `turn_${place}`;
    }
    default:
      return 'dyn';
  }
}

/** The names of all fields of variables, for advice. */
export function turnFieldNames(names = VARIABLE_NAMES): readonly string[] {
  const namesIn = (shape: Shape): readonly string[] => {
    if (shape.kind === 'array') return namesIn(shape.items);
    if (shape.kind !== 'object') return [];
    const fields = Object.entries(shape.fields);
    return fields.flatMap(([name, field]) => [name, ...namesIn(field.shape)]);
  };
  return [...new Set(names.flatMap((name) => namesIn(TURN_VARIABLES[name] ?? ENDPOINT)))];
}

/** The type of a variable that the policy itself sets. */
export function celTypeOfValue(value: JsonValue): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'double';
  if (value === null) return 'dyn';
  if (isJsonObject(value)) return 'map<string, dyn>';
  const types = new Set(value.map(celTypeOfValue));
  const [type = 'dyn'] = types;
  return types.size === 1 ? `list<${type}>` : 'list<dyn>';
}

/** How much a condition may have to walk over. */
export interface TurnLoad {
  items: number;
  bytes: number;
}

export interface TurnContext {
  readonly variables: CelMap;
  readonly load: Readonly<TurnLoad>;
}

/** The variables that a policy reads, with the fields of them that it reads. */
export type TurnPlan = readonly (readonly [name: string, shape: ObjectShape])[];

/** `reads`: names of variables, and of their fields as `envelope.repo`. */
export function turnPlan(reads: ReadonlySet<string>): TurnPlan {
  return Object.entries(TURN_VARIABLES).flatMap(([name, shape]) => {
    const fields = Object.entries(shape.fields).filter(([field]) => {
      return reads.has(name) || reads.has(`${name}.${field}`);
    });
    const read = { ...shape, fields: Object.fromEntries(fields) };
    return fields.length === 0 ? [] : [[name, read] as const];
  });
}

/** The variables of a turn; what no expression reads is left out. */
export function turnContext(input: TurnPolicyInput, plan: TurnPlan): TurnContext {
  const load: TurnLoad = { items: 0, bytes: 0 };
  const variables: { [name: string]: CelValue } = {};
  for (const [name, shape] of plan) {
    variables[name] = filledValue(shape, turnValue(name, input), load);
  }
  return { variables, load };
}

function turnValue(name: string, input: TurnPolicyInput): unknown {
  const { caller, request } = input;
  switch (name) {
    case 'envelope':
      return input.envelope;
    case 'server_class':
      return classValues(input.serverClass);
    case 'user':
      return { id: caller.userId, role: caller.role, team_id: caller.teamId };
    case 'team':
      return { id: caller.teamId };
    case 'repo':
      return input.repo && { ...input.repo, team_id: input.repo.teamId };
    case 'budget':
      return budgetValues(input.budget);
    case 'request':
      return { ...request, stream: request.isStream, max_tokens: request.maxTokens };
    default:
      throw new Error(`the variable ${name} has no value`);
  }
}

function classValues(serverClass: ServerClass): { readonly [name: string]: unknown } {
  return {
    task_type: serverClass.taskType,
    complexity: serverClass.complexity,
    data_sensitivity: serverClass.dataSensitivity,
    agentic_loop: serverClass.isAgenticLoop,
    has_secret_finding: serverClass.hasSecretFinding,
    has_personal_data_finding: serverClass.hasPersonalDataFinding,
    findings: serverClass.findings,
    languages: serverClass.languages,
  };
}

/** No cap is one that nothing reaches. */
const NO_CAP = 2n ** 63n - 1n;
const MICROS_PER_CENT = 10_000n;

function budgetValues(budget: BudgetSnapshot): { readonly [name: string]: bigint | boolean } {
  const amounts = {
    team_monthly_used: BigInt(budget.teamMonthlyUsedMicros),
    team_monthly_reserved: BigInt(budget.teamMonthlyReservedMicros),
    team_monthly_cap: capOf(budget.teamMonthlyCapMicros),
    user_daily_used: BigInt(budget.userDailyUsedMicros),
    user_daily_reserved: BigInt(budget.userDailyReservedMicros),
    user_daily_cap: capOf(budget.userDailyCapMicros),
  };
  const found: { [name: string]: bigint | boolean } = {
    soft_hit: budget.isSoftHit,
    hard_hit: budget.isHardHit,
  };
  for (const [name, micros] of Object.entries(amounts)) {
    found[`${name}_micros`] = micros;
    found[`${name}_cents`] = micros === NO_CAP ? NO_CAP : micros / MICROS_PER_CENT;
  }
  return found;
}

function capOf(micros: number | null): bigint {
  return micros === null ? NO_CAP : BigInt(micros);
}

/** The value with all fields of its shape; what is missing is empty. */
function filledValue(shape: Shape, value: unknown, load: TurnLoad): CelValue {
  load.items += 1;
  switch (shape.kind) {
    case 'string':
    case 'enum':
      return filledText(shape, value, load);
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : 0n;
    case 'number':
      return typeof value === 'number' ? value : 0;
    case 'boolean':
      return value === true;
    case 'array':
      return Array.isArray(value) ? value.map((item) => filledValue(shape.items, item, load)) : [];
    case 'record':
      return isObject(value) ? filledRecord(shape.values, value, load) : {};
    case 'object': {
      const filled: { [name: string]: CelValue } = {};
      for (const [name, field] of Object.entries(shape.fields)) {
        filled[name] = filledValue(field.shape, isObject(value) ? value[name] : undefined, load);
      }
      return filled;
    }
    default:
      return scalarValue(value, load);
  }
}

function filledText(shape: Shape, value: unknown, load: TurnLoad): string {
  if (typeof value === 'string') {
    load.bytes += value.length;
    return value;
  }
  return shape.kind === 'enum' && shape.values.includes('unknown') ? 'unknown' : '';
}

function filledRecord(
  values: Shape,
  value: { readonly [key: string]: unknown },
  load: TurnLoad,
): CelMap {
  const entries = Object.entries(value).map(([key, item]) => {
    load.bytes += key.length;
    return [key, filledValue(values, item, load)] as const;
  });
  return Object.fromEntries(entries);
}

function scalarValue(value: unknown, load: TurnLoad): CelValue {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return null;
  load.bytes += value.length;
  return value;
}

/** The registry as conditions see it: `endpoints["azure"].data_residency`. */
export function endpointValues(endpoints: ReadonlyMap<string, Endpoint>): CelMap {
  return Object.fromEntries(
    [...endpoints].map(([id, endpoint]) => {
      const supports = CAPABILITIES.map((name) => [name, endpoint.supports.has(name)] as const);
      const value = {
        provider: endpoint.provider,
        data_residency: endpoint.dataResidency,
        trust_tier: endpoint.trustTier,
        supports: Object.fromEntries(supports),
      };
      return [id, value] as const;
    }),
  );
}

export function isCapability(name: string): boolean {
  return CAPABILITIES.some((one) => one === name);
}
