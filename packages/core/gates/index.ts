export { createGuard } from './guard.ts';
export type {
  Enforcement,
  GuardOptions,
  PinOptions,
  SelfProtection,
  ServerGuard,
} from './guard-options.ts';
export type { LeakFinder } from './leak-finder.ts';
export { createLeakFinder, growingLeakFinder } from './leak-finder.ts';
