export { DIALECTS, dialectOf } from './dialects.ts';
export type {
  HookAnswer,
  HookDialect,
  HookEvent,
  HookInput,
  HookReply,
  HookSender,
  ToolUse,
} from './types.ts';
export { withheldOutput } from './withheld-output.ts';
