// The arguments of a recorded call.
import type { EventOf } from '@subluminal/contracts';

/** Undefined where the preview is not the whole. */
export function previewedArgs({ call }: EventOf<'tool_call_start'>): unknown {
  const { truncated, args_preview: text } = call.preview;
  if (truncated || text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
