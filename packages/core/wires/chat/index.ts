// The wire of OpenAI's Chat Completions, which most other servers speak as well.
import { readOpenAiError, writeOpenAiError } from '../shared/openai-errors.ts';
import type { Wire } from '../shared/wire.ts';
import { writeChatErrorEvent } from './errors.ts';
import { ChatObserver } from './observe.ts';
import { readChatAnswer } from './read-answer.ts';
import { readChatRequest } from './read-request.ts';
import { ChatAnswerReader } from './read-stream.ts';
import { writeChatAnswer } from './write-answer.ts';
import { writeChatRequest } from './write-request.ts';
import { ChatAnswerWriter } from './write-stream.ts';

export const chatWire: Wire = {
  name: 'openai_chat_completions',
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
  answerReader: () => new ChatAnswerReader(),
  answerWriter: (options) => new ChatAnswerWriter(options),
  observer: () => new ChatObserver(),
  readError: readOpenAiError,
  writeError: writeOpenAiError,
  writeErrorEvent: writeChatErrorEvent,
  keepAlive: ': keep-alive\n\n',
};
