// The official SDKs as one kind of client: a task with two tools, a single question, and what came of it.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ResponseInput } from 'openai/resources/responses/responses';

export interface SdkOptions {
  readonly url: string;
  readonly key: string;
  readonly maxRetries?: number;
  readonly headers?: { readonly [name: string]: string };
}

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export interface Task {
  readonly calls: readonly SeenCall[];
  readonly text: string;
  /** All texts and arguments as they came in deltas; empty when nothing was streamed. */
  readonly deltas: string;
}

export interface Sdk {
  /** How many requests have left it, those that it repeats included. */
  readonly sent: () => number;
  /** Asks with two tools, gives back a result for each call, and takes the text that follows. */
  task(model: string, isStream: boolean): Promise<Task>;
  /** One question; throws the error of the SDK. */
  ask(model: string, words: string): Promise<string>;
  /** The same in a stream. */
  stream(model: string, words: string): Promise<string>;
  models(): Promise<readonly string[]>;
  /** One of the list by its name. */
  model(id: string): Promise<string>;
}

export interface SdkErrors {
  readonly bad: ErrorClass;
  /** By the policy, or by a person. */
  readonly refused: ErrorClass;
  readonly authentication: ErrorClass;
  readonly rate: ErrorClass;
  readonly server: ErrorClass;
  readonly any: ErrorClass;
}

type ErrorClass = abstract new (...args: never[]) => Error;

export const RESULT = (name: string) => `The result of ${name}.`;
const ASKED = 'Look at both files.';
const TOOLS = ['read_file', 'list_files'];
const SCHEMA = { type: 'object' as const, properties: { path: { type: 'string' } } };
const TOKENS = 500;

function counting(): { readonly fetch: typeof fetch; readonly sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    fetch: (...args) => {
      sent += 1;
      return fetch(...args);
    },
  };
}

function anthropicSdk({ url, key, maxRetries = 2, headers = {} }: SdkOptions): Sdk {
  const { sent, fetch: counted } = counting();
  const client = new Anthropic({
    baseURL: url,
    apiKey: key,
    maxRetries,
    defaultHeaders: headers,
    fetch: counted,
  });
  const tools = TOOLS.map((name) => ({ name, description: name, input_schema: SCHEMA }));
  const body = (model: string, messages: Anthropic.MessageParam[]) => {
    return { model, max_tokens: TOKENS, messages, tools };
  };
  const user = (content: string) => ({ role: 'user' as const, content });
  return {
    sent,
    async task(model, isStream) {
      let deltas = '';
      const next = (messages: Anthropic.MessageParam[]) => {
        const request = body(model, messages);
        if (!isStream) return client.messages.create(request);
        const stream = client.messages.stream(request);
        stream.on('text', (delta) => (deltas += delta));
        stream.on('inputJson', (delta) => (deltas += delta));
        return stream.finalMessage();
      };
      const first = await next([user(ASKED)]);
      const calls = first.content
        .filter((block) => block.type === 'tool_use')
        .map(({ id, name, input }) => ({ id, name, args: input }));
      const results = calls.map(({ id, name }) => {
        return { type: 'tool_result' as const, tool_use_id: id, content: RESULT(name) };
      });
      const last = await next([
        user(ASKED),
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ]);
      return { calls, text: textsOf(last), deltas };
    },
    ask: async (model, words) => textsOf(await client.messages.create(body(model, [user(words)]))),
    stream: (model, words) => client.messages.stream(body(model, [user(words)])).finalText(),
    async models() {
      const ids: string[] = [];
      for await (const { id, type, display_name } of client.models.list()) {
        if (type === 'model' && display_name !== '') ids.push(id);
      }
      return ids;
    },
    model: async (id) => (await client.models.retrieve(id)).display_name,
  };
}

function textsOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function openAi({ url, key, maxRetries = 2, headers = {} }: SdkOptions) {
  const { sent, fetch: counted } = counting();
  const client = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: key,
    maxRetries,
    defaultHeaders: headers,
    fetch: counted,
  });
  const models = async () => {
    const ids: string[] = [];
    for await (const { id, object } of client.models.list()) if (object === 'model') ids.push(id);
    return ids;
  };
  const model = async (id: string) => (await client.models.retrieve(id)).id;
  return { client, common: { sent, models, model } };
}

