// The channels that integrations.yaml turns on, with their secrets.
import { type Failure, isFailure } from '@subluminal/contracts';
import { discord } from './discord/index.ts';
import type { ChannelKind, ChannelParts, ChannelSettings } from './shared/channel-kind.ts';
import type { ChannelName, DeskChannel } from './shared/types.ts';
import { signal } from './signal/index.ts';
import { slack } from './slack/index.ts';
import { telegram } from './telegram/index.ts';
import { whatsapp } from './whatsapp/index.ts';

/** Every channel beside the terminal and the page, which speak to the control API. */
const CHANNEL_KINDS: readonly ChannelKind[] = [telegram, slack, whatsapp, signal, discord];

interface OpenOptions extends Omit<ChannelParts, 'secrets'> {
  /** The value that a reference stands for. */
  readonly secret: (ref: string) => Promise<string | Failure>;
}

export interface OpenedChannels {
  readonly channels: readonly DeskChannel[];
  /** Those whose service calls us: a listener is needed. */
  readonly called: readonly ChannelName[];
  /** Others that are turned on and cannot be opened, and why. */
  readonly failed: readonly { readonly name: ChannelName; readonly failure: Failure }[];
}

export async function openChannels(
  settings: ChannelSettings,
  { secret, ...parts }: OpenOptions,
): Promise<OpenedChannels> {
  const channels: DeskChannel[] = [];
  const called: ChannelName[] = [];
  const failed: OpenedChannels['failed'][number][] = [];
  for (const kind of CHANNEL_KINDS) {
    const configured = kind.configure(settings);
    if (configured === undefined) continue;
    const secrets = await valuesOf(configured.secretRefs, secret);
    if (isFailure(secrets)) {
      failed.push({ name: kind.name, failure: secrets });
      continue;
    }
    const { access, isCalled, open } = configured;
    channels.push({ channel: open({ ...parts, secrets }), access });
    if (isCalled) called.push(kind.name);
  }
  return { channels, called, failed };
}

async function valuesOf(
  refs: { readonly [key: string]: string },
  secret: OpenOptions['secret'],
): Promise<{ readonly [key: string]: string } | Failure> {
  const values: { [key: string]: string } = {};
  for (const [key, ref] of Object.entries(refs)) {
    const value = await secret(ref);
    if (typeof value !== 'string') return value;
    values[key] = value;
  }
  return values;
}
