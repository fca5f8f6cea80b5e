// A channel as integrations.yaml turns it on. A further one is a folder with such a member, and a line in
// `../open-channels.ts`.
import type { Agent } from 'node:https';
import type { IntegrationsFile } from '@subluminal/contracts';
import type { Upstream } from '@subluminal/plane/upstream';
import type { Channel, ChannelAccess, ChannelName } from './types.ts';

export type ChannelSettings = IntegrationsFile['channels'];

export interface ChannelKind {
  readonly name: ChannelName;
  /** Undefined when the settings do not turn it on. */
  configure(settings: ChannelSettings): ConfiguredChannel | undefined;
}

export interface ConfiguredChannel {
  readonly access: ChannelAccess;
  /** References to the secrets without which it stays off. */
  readonly secretRefs: { readonly [key: string]: string };
  /** The service calls us: a listener is needed. */
  readonly isCalled: boolean;
  readonly open: (parts: ChannelParts) => Channel;
}

export interface ChannelParts {
  /** By the keys of `secretRefs`. */
  readonly secrets: { readonly [key: string]: string };
  readonly upstream: Upstream;
  /** The same way out, for clients that bring their own HTTPS. */
  readonly agent: Agent;
  /** Where the service reaches us from outside: `https://HOST`. */
  readonly publicUrl?: string;
  readonly nowMs: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}
