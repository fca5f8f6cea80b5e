// The tools of the legacy server: what they answer, what they notify, what they ask of the client.
import { setTimeout } from 'node:timers/promises';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolRequest,
  type CallToolResult,
  CreateMessageResultSchema,
  type CreateTaskResult,
  ElicitResultSchema,
  ListRootsResultSchema,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { FEATURE_TOOLS, type FeatureCall, inputSchemaOf } from './feature-tools.ts';
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
  test_elicitation_url: {
    description: 'Asks the user to visit a page',
    call: askForVisit,
  },
  test_list_roots: { description: 'Asks the client for its roots', call: listRoots },
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
const TASK_TOOL = 'feature_task';
const REPORT: CallToolResult = { content: [text('The task is done')] };

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
  ...Object.entries(FEATURE_TOOLS).map(([name, tool]) => {
    const { shown, outputSchema } = tool;
    return {
      name,
      ...shown,
      inputSchema: inputSchemaOf(tool),
      ...(outputSchema && { outputSchema }),
    };
  }),
  {
    name: TASK_TOOL,
    description: 'Answers later, as a task',
    inputSchema: NO_ARGUMENTS,
    execution: { taskSupport: 'optional' },
  },
];

/** What the server does beyond the call. */
export type ServerActions = Pick<FeatureCall, 'log' | 'change'>;

export async function callTool(
  { params }: CallToolRequest,
  extra: Extra,
  actions: ServerActions,
): Promise<CallToolResult | CreateTaskResult> {
  const content = CONTENT_TOOLS[params.name]?.content;
  if (content !== undefined) return { content };
  if (params.name === TASK_TOOL) return params.task === undefined ? REPORT : beginTask(extra);
  const args = params.arguments ?? {};
  const feature = FEATURE_TOOLS[params.name];
  if (feature !== undefined) return feature.call(featureCall(args, extra, actions));
  const tool = ACTIVE_TOOLS[params.name];
  if (tool !== undefined) return tool.call(args, extra);
  return { isError: true, content: [text(`There is no tool ${params.name}`)] };
}

function featureCall(args: Arguments, extra: Extra, actions: ServerActions): FeatureCall {
  const { _meta: meta = {}, signal } = extra;
  const { progressToken } = meta;
  const progress = async (step: number): Promise<void> => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress: step, total: 2.5, message: `Step ${step}` };
    await extra.sendNotification({ method: 'notifications/progress', params });
  };
  return { args, meta, signal, progress, ...actions };
}

async function beginTask({ taskStore, taskRequestedTtl }: Extra): Promise<CreateTaskResult> {
  if (taskStore === undefined) throw new Error('The server has no tasks');
  const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 20 });
  void setTimeout(STEP_MS).then(() => taskStore.storeTaskResult(task.taskId, 'completed', REPORT));
  return { task };
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

async function askForVisit(_args: Arguments, extra: Extra): Promise<CallToolResult> {
  const params = {
    mode: 'url' as const,
    message: 'Please log in',
    url: 'https://example.com/login?a=1',
    elicitationId: 'fixed',
  };
  const { action } = await extra.sendRequest(
    { method: 'elicitation/create', params },
    ElicitResultSchema,
  );
  return { content: [text(`action=${action}`)] };
}

async function listRoots(_args: Arguments, extra: Extra): Promise<CallToolResult> {
  const { roots } = await extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema);
  return { content: [text(`Roots: ${JSON.stringify(roots)}`)] };
}
