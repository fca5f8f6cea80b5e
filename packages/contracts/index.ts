export type {
  ArgsMatch,
  Bundle,
  HintRecipe,
  Match,
  NameMatch,
  Rule,
  RuleKind,
  RuleOf,
  Scope,
  Selectors,
  Suggest,
} from './bundle.ts';
export { BUNDLE, RULE, SNAPSHOT_FORMAT } from './bundle.ts';
export type { Mismatch } from './check.ts';
export { check, describe, isObject } from './check.ts';
export type {
  Action,
  Decision,
  ErrorData,
  Hint,
  HintKind,
  Mode,
  PolicyRef,
  Profile,
  Refusal,
  Severity,
} from './decision.ts';
export { DECISION, ERROR_DATA, REFUSAL_CODES } from './decision.ts';
export type { Infer, JsonObject, JsonValue, Shape } from './shape.ts';
