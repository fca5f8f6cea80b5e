// The arguments of a recorded call, and whether it was allowed.
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

/** A call that passed only because its policy was not enforced is none that a policy should allow. */
export function isAllowed({ decision }: EventOf<'tool_call_decision'>): boolean {
  return decision.action === 'ALLOW' && decision.would === undefined;
}
