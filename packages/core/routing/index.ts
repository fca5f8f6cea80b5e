export type { BreakerPhase, BreakerState } from './breaker.ts';
export {
  BREAKER_PAUSE_MS,
  breakerAdmits,
  breakerEnded,
  breakerPhase,
  CLOSED_BREAKER,
} from './breaker.ts';
export type { ChoiceRecord, RecordedLink, ReplayedChoice } from './choice-record.ts';
export { replayChoice } from './choice-record.ts';
export type { ChainMember, Choice, ChoiceInput, Constraints, NoChainReason } from './choose.ts';
export { chooseChain, constraintsOf } from './choose.ts';
export type { TurnCost } from './cost.ts';
export { estimateCost, turnCost } from './cost.ts';
export { LIST_PRICES } from './price-table.ts';
export type { PriceBook, PricedTarget, WrittenPrice } from './prices.ts';
export { completePrice, priceBook, undatedModel } from './prices.ts';
export type {
  BudgetSnapshot,
  Caller,
  Capability,
  Endpoint,
  Pool,
  PoolMember,
  Price,
  ProviderName,
  Repo,
  ServerClass,
} from './types.ts';
export { CAPABILITIES } from './types.ts';
