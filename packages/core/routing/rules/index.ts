export type { RuleFailure, TurnDecision, TurnPolicy, TurnRule } from './decide-turn.ts';
export { decideTurn, readsBudget } from './decide-turn.ts';
export type { CheckedRule, TurnExplanation } from './explain-turn.ts';
export { explainTurn } from './explain-turn.ts';
export type { PolicySurroundings, TurnPolicyResult } from './read-turn-policy.ts';
export { readTurnPolicy } from './read-turn-policy.ts';
export type { TurnPolicyInput } from './turn-variables.ts';
