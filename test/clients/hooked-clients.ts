// The two clients with all of their own tools, and with a hook that their user has made.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type ClientConfig, type RealClient, realClient } from './real-client.ts';
import type { ToolCall } from './script.ts';

/** Tools that the client has without any server. */
interface OwnTools {
  readonly shell: (command: string) => ToolCall;
  readonly write: (path: string, content: string) => ToolCall;
  /** Undefined where it reads files by its shell alone. */
  readonly read?: (path: string) => ToolCall;
  /** Gives a task to a sub-agent. */
  readonly delegate: (task: string) => ToolCall;
}

export interface HookedClient extends RealClient {
  readonly tools: OwnTools;
  /** What makes it trust hooks without a question. */
  readonly trustFlags: readonly string[];
  /** Does one task without a person, with all of its tools. */
  readonly ask: (prompt: string) => readonly string[];
}

/** The user's own hook makes this file. */
export const markerIn = (home: string): string => join(home, 'hook-of-the-user');

const CLAUDE = realClient('claude-code');

const CLAUDE_CODE: HookedClient = {
  ...CLAUDE,
  trustFlags: [],
  ask: (prompt) => ['claude', '-p', prompt, '--allowedTools', 'Bash,Read,Write,Agent,mcp__files'],
  tools: {
    shell: (command) => ({ tool: 'Bash', args: { command } }),
    read: (path) => ({ tool: 'Read', args: { file_path: path } }),
    write: (path, content) => ({ tool: 'Write', args: { file_path: path, content } }),
    delegate: (prompt) => ({
      tool: 'Agent',
      args: {
        description: 'A part',
        prompt,
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
    }),
  },
  configs: (stage, modelUrl) => [
    ...CLAUDE.configs(stage, modelUrl).filter(({ path }) => !path.endsWith('settings.json')),
    {
      path: join(stage.home, '.claude', 'settings.json'),
      text: `{ "enableAllProjectMcpServers": true,
  "hooks": {"PreToolUse": [ {"matcher": "Bash", "hooks": [
    {"type": "command", "command": "touch ${markerIn(stage.home)}"}]} ]} }\r\n`,
    },
  ],
};

const PLAIN_CODEX = realClient('codex');

const CODEX: HookedClient = {
  ...PLAIN_CODEX,
  trustFlags: ['--trust-hooks'],
  ask: (prompt) => ['codex', 'exec', prompt],
  tools: {
    shell: (cmd) => ({ tool: 'exec_command', args: { cmd } }),
    write: (path, content) => ({
      tool: 'apply_patch',
      args: {},
      input: `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`,
    }),
    delegate: (message) => ({ group: 'multi_agent_v1', tool: 'spawn_agent', args: { message } }),
  },
  configs: (stage, modelUrl) =>
    PLAIN_CODEX.configs(stage, modelUrl).map((config) =>
      config.path.startsWith(stage.project) ? config : withHook(config, markerIn(stage.home)),
    ),
};

/** A hook that its user has reviewed, and a model that is offered `apply_patch`. */
function withHook(config: ClientConfig, marker: string): ClientConfig {
  const command = `touch ${marker}`;
  const hooks = [{ async: false, command, timeout: 600, type: 'command' }];
  const identity = JSON.stringify({ event_name: 'pre_tool_use', hooks });
  const hash = createHash('sha256').update(identity).digest('hex');
  const text = config.text.replace('"scripted"', '"gpt-5.5"\nsandbox_mode = "danger-full-access"');
  const hook = `
[[hooks.PreToolUse]]
hooks = [{ type = "command", command = "${command}" }]
[hooks.state."${config.path}:pre_tool_use:0:0"]
trusted_hash = "sha256:${hash}"
`;
  return { ...config, text: text + hook };
}

export const HOOKED_CLIENTS: readonly HookedClient[] = [CLAUDE_CODE, CODEX];
