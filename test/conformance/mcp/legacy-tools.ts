// The tools of the legacy server: what they answer, what they notify, what they ask of the client.
import { setTimeout } from 'node:timers/promises';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolRequest,
  type CallToolResult,
  CreateMessageResultSchema,
  ElicitResultSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { ASK_RESPONSE, DEFAULTS, ENUMS } from './forms.ts';
import { CONTENT_TOOLS, SCHEMA_2020_12, STEP_MS, text } from './offer.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Arguments = Readonly<Record<string, unknown>>;

interface ActiveTool {
  readonly description: string;
  readonly inputSchema?: Tool['inputSchema'];
  readonly call: (args: Arguments, extra: Extra) => Promise<CallToolResult>;
}

function textArgument(name: string): Tool['inputSchema'] {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

const ACTIVE_TOOLS: Readonly<Record<string, ActiveTool>> = {
  test_tool_with_logging: { description: 'Logs while it runs', call: log },
  test_tool_with_progress: { description: 'Reports progress', call: reportProgress },
  test_error_handling: {
    description: 'Fails',
    call: async () => ({
      isError: true,
      content: [text('This tool intentionally returns an error for testing')],
    }),
  },
  test_reconnection: { description: 'Cuts its stream before it answers', call: cutStream },
  test_sampling: {
    description: 'Asks the model of the client',
    inputSchema: textArgument('prompt'),
    call: sample,
  },
  test_elicitation: {
    description: 'Asks the user',
    inputSchema: textArgument('message'),
    call: (args, extra) => elicit(String(args['message']), ASK_RESPONSE, extra),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks the user, with defaults',
    call: (_args, extra) => elicit('Please review the form', DEFAULTS, extra),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks the user to choose',
    call: (_args, extra) => elicit('Please select options', ENUMS, extra),
  },
  json_schema_2020_12_tool: {
    description: 'Has a schema with keywords of JSON Schema 2020-12',
    inputSchema: SCHEMA_2020_12,
    call: async (args) => ({ content: [text(`Called with: ${JSON.stringify(args)}`)] }),
  },
};

const NO_ARGUMENTS: Tool['inputSchema'] = { type: 'object', properties: {} };

export const LEGACY_TOOLS: Tool[] = [
  ...Object.entries(CONTENT_TOOLS).map(([name, { description }]) => ({
    name,
    description,
    inputSchema: NO_ARGUMENTS,
  })),
  ...Object.entries(ACTIVE_TOOLS).map(([name, { description, inputSchema }]) => ({
    name,
    description,
    inputSchema: inputSchema ?? NO_ARGUMENTS,
  })),
];

export async function callTool({ params }: CallToolRequest, extra: Extra): Promise<CallToolResult> {
  const content = CONTENT_TOOLS[params.name]?.content;
  if (content !== undefined) return { content };
  const tool = ACTIVE_TOOLS[params.name];
  if (tool !== undefined) return tool.call(params.arguments ?? {}, extra);
  return { isError: true, content: [text(`There is no tool ${params.name}`)] };
}

async function log(_args: Arguments, extra: Extra): Promise<CallToolResult> {
  for (const data of [
    'Tool execution started',
    'Tool processing data',
    'Tool execution completed',
  ]) {
    await extra.sendNotification({
      method: 'notifications/message',
      params: { level: 'info', data },
    });
  }
  return { content: [text('Tool with logging executed successfully')] };
}

async function reportProgress(_args: Arguments, extra: Extra): Promise<CallToolResult> {
  const { _meta: { progressToken } = {} } = extra;
  if (progressToken !== undefined) {
    for (const progress of [0, 50, 100]) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100, message: `Step ${progress} of 100` },
      });
      await setTimeout(STEP_MS);
    }
  }
  return { content: [text('Tool with progress executed successfully')] };
}

async function cutStream(_args: Arguments, extra: Extra): Promise<CallToolResult> {
  extra.closeSSEStream?.();
  return { content: [text('The client came back for the rest of the stream.')] };
}

async function sample(args: Arguments, extra: Extra): Promise<CallToolResult> {
  const prompt = String(args['prompt']);
  const { content } = await extra.sendRequest(
    {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 },
    },
    CreateMessageResultSchema,
  );
  return { content: [text(`LLM response: ${JSON.stringify(content)}`)] };
}

async function elicit(
  message: string,
  requestedSchema: typeof ASK_RESPONSE | typeof DEFAULTS | typeof ENUMS,
  extra: Extra,
): Promise<CallToolResult> {
  const { action, content } = await extra.sendRequest(
    { method: 'elicitation/create', params: { message, requestedSchema } },
    ElicitResultSchema,
  );
  return { content: [text(`action=${action}, content=${JSON.stringify(content ?? {})}`)] };
}
