// Anthropic Messages.
import type { Wire } from '../shared/wire.ts';
import { readAnthropicError, writeAnthropicError, writeAnthropicErrorEvent } from './errors.ts';
import { anthropicObserver } from './observe.ts';
import { readAnthropicAnswer } from './read-answer.ts';
import { ANTHROPIC } from './read-blocks.ts';
import { readAnthropicRequest } from './read-request.ts';
import { anthropicReader } from './read-stream.ts';
import { writeAnthropicAnswer } from './write-answer.ts';
import { writeAnthropicRequest } from './write-request.ts';
import { anthropicWriter, PING } from './write-stream.ts';

export const anthropicWire: Wire = {
  name: ANTHROPIC,
  readRequest: readAnthropicRequest,
  writeRequest: writeAnthropicRequest,
  readAnswer: readAnthropicAnswer,
  writeAnswer: writeAnthropicAnswer,
  answerReader: anthropicReader,
  answerWriter: anthropicWriter,
  observer: anthropicObserver,
  readError: readAnthropicError,
  writeError: writeAnthropicError,
  writeErrorEvent: writeAnthropicErrorEvent,
  keepAlive: PING,
};
