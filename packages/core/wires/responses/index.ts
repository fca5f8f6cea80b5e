// The wire of OpenAI's Responses, the only one that Codex speaks.
import { readOpenAiError, writeOpenAiError } from '../shared/openai-errors.ts';
import type { Wire } from '../shared/wire.ts';
import { writeResponsesErrorEvent } from './errors.ts';
import { ResponsesObserver } from './observe.ts';
import { readResponsesAnswer } from './read-answer.ts';
import { readResponsesRequest } from './read-request.ts';
import { ResponsesAnswerReader } from './read-stream.ts';
import { writeResponsesAnswer } from './write-answer.ts';
import { writeResponsesRequest } from './write-request.ts';
import { ResponsesAnswerWriter } from './write-stream.ts';

export const responsesWire: Wire = {
  name: 'openai_responses',
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  readAnswer: readResponsesAnswer,
  writeAnswer: writeResponsesAnswer,
  answerReader: () => new ResponsesAnswerReader(),
  answerWriter: (options) => new ResponsesAnswerWriter(options),
  observer: () => new ResponsesObserver(),
  readError: readOpenAiError,
  writeError: writeOpenAiError,
  writeErrorEvent: writeResponsesErrorEvent,
  keepAlive: ': keep-alive\n\n',
};
