// The rates and cooldowns that hold for one action.
import type { PermissionLimits } from '@subluminal/contracts';
import { type Rate, readDuration, readRate } from '@subluminal/core/quantities';
import { meansAction } from './actions.ts';
import type { ActionName, Permissions } from './types.ts';

interface ActionRate extends Rate {
  /** It holds for calls on the channel of the action alone. */
  readonly isOfChannel: boolean;
}

export function ratesOf(
  { file: { tiers, limits, channels } }: Permissions,
  { server, tool, channel }: ActionName,
): readonly ActionRate[] {
  const action = { server, tool };
  const { auto_execute, log_and_execute, human_approval } = tiers;
  const everywhere = [
    ...[auto_execute, log_and_execute, human_approval]
      .filter(({ actions }) => meansAction(actions, action))
      .map(({ constraints }) => constraints),
    ...Object.entries(limits)
      .filter(([name]) => meansAction([name], action))
      .map(([, one]) => one),
  ];
  return [
    ...everywhere.flatMap((one) => ratesIn(one, false)),
    ...ratesIn(channels[channel]?.constraints ?? {}, true),
  ];
}

function ratesIn(
  { rate_limit = '', cooldown = '' }: PermissionLimits,
  isOfChannel: boolean,
): readonly ActionRate[] {
  const rate = readRate(rate_limit);
  const pauseMs = readDuration(cooldown);
  return [
    ...(rate === undefined ? [] : [{ ...rate, isOfChannel }]),
    ...(pauseMs === undefined ? [] : [{ calls: 1, periodMs: pauseMs, isOfChannel }]),
  ];
}
