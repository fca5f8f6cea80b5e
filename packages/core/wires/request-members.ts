// The members at the top of a request, as the documentation of each wire names them. A member that stands in no
// table here is new: nobody knows what it holds, so it is searched like the conversation.
import type { WireName } from './shared/form.ts';

/** How a member at the top is read. */
export type MemberRole =
  | 'model'
  | 'stream'
  | 'max_tokens'
  /** How many answers are asked for at once. */
  | 'choices'
  /** Whether the answer is fetched later. */
  | 'background'
  | 'stream_options'
  | 'system'
  | 'tool'
  | 'message'
  /** Who the agent works for; nothing else may stand in it. */
  | 'user_metadata'
  /** Settings and names of the protocol: no words of a user, and other values would break the request. */
  | 'protocol';

const ANTHROPIC_PROTOCOL = [
  'anthropic_beta',
  'anthropic_version',
  'betas',
  'cache_control',
  'context_management',
  'diagnostics',
  'fallback_credit_token',
  'inference_geo',
  'service_tier',
  'speed',
  'thinking',
  'tool_choice',
  'user_profile_id',
  'workspace_id',
];

const OPENAI_PROTOCOL = [
  'moderation',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'tool_choice',
  'user',
];

const CHAT_PROTOCOL = [
  ...OPENAI_PROTOCOL,
  'audio',
  'function_call',
  'logit_bias',
  'modalities',
  'reasoning_effort',
  'verbosity',
];

const RESPONSES_PROTOCOL = [
  ...OPENAI_PROTOCOL,
  'context_management',
  'conversation',
  'include',
  'previous_response_id',
  'reasoning',
  'truncation',
];

/**
 * By wire. Formats of the answer (their schemas have descriptions), stop sequences, metadata of OpenAI, servers of
 * MCP and containers are left out on purpose: a user may have written what stands in them.
 */
export const REQUEST_MEMBERS: { readonly [W in WireName]: ReadonlyMap<string, MemberRole> } = {
  anthropic_messages: new Map<string, MemberRole>([
    ['model', 'model'],
    ['stream', 'stream'],
    ['max_tokens', 'max_tokens'],
    ['system', 'system'],
    ['tools', 'tool'],
    ['messages', 'message'],
    ['metadata', 'user_metadata'],
    ...protocol(ANTHROPIC_PROTOCOL),
  ]),
  openai_chat_completions: new Map<string, MemberRole>([
    ['model', 'model'],
    ['stream', 'stream'],
    ['max_tokens', 'max_tokens'],
    ['max_completion_tokens', 'max_tokens'],
    ['n', 'choices'],
    ['stream_options', 'stream_options'],
    ['prediction', 'system'],
    ['tools', 'tool'],
    ['functions', 'tool'],
    ['messages', 'message'],
    ...protocol(CHAT_PROTOCOL),
  ]),
  openai_responses: new Map<string, MemberRole>([
    ['model', 'model'],
    ['stream', 'stream'],
    ['max_output_tokens', 'max_tokens'],
    ['background', 'background'],
    ['stream_options', 'stream_options'],
    ['instructions', 'system'],
    ['prompt', 'system'],
    ['tools', 'tool'],
    ['input', 'message'],
    ...protocol(RESPONSES_PROTOCOL),
  ]),
};

function protocol(names: readonly string[]): readonly (readonly [string, MemberRole])[] {
  return names.map((name) => [name, 'protocol'] as const);
}
