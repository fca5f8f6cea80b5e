import type { StewardChannel } from '@subluminal/contracts';

const CHANNELS: readonly StewardChannel[] = [
  'terminal',
  'web',
  'telegram',
  'slack',
  'whatsapp',
  'signal',
  'discord',
];

/** What is on no channel runs by a schedule. */
export function channelOf(name: string): StewardChannel {
  return CHANNELS.find((channel) => channel === name) ?? 'schedule';
}
