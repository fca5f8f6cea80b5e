// What becomes of an action of each tier, in words for the user.
import type { PermissionTier } from '@subluminal/contracts';

export const TIER_WORDS: { readonly [T in PermissionTier]: string } = {
  auto_execute: 'runs at once',
  log_and_execute: 'runs and is logged',
  human_approval: 'asks you',
  forbidden: 'never runs',
};
