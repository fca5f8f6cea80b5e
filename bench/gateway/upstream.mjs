// The provider of the bench: answers every turn in Anthropic's words, streamed or whole.
import { serve } from './serve.mjs';

const EVENTS = 60;
const usage = { input_tokens: 21_000, output_tokens: EVENTS };
const event = (name, data) =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const text = 'A few words of an answer that goes on. ';
const head =
  event('message_start', {
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage },
  }) + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
const delta = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const tail =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: EVENTS } }) +
  event('message_stop', {});
const whole = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: text.repeat(EVENTS) }],
  stop_reason: 'end_turn',
  usage,
});

/** The events come in ten pieces, as a network gives them. */
function stream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(head);
  let left = 10;
  const next = () => {
    if (left-- === 0) return response.end(tail);
    response.write(delta.repeat(EVENTS / 10));
    setImmediate(next);
  };
  next();
}

serve((request, response) => {
  let isStream = false;
  // The header `accept` says nothing: not every gateway passes it on.
  request.on('data', (chunk) => {
    isStream ||= chunk.includes('"stream":true');
  });
  request.on('end', () => {
    if (isStream) return stream(response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
  });
});
