// A question as a request of Anthropic's wire, which the turn engine translates for other providers.
import type { JsonObject } from '@subluminal/contracts';
import type { ModelMessage, ModelQuestion } from './types.ts';

export function writeQuestion(question: ModelQuestion, model: string): Buffer {
  const { system, messages, tools = [], tokensMax } = question;
  const body = {
    model,
    max_tokens: tokensMax,
    // What stands up to here is the same from step to step.
    system: [{ type: 'text', text: filled(system), cache_control: { type: 'ephemeral' } }],
    messages: joined(messages),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
    }),
  };
  return Buffer.from(JSON.stringify(body));
}

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

/** The roles take turns on the wire: what follows with the same role joins the message before it. */
function joined(messages: readonly ModelMessage[]): readonly WireMessage[] {
  const written: WireMessage[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = written.at(-1);
    const before = last?.role === role ? (written.pop()?.content ?? []) : [];
    written.push({ role, content: [...before, ...blocksOf(message)] });
  }
  return written;
}

function blocksOf(message: ModelMessage): readonly JsonObject[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'text', text: filled(message.text) }];
    case 'tool': {
      const { useId, text, isError } = message;
      const content = [{ type: 'text', text: filled(text) }];
      return [{ type: 'tool_result', tool_use_id: useId, content, is_error: isError }];
    }
    case 'assistant': {
      const { text, uses } = message;
      const said = text.trim() === '' && uses.length > 0 ? [] : [filled(text)];
      return [
        ...said.map((one) => ({ type: 'text', text: one })),
        ...uses.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ];
    }
  }
}

/** Providers refuse texts that are empty. */
function filled(text: string): string {
  return text.trim() === '' ? '(empty)' : text;
}
