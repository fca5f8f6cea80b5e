// The servers of the matrix: fixtures on SDK v1 and SDK v2, and the official one that has everything.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { bundled, everythingServer } from '../bundled.ts';
import { bundledFixture, type Started, startServer } from '../conformance/mcp/fixtures.ts';
import type { Surface } from './sdk-features.ts';

export interface MatrixServer {
  readonly name: string;
  /** The arguments of Node that start it on stdin and stdout. */
  stdio(): readonly string[];
  /** Starts it on loopback. */
  http(): Promise<Started>;
  readonly surface: Surface;
}

const FIXTURE_SURFACE = {
  resources: ['test://static-text', 'test://static-binary', 'test://template/7/data', 'test://no'],
  prompts: [
    ['test_simple_prompt', {}],
    ['test_prompt_with_arguments', { arg1: 'one', arg2: 'two' }],
    ['test_prompt_with_image', {}],
  ],
  completion: ['test_prompt_with_arguments', 'arg1'],
} as const;

const CONTENT_CALLS = [
  ['test_simple_text', {}],
  ['test_image_content', {}],
  ['test_audio_content', {}],
  ['test_multiple_content_types', {}],
  ['test_error_handling', {}],
  ['test_tool_with_progress', {}],
] as const;

export const SDK_V1: MatrixServer = {
  name: 'a server on SDK v1',
  stdio: () => [bundledFixture('legacy-server'), 'stdio'],
  http: () => startServer([bundledFixture('legacy-server')]),
  surface: {
    ...FIXTURE_SURFACE,
    tools: [
      ...CONTENT_CALLS,
      ['test_tool_with_logging', {}],
      ['test_sampling', { prompt: 'ping?' }],
      ['test_elicitation', { message: 'Go on?' }],
      ['test_elicitation_sep1034_defaults', {}],
    ],
    logs: true,
  },
};

export const SDK_V2: MatrixServer = {
  name: 'a server on SDK v2',
  stdio: () => [bundledFixture('modern-server'), 'stdio'],
  http: () => startServer([bundledFixture('modern-server'), 'both']),
  surface: {
    ...FIXTURE_SURFACE,
    tools: [...CONTENT_CALLS, ['test_x_mcp_header', { region: 'eu' }]],
  },
};

/** For clients of its own era: SDK v2 before SDK v2. */
export const SDK_V2_WITH_INPUT: MatrixServer = {
  ...SDK_V2,
  name: 'a server on SDK v2 that asks for input',
  surface: {
    ...SDK_V2.surface,
    tools: [
      ...SDK_V2.surface.tools,
      ['test_input_required_result_elicitation', {}],
      ['test_input_required_result_sampling', {}],
      ['test_input_required_result_list_roots', {}],
      ['test_input_required_result_multiple_inputs', {}],
    ],
  },
};

export const EVERYTHING: MatrixServer = {
  name: 'server-everything',
  stdio: () => [everythingServer()],
  http: startEverything,
  surface: {
    tools: [
      ['echo', { message: 'hello' }],
      ['get-sum', { a: 2, b: 40 }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['trigger-sampling-request', { prompt: 'ping?', maxTokens: 10 }],
      ['trigger-elicitation-request', {}],
      ['trigger-long-running-operation', { duration: 0.1, steps: 3 }],
    ],
    long: ['trigger-long-running-operation', { duration: 20, steps: 200 }],
    resources: ['demo://resource/dynamic/text/1', 'demo://no'],
    prompts: [
      ['simple-prompt', {}],
      ['args-prompt', { city: 'Berlin' }],
    ],
    completion: ['completable-prompt', 'department'],
  },
};

/** It takes its port from the environment, and says nothing that names it. */
async function startEverything(): Promise<Started> {
  const port = await freePort();
  const url = import.meta.resolve(
    '@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js',
  );
  const child = spawn(process.execPath, [bundled(fileURLToPath(url))], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('listening on port')) resolve();
    });
    child.on('exit', () => reject(new Error('server-everything did not start')));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
