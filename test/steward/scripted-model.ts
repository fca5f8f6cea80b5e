// A model on loopback that speaks OpenAI's chat completions and says what a script tells it to.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Conversation,
  conversationOf,
  listOf,
  membersOf,
  parsed,
  plainName,
  type Reply,
  replyOf,
  type Script,
  textOf,
} from './model-script.ts';

export interface ScriptedModel {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  /** Resolves when so many requests have come. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came. */
  readonly body: string;
  /** Of a request for an answer. */
  readonly conversation: Conversation | undefined;
}

/** One script for all, or one by the name of the model; `*` stands for all others. */
export type Scripts = Script | { readonly [model: string]: Script };

interface Options {
  readonly port?: number;
}

const BODY_BYTES_MAX = 16 * 1024 * 1024;
const DIMENSIONS = 256;

export async function startScriptedModel(
  scripts: Scripts,
  { port = 0 }: Options = {},
): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  const waiting: { readonly count: number; readonly go: () => void }[] = [];
  const server = createServer((request, response) => {
    void take(request).then((taken) => {
      if (taken === undefined) return sendError(response, 413, 'The request is too long.');
      requests.push(taken);
      for (const { count, go } of waiting) if (requests.length >= count) go();
      answer(taken, scripts, response).catch((cause: unknown) =>
        sendError(response, 500, `The script failed: ${String(cause)}`),
      );
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound.port}/v1`,
    requests,
    received: (count) =>
      new Promise((go) => {
        if (requests.length >= count) go();
        else waiting.push({ count, go });
      }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function take(request: IncomingMessage): Promise<ScriptedRequest | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  const { pathname: path } = new URL(request.url ?? '/', 'http://model');
  const body = Buffer.concat(chunks).toString();
  const isAsked = path === '/v1/chat/completions';
  const conversation = isAsked ? conversationOf(parsed(body)) : undefined;
  return { path, headers: request.headers, body, conversation };
}

async function answer(
  { path, body, conversation }: ScriptedRequest,
  scripts: Scripts,
  response: ServerResponse,
): Promise<void> {
  if (path === '/v1/models') {
    const data = namesIn(scripts).map((id) => ({ id, object: 'model', owned_by: 'script' }));
    return send(response, { object: 'list', data });
  }
  if (path === '/v1/embeddings') return send(response, embeddings(membersOf(parsed(body))));
  if (conversation === undefined) return sendError(response, 404, `Nothing is at ${path}.`);
  if (membersOf(parsed(body))['stream'] === true) {
    return sendError(response, 400, 'This model does not stream.');
  }
  const script = scriptFor(scripts, conversation.model);
  if (script === undefined) return sendError(response, 404, `No model ${conversation.model}.`);
  const reply = await replyOf(script, conversation);
  const { fault } = reply;
  switch (fault?.kind) {
    case 'status':
      return sendError(response, fault.status, fault.message ?? 'A scripted error.');
    case 'hang':
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>no model</html>');
      return;
    case 'cut': {
      const text = JSON.stringify(completion(reply, conversation));
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': text.length,
      });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
      return;
    }
    case undefined:
      send(response, completion(reply, conversation));
  }
}

function scriptFor(scripts: Scripts, model: string): Script | undefined {
  if (isScript(scripts)) return scripts;
  return scripts[model] ?? scripts['*'];
}

function namesIn(scripts: Scripts): readonly string[] {
  return isScript(scripts) ? ['scripted'] : Object.keys(scripts).filter((name) => name !== '*');
}

function isScript(scripts: Scripts): scripts is Script {
  return typeof scripts === 'function' || Array.isArray(scripts);
}

function completion(reply: Reply, { model, messages, tools, text }: Conversation) {
  const { uses = [], usage = { prompt_tokens: Math.ceil(text.length / 4), completion_tokens: 8 } } =
    reply;
  const said = messages.flatMap((one) => one.uses).length;
  const calls = uses.map(({ name, args = {} }, at) => ({
    id: `call_${said + at + 1}`,
    type: 'function',
    function: { name: offeredName(name, tools), arguments: JSON.stringify(args) },
  }));
  const message = reply.message ?? {
    role: 'assistant',
    content: reply.text ?? null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const finish_reason = reply.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const total_tokens = usage.prompt_tokens + usage.completion_tokens;
  return {
    id: 'chatcmpl_scripted',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, finish_reason }],
    usage: { ...usage, total_tokens },
  };
}

/** A script may use a tool that was not offered, as a model may. */
function offeredName(name: string, tools: readonly string[]): string {
  const plain = plainName(name);
  return tools.find((one) => plainName(one) === plain) ?? name;
}

/** Texts that share words are near each other. */
function embeddings({ input, model }: { readonly [name: string]: unknown }) {
  const texts = typeof input === 'string' ? [input] : listOf(input).map(textOf);
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: vectorOf(text),
  }));
  const tokens = texts.join(' ').length;
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function vectorOf(text: string): readonly number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 2_166_136_261;
    for (const character of word)
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
    const at = (hash >>> 0) % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((one) => one / length);
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  send(response, { error: { message, type: 'scripted_error' } }, status);
}
