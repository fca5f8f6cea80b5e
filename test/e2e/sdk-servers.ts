// The servers of the matrix: fixtures on SDK v1 and SDK v2, and the official one that has everything.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundled, everythingServer } from '../bundled.ts';
import { WATCHED } from '../conformance/mcp/feature-tools.ts';
import { bundledFixture, type Started, startServer } from '../conformance/mcp/fixtures.ts';
import { freePort } from '../free-port.ts';
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
  errors: [
    ['test_error_handling', {}],
    ['no_such_tool', {}],
  ],
  progress: ['feature_steps', 'feature_go'],
  cancelled: ['feature_wait', 'feature_fate'],
  large: ['feature_large', { length: '1120000' }],
  meeting: 'feature_meet',
  meta: 'feature_meta',
  logging: 'feature_log',
  changing: { tool: 'feature_change', uri: WATCHED, lists: true },
  resources: ['test://static-text', 'test://static-binary', 'test://template/7/data', 'test://no'],
  prompts: [
    ['test_simple_prompt', {}],
    ['test_prompt_with_arguments', { arg1: 'one', arg2: 'two é😀\u2028' }],
    ['test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' }],
    ['test_prompt_with_image', {}],
    ['no_such_prompt', {}],
  ],
  completions: [
    {
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    },
    {
      ref: { type: 'ref/resource', uri: 'test://template/{id}/data' },
      argument: { name: 'id', value: '' },
    },
  ],
} as const satisfies Partial<Surface>;

const CONTENT_CALLS = [
  ['test_simple_text', {}],
  ['test_image_content', {}],
  ['test_audio_content', {}],
  ['test_embedded_resource', {}],
  ['test_multiple_content_types', {}],
  ['feature_structured', {}],
  ['json_schema_2020_12_tool', { name: 'é', email: 'a@example.com' }],
] as const;

export const SDK_V1: MatrixServer = {
  name: 'a server on SDK v1',
  stdio: () => [bundledFixture('legacy-server'), 'stdio'],
  http: () => startServer([bundledFixture('legacy-server')]),
  surface: {
    ...FIXTURE_SURFACE,
    tools: CONTENT_CALLS,
    asking: [
      ['test_sampling', { prompt: 'ping?' }],
      ['test_elicitation', { message: 'Go on?' }],
      ['test_elicitation', { message: 'Please decline' }],
      ['test_elicitation_sep1034_defaults', {}],
      ['test_elicitation_sep1330_enums', {}],
      ['test_elicitation_url', {}],
      ['test_list_roots', {}],
    ],
    task: 'feature_task',
  },
};

export const SDK_V2: MatrixServer = {
  name: 'a server on SDK v2',
  stdio: () => [bundledFixture('modern-server'), 'stdio'],
  http: () => startServer([bundledFixture('modern-server'), 'both']),
  surface: {
    ...FIXTURE_SURFACE,
    tools: [...CONTENT_CALLS, ['test_x_mcp_header', { region: 'eu' }]],
    asking: [
      'elicitation',
      'sampling',
      'list_roots',
      'url',
      'declined',
      'request_state',
      'multiple_inputs',
      'multi_round',
    ].map((kind) => [`test_input_required_result_${kind}`, {}]),
  },
};

/** It refuses clients of the legacy era. */
export const SDK_V2_MODERN: MatrixServer = {
  ...SDK_V2,
  name: 'a server on SDK v2 without the legacy era',
  stdio: () => [bundledFixture('modern-server'), 'stdio-modern'],
  http: () => startServer([bundledFixture('modern-server')]),
};

export const EVERYTHING: MatrixServer = {
  name: 'server-everything',
  stdio: () => [everythingServer()],
  http: startEverything,
  surface: {
    tools: [
      ['echo', { message: 'héllo 😀 \u2028 "' }],
      ['get-sum', { a: 2, b: 40 }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
    ],
    errors: [
      ['echo', {}],
      ['no_such_tool', {}],
    ],
    progress: [['trigger-long-running-operation', { duration: 0.5, steps: 2 }]],
    cancelled: [['trigger-long-running-operation', { duration: 20, steps: 200 }]],
    asking: [
      ['trigger-sampling-request', { prompt: 'ping?', maxTokens: 10 }],
      ['trigger-elicitation-request', {}],
      ['trigger-url-elicitation', { url: 'https://example.com/x', elicitationId: 'fixed' }],
      ['get-roots-list', {}],
    ],
    large: ['echo', { message: 'é"'.repeat(400_000) }],
    changing: {
      tool: 'toggle-subscriber-updates',
      uri: 'demo://resource/dynamic/text/1',
      lists: false,
    },
    resources: ['demo://resource/dynamic/text/1', 'demo://no'],
    prompts: [
      ['simple-prompt', {}],
      ['args-prompt', { city: 'Berlin' }],
    ],
    completions: [
      {
        ref: { type: 'ref/prompt', name: 'completable-prompt' },
        argument: { name: 'department', value: 'E' },
      },
    ],
  },
};

/** It takes its port from the environment, and says nothing that names it. */
async function startEverything(): Promise<Started> {
  const port = await freePort();
  const url = import.meta.resolve(
    '@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js',
  );
  const child = spawn(process.execPath, [bundled(fileURLToPath(url))], {
    env: { PATH: process.env['PATH'], PORT: port },
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
