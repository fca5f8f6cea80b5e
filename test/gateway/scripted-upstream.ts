// An upstream that answers, fails, cuts off and hangs by a script, and counts what it would charge for.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { bodyOf } from '../../packages/gateway/turns/testing/loopback.ts';
import { freePort } from '../free-port.ts';

export type UpstreamAct = 'answer' | 'fail' | 'refuse' | 'limit' | 'cut' | 'hang';

/** One call as the upstream saw it. */
export interface CountedCall {
  /** The client's own id of its turn. */
  readonly id: string;
  readonly act: UpstreamAct;
  readonly isStream: boolean;
  /** No two calls have the same count: it says which answer a row or a client is about. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Nobody can know whether the gateway has got it. */
  isUncertain: boolean;
}

export interface UpstreamScript {
  readonly act: (id: string) => UpstreamAct;
  readonly nextCount: () => number;
}

const ERRORS = {
  fail: [500, 'api_error'],
  refuse: [400, 'invalid_request_error'],
  limit: [429, 'rate_limit_error'],
} as const;

export class ScriptedUpstream {
  readonly calls: CountedCall[] = [];
  readonly #script: UpstreamScript;
  /** It comes back on the same one, so it must be one that nobody else is given meanwhile. */
  readonly #port: string;
  #server: Server | undefined;

  private constructor(script: UpstreamScript, port: string) {
    this.#script = script;
    this.#port = port;
  }

  static async open(script: UpstreamScript): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream(script, await freePort());
    await upstream.listen();
    onTestFinished(() => upstream.kill());
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await once(server.listen(Number(this.#port), '127.0.0.1'), 'listening');
    this.#server = server;
  }

  /** Nothing that runs gets an answer, and nothing new is taken. */
  kill(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(request)).toString('utf8');
    const [, id = ''] = /"my id is ([\w-]+)"/.exec(body) ?? [];
    const count = this.#script.nextCount();
    const call: CountedCall = {
      id,
      act: this.#script.act(id),
      isStream: body.includes('"stream":true'),
      inputTokens: 1_000 + count,
      outputTokens: 10 + (count % 7),
      isUncertain: false,
    };
    this.calls.push(call);
    response.on('error', () => {});
    response.once('close', () => {
      if (call.act === 'answer' && !response.writableFinished) call.isUncertain = true;
    });
    act(response, call);
  }
}

function act(response: ServerResponse, call: CountedCall): void {
  switch (call.act) {
    case 'answer':
      return answer(response, call);
    case 'cut':
      return cutOff(response, call);
    case 'hang':
      return;
    default: {
      const [status, type] = ERRORS[call.act];
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type, message: 'By the script.' } }));
    }
  }
}

function answer(response: ServerResponse, call: CountedCall): void {
  if (call.isStream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events(call)) response.write(event);
    response.end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(message(call)));
}

/** In the middle: behind the first words of a stream, or of a body that should be longer. */
function cutOff(response: ServerResponse, call: CountedCall): void {
  if (call.isStream) response.writeHead(200, { 'content-type': 'text/event-stream' });
  else response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  const begun = call.isStream ? events(call).slice(0, 3).join('') : '{"id":';
  response.write(begun, () => response.destroy());
}

function message({ inputTokens, outputTokens }: CountedCall) {
  return {
    id: `msg_${inputTokens}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [{ type: 'text', text: `This is answer ${inputTokens}.` }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  };
}

function events(call: CountedCall): readonly string[] {
  const { inputTokens, outputTokens } = call;
  const start = {
    ...message(call),
    content: [],
    stop_reason: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
  return [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...['This is', ` answer ${inputTokens}`, '.'].map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: outputTokens },
    },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
