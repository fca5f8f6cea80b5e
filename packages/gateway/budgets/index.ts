export type { BudgetSubject } from './budget-limits.ts';
export { budgetLimits, budgetSnapshot, crossesSoftLimit, periodEndMs } from './budget-limits.ts';
export type { SettlerOptions } from './settler.ts';
export { Settler } from './settler.ts';
