import type { UpstreamError } from '../shared/form.ts';
import { writeOpenAiError } from '../shared/openai-errors.ts';
import { sseText } from '../shared/sse.ts';

export function writeChatErrorEvent(error: UpstreamError): string {
  return sseText('message', JSON.stringify(writeOpenAiError(error)));
}
