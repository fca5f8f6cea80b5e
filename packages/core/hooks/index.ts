export type {
  HookAnswer,
  HookDialect,
  HookEvent,
  HookInput,
  HookReply,
  HookSender,
  ToolUse,
} from './types.ts';
