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
