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
