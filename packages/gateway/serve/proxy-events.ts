// What the gateway tells the local proxy inside of a stream. The proxy takes these events out.
import { sseText } from '@subluminal/core/wires';

const SCHEMA_VERSION = '1.0';

export function proxyEvent(
  name: 'aicg.usage' | 'aicg.error',
  traceId: string,
  data: object,
): string {
  const text = JSON.stringify({ schema_version: SCHEMA_VERSION, trace_id: traceId, ...data });
  return `id: ${traceId}\n${sseText(name, text)}`;
}
