export type { AdoptionPlace } from '../inspect/adoption-place.ts';
export type { OwnCall } from '../inspect/own-program.ts';
export type { ServerState, ServerView } from '../inspect/server-view.ts';
export { unseenByClient, unseenText } from '../inspect/unseen.ts';
export type { PreparedMoves } from '../secrets/move-secrets.ts';
export { findCopies, removeCopy } from '../secrets/other-copies.ts';
export { repairBindings, unrepairedBindings } from '../secrets/pending-bindings.ts';
export type { HookStatus } from './hook-status.ts';
export { hookStatus, limitsOf } from './hook-status.ts';
export type { Imported, ImportFile, ImportOptions, ImportPlan, MovingPlan } from './import.ts';
export { applyImport, planImport, planMoves } from './import.ts';
export type { HookImport, HookOptions, HookPlan } from './import-hooks.ts';
export { noHooks, planHooks, withHooks } from './import-hooks.ts';
export type { ForgetOptions, Unwrapped } from './repair.ts';
export {
  forgetConfigs,
  repairHome,
  unrepaired,
  unwrapAll,
} from './repair.ts';
export type { RestoreFile, RestoreOptions, RestoreOutcome, RestorePlan } from './restore.ts';
export { applyRestore, planRestore } from './restore.ts';
export type { Adoptions, StatusFile, UnreadableFile } from './status.ts';
export { adoptionStatus } from './status.ts';
export type { TrustState } from './trust-hooks.ts';
export { trustState } from './trust-hooks.ts';
