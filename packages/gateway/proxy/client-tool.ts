// Which agent sends a turn, by how it names itself.
import type { IncomingHttpHeaders } from 'node:http';
import type { Client, ModelEnvelope } from '@subluminal/contracts';

export interface ClientTool {
  readonly tool: ModelEnvelope['agent']['tool'];
  readonly version: string | undefined;
  /** The name of the client in events. */
  readonly client: Client;
}

const TOOLS: readonly (readonly [pattern: RegExp, tool: ClientTool['tool'], client: Client])[] = [
  [/\bclaude-(?:cli|code)(?:\/([\w.-]{1,32}))?/i, 'claude_code', 'claude'],
  [/\bcodex[\w-]*(?:\/([\w.-]{1,32}))?/i, 'codex_cli', 'codex'],
  [/\bcursor(?:\/([\w.-]{1,32}))?/i, 'cursor', 'custom'],
  [/\baider(?:\/([\w.-]{1,32}))?/i, 'aider', 'custom'],
  [/\bcontinue(?:\/([\w.-]{1,32}))?/i, 'continue', 'custom'],
];

export function clientTool(headers: IncomingHttpHeaders): ClientTool {
  const text = (headers['user-agent'] ?? '').slice(0, 256);
  for (const [pattern, tool, client] of TOOLS) {
    const found = pattern.exec(text);
    if (found !== null) return { tool, client, version: found[1] };
  }
  return { tool: 'custom_oai', client: 'custom', version: undefined };
}
