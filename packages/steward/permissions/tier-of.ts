// The tier of one action on one channel.
import { PERMISSION_TIERS, type PermissionTier } from '@subluminal/contracts';
import { meansAction } from './actions.ts';
import type { ActionName, Permissions } from './types.ts';

const NONE: readonly string[] = [];

/** The strictest tier that names the action, tightened by the channel; `human_approval` when none does. */
export function tierOf(
  { file: { tiers, channels } }: Permissions,
  { server, tool, channel }: ActionName,
): PermissionTier {
  const action = { server, tool };
  const { forbidden = NONE, human_approval = NONE, max_tier } = channels[channel] ?? {};
  const isForbidden = [tiers.forbidden.actions, forbidden].some((actions) =>
    meansAction(actions, action, 'any'),
  );
  if (isForbidden) return 'forbidden';
  const isAsked = meansAction(human_approval, action);
  const tier = isAsked
    ? 'human_approval'
    : (OPEN_TIERS.find((one) => meansAction(tiers[one].actions, action)) ?? 'human_approval');
  return strictness(tier) > strictness(max_tier ?? 'human_approval') ? 'forbidden' : tier;
}

/** The strictest first. */
const OPEN_TIERS = ['human_approval', 'log_and_execute', 'auto_execute'] as const;

/** The stricter, the more. */
export function strictness(tier: PermissionTier): number {
  return PERMISSION_TIERS.indexOf(tier);
}
