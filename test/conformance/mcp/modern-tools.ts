// The tools of the modern server, but for those that ask for input.

import { setTimeout } from 'node:timers/promises';
import {
  type CallToolResult,
  fromJsonSchema,
  inputRequired,
  type McpServer,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { FEATURE_TOOLS, inputSchemaOf, type LogLevel } from './feature-tools.ts';
import { ASK_NAME } from './forms.ts';
import { CONTENT_TOOLS, SCHEMA_2020_12, STEP_MS, text } from './offer.ts';
import { TASK_TOOLS } from './task-layer.ts';

const NO_ARGUMENTS = fromJsonSchema({ type: 'object', properties: {} });

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
/** The SDK's type of a schema does not know the keyword. */
const REGION = { type: 'string' as const, 'x-mcp-header': 'Region' };

export function registerModernTools(server: McpServer, notify: ServerNotifier): void {
  registerFeatureTools(server, notify);
  for (const [name, { description, content }] of Object.entries(CONTENT_TOOLS)) {
    server.registerTool(name, { description }, () => ({ content }));
  }
  registerSchemaTools(server);
  registerNotifyingTools(server);
  registerTaskTools(server);
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'test_missing_capability',
    { description: 'Needs a client that samples' },
    () =>
      inputRequired({
        inputRequests: {
          answer: inputRequired.createMessage({
            messages: [{ role: 'user', content: text('Say pong') }],
            maxTokens: 16,
          }),
        },
      }),
  );
  server.registerTool('test_trigger_tool_change', { description: 'Changes the tools' }, () => {
    notify.toolsChanged();
    return done('The tools changed');
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Changes the prompts' }, () => {
    notify.promptsChanged();
    return done('The prompts changed');
  });
}

function registerFeatureTools(server: McpServer, notify: ServerNotifier): void {
  const change = async (uri: string): Promise<void> => {
    notify.resourceUpdated(uri);
    notify.resourcesChanged();
    notify.promptsChanged();
    notify.toolsChanged();
  };
  for (const [name, tool] of Object.entries(FEATURE_TOOLS)) {
    const { shown, call, outputSchema } = tool;
    const config = {
      ...shown,
      inputSchema: fromJsonSchema<Record<string, unknown>>(inputSchemaOf(tool)),
      ...(outputSchema && { outputSchema: fromJsonSchema(outputSchema) }),
    };
    server.registerTool(name, config, (args, { mcpReq }) => {
      const { _meta: meta = {}, signal } = mcpReq;
      const { progressToken } = meta;
      const progress = async (step: number): Promise<void> => {
        if (progressToken === undefined) return;
        const params = { progressToken, progress: step, total: 2.5, message: `Step ${step}` };
        await mcpReq.notify({ method: 'notifications/progress', params });
      };
      // oxlint-disable-next-line typescript/no-deprecated -- What is deprecated passes, too.
      const log = (level: LogLevel, data: string) => mcpReq.log(level, data);
      return call({ args, meta, signal, progress, log, change });
    });
  }
}

function registerSchemaTools(server: McpServer): void {
  server.registerTool(
    'test_x_mcp_header',
    {
      description: 'Has an argument that is mirrored into a header',
      inputSchema: fromJsonSchema<{ region?: string }>({
        type: 'object',
        properties: {
          region: REGION,
          level: { type: 'integer' },
        },
      }),
    },
    ({ region }) => done(`region=${region ?? 'none'}`),
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Has a schema with keywords of JSON Schema 2020-12',
      inputSchema: fromJsonSchema(SCHEMA_2020_12),
    },
    (args) => done(`Called with: ${JSON.stringify(args)}`),
  );
}

function registerNotifyingTools(server: McpServer): void {
  server.registerTool(
    'test_streaming_elicitation',
    { description: 'Answers on a stream that has no request of the server' },
    () => done('No request on this stream'),
  );
  server.registerTool(
    'test_logging_tool',
    { description: 'Logs, if the request asks for it', inputSchema: NO_ARGUMENTS },
    async (_args, { mcpReq }) => {
      const envelope: { readonly [LOG_LEVEL]?: unknown } = mcpReq.envelope ?? {};
      if (envelope[LOG_LEVEL] !== undefined) {
        await mcpReq.notify({
          method: 'notifications/message',
          params: { level: 'info', data: 'test_logging_tool ran' },
        });
      }
      return done('Logged if the request asked for it');
    },
  );
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Reports progress', inputSchema: NO_ARGUMENTS },
    async (_args, { mcpReq }) => {
      const { _meta: { progressToken } = {} } = mcpReq;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        await mcpReq.notify({
          method: 'notifications/progress',
          params: {
            progressToken: progressToken ?? '',
            progress,
            total: 100,
            message: `Step ${progress} of 100`,
          },
        });
        await setTimeout(STEP_MS);
      }
      return done('Tool with progress executed successfully');
    },
  );
}

/** Without the tasks extension the SDK answers, at once. */
function registerTaskTools(server: McpServer): void {
  server.registerTool(
    'greet',
    {
      description: 'Greets',
      inputSchema: fromJsonSchema<{ name: string }>({
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      }),
    },
    ({ name }) => done(`Hello, ${name}!`),
  );
  for (const name of Object.keys(TASK_TOOLS)) {
    const inputSchema = fromJsonSchema({ type: 'object' });
    server.registerTool(name, { description: 'Takes its time', inputSchema }, () => done('Done'));
  }
  server.registerTool('test_tool_with_task', { description: 'Asks, then takes its time' }, () =>
    inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit({ message: 'Your name?', requestedSchema: ASK_NAME }),
      },
    }),
  );
}

function done(value: string): CallToolResult {
  return { content: [text(value)] };
}