function chatSdk(options: SdkOptions): Sdk {
  const { client, common } = openAi(options);
  const tools = TOOLS.map((name) => {
    return { type: 'function' as const, function: { name, parameters: SCHEMA } };
  });
  type Messages = OpenAI.ChatCompletionMessageParam[];
  const body = (model: string, messages: Messages) => ({ model, messages, tools });
  const user = (content: string) => ({ role: 'user' as const, content });
  return {
    ...common,
    async task(model, isStream) {
      let deltas = '';
      const next = async (messages: Messages) => {
        const request = body(model, messages);
        if (!isStream) return client.chat.completions.create(request);
        const stream = client.chat.completions.stream(request);
        stream.on('content', (delta) => (deltas += delta));
        stream.on('chunk', ({ choices: [choice] }) => {
          for (const call of choice?.delta.tool_calls ?? [])
            deltas += call.function?.arguments ?? '';
        });
        return stream.finalChatCompletion();
      };
      const first = (await next([user(ASKED)])).choices[0]?.message;
      const made = (first?.tool_calls ?? []).filter((call) => call.type === 'function');
      const calls = made.map(({ id, function: { name, arguments: args } }) => {
        return { id, name, args: JSON.parse(args) as unknown };
      });
      const results = calls.map(({ id, name }) => {
        return { role: 'tool' as const, tool_call_id: id, content: RESULT(name) };
      });
      const asked = {
        role: 'assistant' as const,
        content: first?.content ?? null,
        tool_calls: made,
      };
      const last = await next([user(ASKED), asked, ...results]);
      return { calls, text: last.choices[0]?.message.content ?? '', deltas };
    },
    async ask(model, words) {
      const { choices } = await client.chat.completions.create(body(model, [user(words)]));
      return choices[0]?.message.content ?? '';
    },
    async stream(model, words) {
      const stream = client.chat.completions.stream(body(model, [user(words)]));
      return (await stream.finalContent()) ?? '';
    },
  };
}

function responsesSdk(options: SdkOptions): Sdk {
  const { client, common } = openAi(options);
  const tools = TOOLS.map((name) => {
    return { type: 'function' as const, name, parameters: SCHEMA, strict: false };
  });
  const body = (model: string, input: ResponseInput) => ({ model, input, tools, store: false });
  const user = (content: string) => ({ role: 'user' as const, content });
  return {
    ...common,
    async task(model, isStream) {
      let deltas = '';
      const next = async (input: ResponseInput): Promise<OpenAI.Responses.Response> => {
        const request = body(model, input);
        if (!isStream) return client.responses.create(request);
        const stream = client.responses.stream(request);
        stream.on('response.output_text.delta', ({ delta }) => (deltas += delta));
        stream.on('response.function_call_arguments.delta', ({ delta }) => (deltas += delta));
        return stream.finalResponse();
      };
      const first = await next([user(ASKED)]);
      const made = first.output.filter((item) => item.type === 'function_call');
      const calls = made.map(({ call_id, name, arguments: args }) => {
        return { id: call_id, name, args: JSON.parse(args) as unknown };
      });
      const results = calls.map(({ id, name }) => {
        return { type: 'function_call_output' as const, call_id: id, output: RESULT(name) };
      });
      const last = await next([user(ASKED), ...made, ...results]);
      return { calls, text: last.output_text, deltas };
    },
    ask: async (model, words) =>
      (await client.responses.create(body(model, [user(words)]))).output_text,
    stream: async (model, words) =>
      (await client.responses.stream(body(model, [user(words)])).finalResponse()).output_text,
  };
}

const ANTHROPIC_ERRORS: SdkErrors = {
  bad: Anthropic.BadRequestError,
  // The SDK has no class of its own for 451.
  refused: Anthropic.APIError,
  authentication: Anthropic.AuthenticationError,
  rate: Anthropic.RateLimitError,
  server: Anthropic.InternalServerError,
  any: Anthropic.APIError,
};
const OPENAI_ERRORS: SdkErrors = {
  bad: OpenAI.BadRequestError,
  refused: OpenAI.BadRequestError,
  authentication: OpenAI.AuthenticationError,
  rate: OpenAI.RateLimitError,
  server: OpenAI.InternalServerError,
  any: OpenAI.APIError,
};

export interface KnownSdk {
  readonly title: string;
  readonly open: (options: SdkOptions) => Sdk;
  readonly errors: SdkErrors;
  /** Where its turns come to at OpenAI: on its own wire, or on the one with the most in it. */
  readonly openAiPath: string;
}

const CHAT_PATH = '/v1/chat/completions';
const RESPONSES_PATH = '/v1/responses';

export const SDKS: readonly KnownSdk[] = [
  {
    title: 'the Anthropic SDK',
    open: anthropicSdk,
    errors: ANTHROPIC_ERRORS,
    openAiPath: RESPONSES_PATH,
  },
  {
    title: 'the OpenAI SDK with chat completions',
    open: chatSdk,
    errors: OPENAI_ERRORS,
    openAiPath: CHAT_PATH,
  },
  {
    title: 'the OpenAI SDK with responses',
    open: responsesSdk,
    errors: OPENAI_ERRORS,
    openAiPath: RESPONSES_PATH,
  },
];
