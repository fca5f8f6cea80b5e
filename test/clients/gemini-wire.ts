// The wire of Gemini, as far as Gemini CLI needs it for a task with tools.
import {
  type Answer,
  type Body,
  isBody,
  jsonAnswer,
  listOf,
  type SaidTurn,
  type Wire,
} from './script.ts';

const USAGE = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };

function partsOf(body: Body): readonly Body[] {
  return listOf(body['contents']).flatMap(({ parts }) => listOf(parts));
}

function results(body: Body): readonly string[] {
  return partsOf(body)
    .map(({ functionResponse }) => functionResponse)
    .filter(isBody)
    .map(({ response }) => JSON.stringify(response));
}

function contentOf(turn: SaidTurn): Body {
  const parts =
    turn.kind === 'text'
      ? [{ text: turn.text }]
      : turn.calls.map(({ tool: name, args }) => ({ functionCall: { name, args } }));
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: USAGE,
    modelVersion: 'scripted',
  };
}

function answer(turn: SaidTurn, isStream: boolean): Answer {
  const body = contentOf(turn);
  if (!isStream) return jsonAnswer(body);
  return { type: 'text/event-stream', text: `data: ${JSON.stringify(body)}\r\n\r\n` };
}

function wire(isStream: boolean): Wire {
  return {
    isTask: (body) => listOf(body['tools']).length > 0,
    prompts: (body) =>
      partsOf(body).flatMap(({ text }) => (typeof text === 'string' ? [text] : [])),
    results,
    answer: (turn) => answer(turn, isStream),
  };
}

/** By the method of the model that a path names. */
export function geminiWire(path: string): Wire | undefined {
  const [, method] =
    /^\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent)$/.exec(path) ?? [];
  return method === undefined ? undefined : wire(method === 'streamGenerateContent');
}
