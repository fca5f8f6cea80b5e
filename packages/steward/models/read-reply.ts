// What came of one question to one endpoint: an answer, a refusal by a policy, or a fault.
import {
  isFailure,
  isJsonObject,
  isObject,
  type JsonObject,
  type StewardModel,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { REFUSAL_MEDIA_TYPE, type StopReason, wireFor } from '@subluminal/core/wires';
import { COST_HEADER, type WholeAnswer } from '@subluminal/gateway/local';
import { parseJson } from '@subluminal/plane/os';
import type { ModelAnswer, ModelUse } from './types.ts';

export type ModelReply =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer }
  /** No other endpoint is asked. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'fault'; readonly message: string };

const WORDS_MAX = 300;
const STOPS: { readonly [S in StopReason]: ModelAnswer['stop'] } = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause: 'end',
  tool_use: 'tools',
  max_tokens: 'length',
  context_full: 'length',
  refusal: 'refusal',
};

export function readReply(whole: WholeAnswer, endpoint: StewardModel): ModelReply {
  const { status, headers, body } = whole;
  if (status === 0) return fault('It gave no answer in time.');
  const value = parseJson(body.toString('utf8'));
  if (status === 200) return readAnswer(value, { headers, endpoint });
  const error = isObject(value) && isObject(value['error']) ? value['error'] : {};
  const { message: said } = error;
  const words = typeof said === 'string' && said !== '' ? said : `It answered ${status}`;
  const message = visible(words, WORDS_MAX).replace(/[.\s]*$/, '.');
  const isOurs = headers['content-type'] === REFUSAL_MEDIA_TYPE;
  if (isOurs && error['kind'] !== 'unavailable') return { kind: 'refused', message };
  return isGatewayRefusal(whole, endpoint) ? { kind: 'refused', message } : fault(message);
}

/** What the team's gateway let pass was routed or has a cost, whatever became of it. */
function isGatewayRefusal({ headers }: WholeAnswer, { provider }: StewardModel): boolean {
  const isSent = headers['x-aicg-routed-to'] !== undefined || headers[COST_HEADER] !== undefined;
  return provider === 'gateway' && headers['x-aicg-decision'] !== undefined && !isSent;
}

function readAnswer(
  value: unknown,
  { headers, endpoint }: Pick<WholeAnswer, 'headers'> & { readonly endpoint: StewardModel },
): ModelReply {
  if (!isJsonObject(value)) return fault('Its answer is not JSON.');
  const read = wireFor('anthropic_messages').readAnswer(value);
  if (isFailure(read)) return fault(visible(read.message, WORDS_MAX));
  const { blocks, usage, model } = read;
  const texts = blocks.flatMap((one) =>
    one.type === 'text' || one.type === 'refusal' ? [one.text] : [],
  );
  const isCut = STOPS[read.stop] === 'length';
  const uses = isCut
    ? []
    : blocks.flatMap((one, at) => (one.type === 'tool_use' ? [useOf(one, at)] : []));
  const cached = (usage?.cacheReadTokens ?? 0) + (usage?.cacheWriteTokens ?? 0);
  const cost = Number(headers[COST_HEADER] ?? 0);
  const answer: ModelAnswer = {
    text: texts.join('\n'),
    uses: withOwnIds(uses),
    stop: uses.length > 0 && STOPS[read.stop] === 'end' ? 'tools' : STOPS[read.stop],
    model: visible(model === '' ? endpoint.model : model, WORDS_MAX),
    inputTokens: (usage?.inputTokens ?? 0) + cached,
    outputTokens: usage?.outputTokens ?? 0,
    costMicros: Number.isSafeInteger(cost) && cost > 0 ? cost : 0,
  };
  return { kind: 'answer', answer };
}

function useOf(
  { id, name, input }: { readonly id: string; readonly name: string; readonly input: string },
  at: number,
): ModelUse {
  return { id: id === '' ? `use_${at + 1}` : id, name, args: argsOf(input) };
}

function argsOf(input: string): JsonObject {
  const value = input.trim() === '' ? {} : parseJson(input);
  return isJsonObject(value) ? value : { input };
}

/** Results are told apart by the ids, so two uses never have the same. */
function withOwnIds(uses: readonly ModelUse[]): readonly ModelUse[] {
  const ids = new Set<string>();
  return uses.map((use, at) => {
    const id = ids.has(use.id) ? `${use.id}_${at + 1}` : use.id;
    ids.add(id);
    return id === use.id ? use : { ...use, id };
  });
}

function fault(message: string): ModelReply {
  return { kind: 'fault', message };
}
