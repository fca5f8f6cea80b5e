import type { JsonObject } from '@subluminal/contracts';
import { ANTHROPIC_ANSWER, ANTHROPIC_REQUEST, ANTHROPIC_STREAM } from './fixtures/anthropic.ts';
import { CHAT_ANSWER, CHAT_REQUEST, CHAT_STREAM } from './fixtures/chat.ts';
import { RESPONSES_ANSWER, RESPONSES_REQUEST, RESPONSES_STREAM } from './fixtures/responses.ts';
import type { WireName } from './shared/form.ts';
import { stringIn } from './shared/read-members.ts';
import { sseText } from './shared/sse.ts';

export interface WireFixture {
  readonly request: JsonObject;
  readonly answer: JsonObject;
  /** The stream as it is sent. */
  readonly stream: string;
}

export const WIRE_NAMES = [
  'anthropic_messages',
  'openai_chat_completions',
  'openai_responses',
] as const;

export const FIXTURES: { readonly [W in WireName]: WireFixture } = {
  anthropic_messages: {
    request: ANTHROPIC_REQUEST,
    answer: ANTHROPIC_ANSWER,
    stream: ANTHROPIC_STREAM.map((event) => named(event)).join(''),
  },
  openai_chat_completions: {
    request: CHAT_REQUEST,
    answer: CHAT_ANSWER,
    stream: CHAT_STREAM.map((chunk) =>
      sseText('message', chunk === '[DONE]' ? chunk : JSON.stringify(chunk)),
    ).join(''),
  },
  openai_responses: {
    request: RESPONSES_REQUEST,
    answer: RESPONSES_ANSWER,
    stream: RESPONSES_STREAM.map((event) => named(event)).join(''),
  },
};

function named(event: JsonObject): string {
  return sseText(stringIn(event, 'type') ?? '', JSON.stringify(event));
}

/** Every pair of a client's wire and a provider's. */
export const PAIRS = WIRE_NAMES.flatMap((from) =>
  WIRE_NAMES.filter((to) => to !== from).map((to) => [from, to] as const),
);
