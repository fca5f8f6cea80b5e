// The tier of one action on one channel.
import { PERMISSION_TIERS, type PermissionTier } from '@subluminal/contracts';
import { meansAction } from './actions.ts';
import type { ActionName, Permissions } from './types.ts';

/** The strictest tier that names the action, tightened by the channel; `human_approval` when none does. */
export function tierOf(
  { file }: Permissions,
  { server, tool, channel }: ActionName,
): PermissionTier {
  const action = { server, tool };
  const here = file.channels[channel];
  const isForbidden = (actions: readonly string[]) =>
    meansAction(actions, action, { ignoresCase: true });
  if (isForbidden([...file.tiers.forbidden.actions, ...(here?.forbidden ?? [])]))
    return 'forbidden';
  const asked = [...file.tiers.human_approval.actions, ...(here?.human_approval ?? [])];
  const tier = meansAction(asked, action)
    ? 'human_approval'
    : meansAction(file.tiers.log_and_execute.actions, action)
      ? 'log_and_execute'
      : meansAction(file.tiers.auto_execute.actions, action)
        ? 'auto_execute'
        : 'human_approval';
  return strictness(tier) > strictness(here?.max_tier ?? 'human_approval') ? 'forbidden' : tier;
}

function strictness(tier: PermissionTier): number {
  return PERMISSION_TIERS.indexOf(tier);
}
