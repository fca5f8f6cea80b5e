import type { ChannelKind } from '../shared/channel-kind.ts';
import { SignalChannel } from './channel.ts';

/** A number of Signal, by the JSON-RPC of a signal-cli daemon. Questions are answered in words. */
export const signal: ChannelKind = {
  name: 'signal',
  configure: ({ signal: settings }) =>
    settings && {
      access: settings,
      secretRefs: {},
      isCalled: false,
      open: (parts) =>
        new SignalChannel({ ...parts, rpc: settings.rpc, account: settings.account }),
    },
};
