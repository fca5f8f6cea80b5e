export type { ChannelReport, PairResult } from './desk/channel-desk.ts';
export { ChannelDesk } from './desk/channel-desk.ts';
export type { ChannelStore, PairedSender } from './desk/channel-store.ts';
export { openChannelStore } from './desk/channel-store.ts';
export { openChannels } from './open-channels.ts';
export type {
  ButtonPress,
  Channel,
  ChannelEvents,
  ChannelName,
  ChatAddress,
  ChatPerson,
  Confirmation,
  InboundMessage,
  OutboundMessage,
} from './shared/types.ts';
export { openWebhookListener } from './webhooks/webhook-listener.ts';
